/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that hold a secret. */
#pragma once

#include <stddef.h>

#define GW_PRIVATE_BYTES_MAX 65536u
#define GW_PRIVATE_ERROR     256

/*
 * Reads a regular file whole, if it is as private as a secret must be: it belongs to root or to
 * this process's user, nobody else may write it and others may not read it. Returns 0, and *text
 * (with a NUL behind it) is the caller's to give to gw_private_wipe; or -errno with what is wrong
 * in `error`, which names the file and never what is in it.
 */
int gw_private_read(
	const char *path, char **text, size_t *length, char error[static GW_PRIVATE_ERROR]);

/* Overwrites and frees; NULL is fine. */
void gw_private_wipe(char *text, size_t length);
