/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that is there whole, as it was or as it is to be, whatever happens while it is written. */
#pragma once

/*
 * Makes `path` a file of this text, readable by its owner alone: written beside it as PATH.tmp,
 * flushed, renamed, the folder flushed. Blocks as long as the disk does; any thread. Returns 0 or
 * -errno, with PATH.tmp removed; an error of the last step leaves the new file in place.
 */
int gw_file_replace(const char *path, const char *text);
