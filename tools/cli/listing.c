/* SPDX-License-Identifier: BSD-2-Clause */
#include "listing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 16
#define GAP	    2

struct listing {
	const char *const *titles;
	size_t columns;
	int width[COLUMNS_MAX];
	char **cells;
	size_t count;
	size_t room;
	bool color;
};

static void *memory(void *pointer)
{
	if (!pointer) {
		fputs("guideway: out of memory\n", stderr);
		exit(1);
	}
	return pointer;
}

static bool right_aligned(const struct listing *listing, size_t column)
{
	return listing->titles[column][0] == LISTING_RIGHT[0];
}

static const char *title_text(const struct listing *listing, size_t column)
{
	return listing->titles[column] + right_aligned(listing, column);
}

struct listing *listing_new(const char *const *titles, bool color)
{
	struct listing *listing = memory(calloc(1, sizeof(*listing)));

	listing->titles = titles;
	listing->color = color;
	for (size_t i = 0; i < COLUMNS_MAX && titles[i]; i++) {
		listing->columns = i + 1;
		listing->width[i] = (int)strlen(title_text(listing, i));
	}
	return listing;
}

void listing_cell(struct listing *listing, const char *format, ...)
{
	size_t column = listing->count % listing->columns;
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (length < 0)
		memory(NULL);
	if (listing->count == listing->room) {
		listing->room = listing->room * 2 + 64;
		listing->cells = memory(realloc(listing->cells, listing->room * sizeof(char *)));
	}
	listing->cells[listing->count++] = text;
	if (length > listing->width[column])
		listing->width[column] = length;
}

/* Escape sequence for words that name a good, bad or passing state; NULL for all others. */
static const char *word_color(const char *word)
{
	static const struct {
		const char *word;
		const char *color;
	} colors[] = {
		{"up", "\033[32m"},
		{"active", "\033[32m"},
		{"down", "\033[31m"},
		{"disabled", "\033[31m"},
		{"drain", "\033[33m"},
		{"draining", "\033[33m"},
		{"unknown", "\033[33m"},
	};

	for (size_t i = 0; i < sizeof(colors) / sizeof(colors[0]); i++)
		if (!strcmp(colors[i].word, word))
			return colors[i].color;
	return NULL;
}

static void cell_print(const struct listing *listing, size_t column, const char *text, bool title)
{
	const char *color = listing->color ? title ? "\033[1m" : word_color(text) : NULL;
	int pad = listing->width[column] - (int)strlen(text);
	bool right = right_aligned(listing, column);
	bool last = column + 1 == listing->columns;

	printf("%*s%s%s%s", right ? pad : 0, "", color ? color : "", text, color ? "\033[0m" : "");
	if (!last)
		printf("%*s", (right ? 0 : pad) + GAP, "");
	else
		putchar('\n');
}

void listing_print(struct listing *listing, const char *empty)
{
	if (!listing->count)
		puts(empty);
	else
		for (size_t i = 0; i < listing->columns; i++)
			cell_print(listing, i, title_text(listing, i), true);
	for (size_t i = 0; i < listing->count; i++) {
		cell_print(listing, i % listing->columns, listing->cells[i], false);
		free(listing->cells[i]);
	}
	free(listing->cells);
	free(listing);
}

char *text_bytes(double bytes, char text[static 16])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
	size_t unit = 0;

	while (bytes >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0])) {
		bytes /= 1000;
		unit++;
	}
	snprintf(text, 16, unit ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
	return text;
}

char *text_duration(long long milliseconds, char text[static 24])
{
	long long seconds = milliseconds / 1000;

	if (milliseconds < 10000)
		snprintf(text, 24, "%.1fs", (double)milliseconds / 1000);
	else if (seconds < 600)
		snprintf(text, 24, "%llds", seconds);
	else if (seconds < 36000)
		snprintf(text, 24, "%lldm", seconds / 60);
	else if (seconds < 864000)
		snprintf(text, 24, "%lldh", seconds / 3600);
	else
		snprintf(text, 24, "%lldd", seconds / 86400);
	return text;
}

char *text_share(double share, char text[static 16])
{
	snprintf(text, 16, "%.2f%%", share * 100);
	return text;
}
