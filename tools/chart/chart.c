/* SPDX-License-Identifier: BSD-2-Clause */
#include "chart/chart.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 960, HEIGHT = 540, LEFT = 96, RIGHT = 190, TOP = 78, BOTTOM = 92 };
enum { PLOT_WIDTH = WIDTH - LEFT - RIGHT, PLOT_HEIGHT = HEIGHT - TOP - BOTTOM };

/* Distinguishable also by colour-blind readers (Okabe and Ito), then darker kin. */
static const char *const colours[CHART_SERIES_MAX] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
	"#e69f00", "#56b4e9", "#000000", "#7f7f7f", "#004c77", "#8e3f00", "#00694d", "#88506f",
	"#996a00", "#397899", "#f0e442", "#bbbbbb"};

struct axis {
	double low, high;
	bool log;
	bool whole; /* no ticks between whole numbers */
};

size_t chart_add_series(struct chart *chart, const char *name)
{
	if (chart->series_count == CHART_SERIES_MAX)
		return CHART_SERIES_MAX - 1;
	chart->series[chart->series_count].name = name;
	return chart->series_count++;
}

/* Room for one more of `count`; false without memory, *array is as before then. */
static bool grow(double **array, size_t count)
{
	double *grown;

	/* Capacity doubles: a power of two is the moment to take more. */
	if (count && (count & (count - 1)))
		return true;
	grown = reallocarray(*array, count ? count * 2 : 1, sizeof(**array));
	if (grown)
		*array = grown;
	return grown;
}

void chart_add_point(struct chart *chart, size_t series, double x, double y)
{
	struct chart_series *s = &chart->series[series];

	if (!grow(&s->x, s->count) || !grow(&s->y, s->count) || !grow(&s->low, s->count) ||
		!grow(&s->high, s->count)) {
		chart->failed = true;
		return;
	}
	s->x[s->count] = x;
	s->y[s->count] = s->low[s->count] = s->high[s->count] = y;
	s->count++;
}

void chart_set_range(struct chart *chart, size_t series, double low, double high)
{
	struct chart_series *s = &chart->series[series];

	if (!s->count)
		return;
	s->low[s->count - 1] = low;
	s->high[s->count - 1] = high;
}

void chart_add_category(struct chart *chart, const char *name)
{
	char **grown = reallocarray(
		chart->categories, chart->category_count + 1, sizeof(*chart->categories));
	char *copy = strdup(name);

	if (grown)
		chart->categories = grown;
	if (!grown || !copy) {
		free(copy);
		chart->failed = true;
		return;
	}
	chart->categories[chart->category_count++] = copy;
}

void chart_free(struct chart *chart)
{
	for (size_t i = 0; i < chart->series_count; i++) {
		free(chart->series[i].x);
		free(chart->series[i].y);
		free(chart->series[i].low);
		free(chart->series[i].high);
	}
	for (size_t i = 0; i < chart->category_count; i++)
		free(chart->categories[i]);
	free(chart->categories);
}

static void write_text(FILE *file, const char *text)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		default:
			fputc(*text, file);
		}
}

static void label(FILE *file, double x, double y, const char *attributes, const char *text)
{
	fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
	write_text(file, text ? text : "");
	fputs("</text>\n", file);
}

static struct axis axis_of(const struct chart *chart, bool vertical)
{
	struct axis axis = {.low = INFINITY,
		.high = -INFINITY,
		.log = vertical ? chart->log_y : chart->log_x,
		.whole = !vertical && chart->whole_x};

	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			double value = vertical ? chart->series[s].high[i] : chart->series[s].x[i];

			if (!isfinite(value) || (axis.log && value <= 0))
				continue;
			axis.low = fmin(axis.low, value);
			axis.high = fmax(axis.high, value);
		}
	if (!isfinite(axis.low)) {
		axis.low = axis.log ? 1 : 0;
		axis.high = axis.log ? 10 : 1;
	}
	if (axis.log) {
		axis.low = pow(10, floor(log10(axis.low)));
		axis.high = pow(10, ceil(log10(axis.high) - 1e-9));
		if (axis.high <= axis.low)
			axis.high = axis.low * 10;
	} else {
		if (vertical)
			axis.low = fmin(axis.low, 0);
		if (axis.high <= axis.low)
			axis.high = axis.low + 1;
		if (vertical)
			axis.high += (axis.high - axis.low) * 0.05;
	}
	return axis;
}

static double position(const struct axis *axis, double value)
{
	if (axis->log)
		return (log10(value) - log10(axis->low)) / (log10(axis->high) - log10(axis->low));
	return (value - axis->low) / (axis->high - axis->low);
}

static double nice_step(double range)
{
	double raw = range / 6;
	double power = pow(10, floor(log10(raw)));
	double rest = raw / power;

	return power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
}

static void tick_text(char *text, size_t size, double value)
{
	static const char *const units[] = {"", "k", "M", "G"};
	size_t unit = 0;

	while (fabs(value) >= 1000 && unit < 3) {
		value /= 1000;
		unit++;
	}
	snprintf(text, size, "%.4g%s", fabs(value) < 1e-12 ? 0.0 : value, units[unit]);
}

static void draw_tick(FILE *file, const struct axis *axis, double value, bool vertical)
{
	double at = position(axis, value);
	char text[32];

	tick_text(text, sizeof(text), value);
	if (vertical) {
		double y = TOP + PLOT_HEIGHT * (1 - at);

		fprintf(file,
			"<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" class=\"grid\"/>\n",
			LEFT, y, LEFT + PLOT_WIDTH, y);
		label(file, LEFT - 8, y + 4, "text-anchor=\"end\"", text);
	} else {
		double x = LEFT + PLOT_WIDTH * at;

		fprintf(file,
			"<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" class=\"grid\"/>\n", x,
			TOP, x, TOP + PLOT_HEIGHT);
		label(file, x, TOP + PLOT_HEIGHT + 20, "text-anchor=\"middle\"", text);
	}
}

static void draw_ticks(FILE *file, const struct axis *axis, bool vertical)
{
	if (axis->log) {
		for (double v = axis->low; v <= axis->high * 1.0001; v *= 10)
			draw_tick(file, axis, v, vertical);
		return;
	}
	double step = nice_step(axis->high - axis->low);

	if (axis->whole)
		step = fmax(step, 1);

	for (double v = ceil(axis->low / step) * step; v <= axis->high + step * 1e-6; v += step)
		draw_tick(file, axis, v, vertical);
}

/* A thin line from the lowest to the highest value. */
static void draw_range(FILE *file, const struct chart_series *series, size_t i,
	const struct axis *y, double x, const char *colour)
{
	if (!(series->high[i] > series->low[i]) || (y->log && series->low[i] <= 0))
		return;
	fprintf(file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n", x,
		TOP + PLOT_HEIGHT * (1 - position(y, series->low[i])), x,
		TOP + PLOT_HEIGHT * (1 - position(y, series->high[i])), colour);
}

static void draw_bars(FILE *file, const struct chart *chart, const struct axis *y)
{
	double group =
		(double)PLOT_WIDTH / (double)(chart->category_count ? chart->category_count : 1);
	double bar = group * 0.8 / (double)(chart->series_count ? chart->series_count : 1);
	/* More labels than fit are thinned out rather than printed over each other. */
	size_t every = (size_t)ceil(26.0 / group);

	for (size_t s = 0; s < chart->series_count; s++)
		for (size_t i = 0; i < chart->series[s].count; i++) {
			double top, value = chart->series[s].y[i];

			if (!isfinite(value) || (y->log && value <= 0))
				continue;
			top = position(y, value);
			fprintf(file,
				"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" "
				"fill=\"%s\"/>\n",
				LEFT + group * (double)i + group * 0.1 + bar * (double)s,
				TOP + PLOT_HEIGHT * (1 - top), bar, PLOT_HEIGHT * top, colours[s]);
			draw_range(file, &chart->series[s], i, y,
				LEFT + group * (double)i + group * 0.1 + bar * ((double)s + 0.5),
				"#333");
		}
	for (size_t i = 0; i < chart->category_count; i += every) {
		double x = LEFT + group * ((double)i + 0.5);
		char attributes[96];

		snprintf(attributes, sizeof(attributes),
			"text-anchor=\"end\" transform=\"rotate(-30 %.1f %d)\"", x,
			TOP + PLOT_HEIGHT + 16);
		label(file, x, TOP + PLOT_HEIGHT + 16, attributes, chart->categories[i]);
	}
}

static void draw_lines(
	FILE *file, const struct chart *chart, const struct axis *x, const struct axis *y)
{
	for (size_t s = 0; s < chart->series_count; s++) {
		const struct chart_series *series = &chart->series[s];

		fprintf(file,
			"<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"",
			colours[s], series->dashed ? " stroke-dasharray=\"6 4\"" : "");
		for (size_t i = 0; i < series->count; i++)
			if (isfinite(series->y[i]) && (!y->log || series->y[i] > 0))
				fprintf(file, "%.1f,%.1f ",
					LEFT + PLOT_WIDTH * position(x, series->x[i]),
					TOP + PLOT_HEIGHT * (1 - position(y, series->y[i])));
		fputs("\"/>\n", file);
		for (size_t i = 0; i < series->count && series->count <= 40; i++)
			if (isfinite(series->y[i]) && (!y->log || series->y[i] > 0)) {
				draw_range(file, series, i, y,
					LEFT + PLOT_WIDTH * position(x, series->x[i]), colours[s]);
				fprintf(file,
					"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
					LEFT + PLOT_WIDTH * position(x, series->x[i]),
					TOP + PLOT_HEIGHT * (1 - position(y, series->y[i])),
					colours[s]);
			}
	}
}

static void draw_legend(FILE *file, const struct chart *chart)
{
	for (size_t s = 0; s < chart->series_count; s++) {
		double y = TOP + 8 + 20 * (double)s;

		fprintf(file,
			"<rect x=\"%d\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n",
			LEFT + PLOT_WIDTH + 16, y, colours[s]);
		label(file, LEFT + PLOT_WIDTH + 34, y + 11, "", chart->series[s].name);
	}
}

static void draw(FILE *file, const struct chart *chart)
{
	struct axis x = axis_of(chart, false);
	struct axis y = axis_of(chart, true);
	char turned[64];

	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" "
		"font-size=\"13\">\n<style>.grid{stroke:#ddd}.frame{stroke:#333;fill:none}</"
		"style>\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT);
	label(file, LEFT, 34, "font-size=\"20\" font-weight=\"bold\"", chart->title);
	label(file, LEFT, 56, "fill=\"#555\"", chart->subtitle);
	draw_ticks(file, &y, true);
	if (chart->bars) {
		draw_bars(file, chart, &y);
	} else {
		draw_ticks(file, &x, false);
		draw_lines(file, chart, &x, &y);
	}
	fprintf(file, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n",
		LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT);
	label(file, LEFT + PLOT_WIDTH / 2.0, HEIGHT - 16, "text-anchor=\"middle\"", chart->x_label);
	snprintf(turned, sizeof(turned), "text-anchor=\"middle\" transform=\"rotate(-90 24 %d)\"",
		TOP + PLOT_HEIGHT / 2);
	label(file, 24, TOP + PLOT_HEIGHT / 2.0, turned, chart->y_label);
	draw_legend(file, chart);
	fputs("</svg>\n", file);
}

int chart_write(const struct chart *chart, const char *path)
{
	FILE *file;
	bool failed;

	if (chart->failed)
		return -ENOMEM;
	file = fopen(path, "we");
	if (!file)
		return -errno;
	draw(file, chart);
	failed = ferror(file);
	if (fclose(file) || failed)
		return errno ? -errno : -EIO;
	return 0;
}
