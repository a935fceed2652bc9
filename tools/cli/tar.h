/* SPDX-License-Identifier: BSD-2-Clause */
/* Writing a compressed archive of a few files that are in memory: ustar (POSIX.1), by zlib. */
#pragma once

#include <stddef.h>
#include <time.h>

struct tar;

/* Makes the file, readable by its owner alone; one that is there already is an error. 0 or -errno.
 */
int tar_open(const char *path, struct tar **out);

/* name: at most 99 bytes. Returns 0 or -errno, and every later call fails the same way. */
int tar_add(struct tar *tar, const char *name, const char *data, size_t length, time_t when);

/* Ends the archive and frees all; 0 or the first error. */
int tar_close(struct tar *tar);
