/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Charts as SVG: bars over named categories, or lines over numbers, with title, axes, units, grid
 * and legend. Values are copied; texts must live until chart_write.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHART_SERIES_MAX 16

struct chart_series {
	const char *name;
	double *x; /* lines only */
	double *y;
	size_t count;
};

struct chart {
	const char *title;
	const char *subtitle;
	const char *x_label;
	const char *y_label;
	bool bars;
	bool log_x;
	bool log_y;
	bool whole_x;	   /* x counts something: ticks at whole numbers only */
	char **categories; /* bars: one label a bar group; owned */
	size_t category_count;
	struct chart_series series[CHART_SERIES_MAX];
	size_t series_count;
};

/* Index of the new series. At most CHART_SERIES_MAX. */
size_t chart_add_series(struct chart *chart, const char *name);
void chart_add_point(struct chart *chart, size_t series, double x, double y);
void chart_add_category(struct chart *chart, const char *name);
/* Writes the file; an exit status after a message. */
int chart_write(const struct chart *chart, const char *path);
void chart_free(struct chart *chart);
