/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `guideway top`: two samples of the API a moment apart make the rates (top_sample.c), which become
 * lines (top_lines.c), which a terminal shows a window of (cmd_top.c), or --once prints whole.
 */
#pragma once

#include "cli.h"

#include <stdbool.h>
#include <stddef.h>

/* What the API said at one moment; NULL members: it did not. */
struct top_sample {
	double time; /* seconds, of a clock that only runs */
	json_t *status;
	json_t *services;
	json_t *backends;
	json_t *drops;
	json_t *workers;
};

/* Returns an exit status; the sample is always to be freed. */
int top_sample_take(struct cli *cli, struct top_sample *sample);
void top_sample_free(struct top_sample *sample);

enum top_sort { TOP_BY_NAME, TOP_BY_RATE, TOP_BY_FLOWS, TOP_SORTS };

/* Rates between two samples, as one JSON object; NULL without memory. */
json_t *top_rates(
	const struct top_sample *before, const struct top_sample *now, enum top_sort sort);

enum top_style { TOP_PLAIN, TOP_TITLE, TOP_BAD, TOP_WARN, TOP_DIM };

#define TOP_LINE 160

struct top_line {
	enum top_style style;
	bool section; /* the title of one */
	char text[TOP_LINE];
};

struct top_lines {
	struct top_line *list;
	size_t count;
	size_t room;
	size_t head; /* the first so many stay on the screen */
};

/* The lines of the rates; made anew. False without memory. */
bool top_lines_make(struct top_lines *lines, const json_t *rates);
void top_lines_free(struct top_lines *lines);
