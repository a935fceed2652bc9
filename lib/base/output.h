/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of every program: what stdio still holds is written, and a full disk or a closed pipe
 * makes the program fail instead of passing for success.
 */
#pragma once

/*
 * Writes out standard output. Returns status, or 1 in place of 0 when not all could be written,
 * which is then said on standard error under the program's name. To be called once, last in main().
 */
int gw_output_finish(const char *program, int status);
