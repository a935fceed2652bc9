/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdint.h>

/* Where the file said it; lines and columns from 1. file is the path as it was given to the loader.
 */
struct gw_place {
	const char *file;
	uint32_t line;
	uint32_t column;
};
