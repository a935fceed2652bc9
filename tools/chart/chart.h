/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Charts as SVG: bars over named categories, or lines over numbers, with title, axes, units, grid
 * and legend. Values are copied; texts must live until chart_write. Used by guideway-hash and
 * guideway-bench; not thread-safe. Without memory nothing is drawn: chart_write says so.
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
	double *low, *high; /* how far the value varied; equal to y where that is not known */
	size_t count;
	bool dashed; /* lines only */
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
	bool failed; /* no memory */
};

/* Index of the new series. At most CHART_SERIES_MAX. */
size_t chart_add_series(struct chart *chart, const char *name);
void chart_add_point(struct chart *chart, size_t series, double x, double y);
/* Of the point added last: it varied from low to high. */
void chart_set_range(struct chart *chart, size_t series, double low, double high);
void chart_add_category(struct chart *chart, const char *name);
/* Writes the file. 0 or -errno. */
int chart_write(const struct chart *chart, const char *path);
void chart_free(struct chart *chart);
