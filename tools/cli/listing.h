/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tables for people: columns as wide as their widest cell, numbers to the right, a state's colour
 * where the terminal has colours. Cells are copied when added.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define LISTING_RIGHT "\x01" /* opens the title of a column whose cells stand to the right */

struct listing;

/* titles: NULL-terminated, borrowed. Ends the program without memory: nothing is half printed. */
struct listing *listing_new(const char *const *titles, bool color);

/* One cell of the current row; the row is full after as many as there are titles. */
void listing_cell(struct listing *listing, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints all to standard output and frees the listing. `empty` is said instead of no rows. */
void listing_print(struct listing *listing, const char *empty);

/* "12.3 MB", "5m", for cells: number-like texts into a buffer, which is returned. */
char *text_bytes(double bytes, char text[static 16]);
char *text_duration(long long milliseconds, char text[static 24]);
char *text_share(double share, char text[static 16]);
