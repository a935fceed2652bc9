/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One chart a group: time a packet along one axis, a series for each combination of the others that
 * vary, and the bound beside each as a dashed line. A sweep of latencies shows their percentiles.
 */
#include "chart/chart.h"
#include "report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAME_TEXT   96
#define LOG_X_FROM  100 /* times the least value */
#define PERCENTILES 3

struct drawing {
	const struct report *report;
	const struct plan_group *group;
	struct chart chart;
	char names[CHART_SERIES_MAX][NAME_TEXT];
	char title[NAME_TEXT], subtitle[256], x_label[NAME_TEXT];
	size_t figures;
};

static const char *const percentiles[PERCENTILES] = {"p50", "p99", "p99.9"};

/* What the bound depends on: it has no services, tunnels or flows. */
static bool bound_cares(enum axis_id id)
{
	return id == AXIS_PATH || id == AXIS_MODE || id == AXIS_FAMILY || id == AXIS_SIZE ||
	       id == AXIS_WORKERS || id == AXIS_FLOWS;
}

/* A size that is only another one because IPv6's frames are longer tells nothing. */
static bool varies(const struct drawing *drawing, enum axis_id id)
{
	const struct plan_group *group = drawing->group;
	const struct bench_case *cases = &drawing->report->plan->cases[group->first];

	for (size_t i = 1; i < group->count; i++)
		if (!axis_same(axis_asked(id, &cases[0]), axis_asked(id, &cases[i])))
			return true;
	return false;
}

/* "dpdk IPv6 gue": the values of the axes that vary, but for the one along the chart. */
static void series_name(const struct drawing *drawing, const struct bench_case *what, bool bound,
	const char *suffix, char name[static NAME_TEXT])
{
	size_t length = 0;

	name[0] = '\0';
	for (int id = 0; id < AXIS_IDS; id++) {
		struct axis_value value = axis_get(id, what);
		char text[24];

		if (id == (int)drawing->group->along || id == AXIS_TABLE_FLOWS ||
			(bound && !bound_cares(id)))
			continue;
		if (id != AXIS_PATH && !varies(drawing, id))
			continue;
		axis_print(id, value, text, sizeof(text));
		if (id == AXIS_TRACKED)
			snprintf(text, sizeof(text), "%s", what->tracked ? "tracked" : "untracked");
		else if (id == AXIS_FAMILY)
			snprintf(text, sizeof(text), "IPv%d", (int)what->family);
		length += (size_t)snprintf(name + length, NAME_TEXT - length, "%s%s%s%s",
			length ? " " : "", text, axes[id].kind == AXIS_COUNT ? " " : "",
			axes[id].kind == AXIS_COUNT ? axes[id].option : "");
		if (length >= NAME_TEXT)
			return;
	}
	snprintf(name + length, NAME_TEXT - length, "%s%s", suffix[0] ? " " : "", suffix);
}

/* The series of that name, made when it is new; CHART_SERIES_MAX: there is no room. */
static size_t series_find(struct drawing *drawing, const char *name)
{
	size_t count = drawing->chart.series_count;

	for (size_t i = 0; i < count; i++)
		if (!strcmp(drawing->names[i], name))
			return i;
	if (count == CHART_SERIES_MAX)
		return CHART_SERIES_MAX;
	snprintf(drawing->names[count], NAME_TEXT, "%s", name);
	return chart_add_series(&drawing->chart, drawing->names[count]);
}

static double along_number(const struct drawing *drawing, const struct bench_case *what)
{
	struct axis_value value = axis_get(drawing->group->along, what);

	return axes[drawing->group->along].kind == AXIS_SHARE ? value.number * 100 : value.number;
}

/* Bars: a series' points are by category, so those that are missing must be filled in. */
static void point_add(struct drawing *drawing, size_t series, const struct bench_case *what,
	size_t category, const struct spread *spread, double scale)
{
	struct chart *chart = &drawing->chart;

	if (series == CHART_SERIES_MAX)
		return;
	if (chart->bars) {
		if (chart->series[series].count > category)
			return;
		while (chart->series[series].count < category)
			chart_add_point(chart, series, 0, NAN);
	} else {
		/* The same bound measured beside two subjects counts once. */
		size_t count = chart->series[series].count;
		double x = along_number(drawing, what);

		for (size_t i = 0; i < count; i++)
			if (chart->series[series].x[i] == x)
				return;
	}
	chart_add_point(chart, series, along_number(drawing, what), spread->median * scale);
	chart_set_range(chart, series, spread->min * scale, spread->max * scale);
}

static void case_add(
	struct drawing *drawing, const struct measurement *measurement, size_t category)
{
	const struct bench_case *what = measurement->what;
	bool latency = drawing->group->sweep && drawing->group->sweep->latency;
	char name[NAME_TEXT];
	size_t series;

	if (measurement->outcome != OUTCOME_FIGURE || (latency && !measurement->has_latency))
		return;
	drawing->figures++;
	for (size_t i = 0; latency && i < PERCENTILES; i++) {
		series_name(drawing, what, false, percentiles[i], name);
		point_add(drawing, series_find(drawing, name), what, category,
			&measurement->latency_ns[i], 1e-3);
	}
	if (latency)
		return;
	series_name(drawing, what, false, "", name);
	point_add(drawing, series_find(drawing, name), what, category, &measurement->ns, 1);
	if (measurement->unasked)
		return;
	series_name(drawing, what, true, "bound", name);
	series = series_find(drawing, name);
	point_add(drawing, series, what, category, &measurement->bound_ns, 1);
	if (series != CHART_SERIES_MAX)
		drawing->chart.series[series].dashed = true;
}

/* Which of the axis' values this is, in the order of the plan. */
static size_t category_of(struct drawing *drawing, const struct bench_case *what)
{
	char text[24];

	axis_print(
		drawing->group->along, axis_get(drawing->group->along, what), text, sizeof(text));
	for (size_t i = 0; i < drawing->chart.category_count; i++)
		if (!strcmp(drawing->chart.categories[i], text))
			return i;
	chart_add_category(&drawing->chart, text);
	return drawing->chart.category_count - 1;
}

static void axes_choose(struct drawing *drawing)
{
	const struct plan_group *group = drawing->group;
	struct chart *chart = &drawing->chart;
	double low = INFINITY, high = 0;

	for (size_t i = group->first; i < group->first + group->count; i++) {
		const struct bench_case *what = &drawing->report->plan->cases[i];
		double x = along_number(drawing, what);

		chart->bars |=
			axis_get(group->along, what).word || axes[group->along].kind == AXIS_WORD;
		low = fmin(low, x);
		high = fmax(high, x);
	}
	chart->log_x = !chart->bars && low > 0 && high >= low * LOG_X_FROM;
	chart->whole_x = !chart->bars && axes[group->along].kind == AXIS_COUNT;
	snprintf(drawing->x_label, sizeof(drawing->x_label), "%s%s", axes[group->along].label,
		axes[group->along].kind == AXIS_SHARE ? " (%)" : "");
	chart->x_label = drawing->x_label;
}

static void texts_make(struct drawing *drawing, bool synthetic)
{
	const struct sweep *sweep = drawing->group->sweep;
	const struct machine *machine = drawing->report->machine;
	bool latency = sweep && sweep->latency;

	snprintf(drawing->title, sizeof(drawing->title), "%s%s",
		sweep ? sweep->title : "Cost of a packet by ",
		sweep ? "" : axes[drawing->group->along].label);
	snprintf(drawing->subtitle, sizeof(drawing->subtitle),
		"%s, one core, median of %u rounds with lowest and highest%s", machine->cpu_model,
		drawing->report->rounds, synthetic ? "; synthetic: no network card" : "");
	drawing->chart.title = drawing->title;
	drawing->chart.subtitle = drawing->subtitle;
	drawing->chart.y_label = latency ? "microseconds" : "ns a packet";
	drawing->chart.log_y = latency;
}

int report_svg(const struct report *report, const struct plan_group *group, const char *path)
{
	struct drawing *drawing = calloc(1, sizeof(*drawing));
	bool synthetic = false;
	int status = -ENODATA;

	if (!drawing)
		return -ENOMEM;
	drawing->report = report;
	drawing->group = group;
	axes_choose(drawing);
	for (size_t i = group->first; i < group->first + group->count && i < report->count; i++) {
		const struct measurement *one = &report->measurements[i];
		size_t category = drawing->chart.bars ? category_of(drawing, one->what) : 0;

		case_add(drawing, one, category);
		synthetic |= one->synthetic;
	}
	texts_make(drawing, synthetic);
	if (drawing->figures)
		status = chart_write(&drawing->chart, path);
	chart_free(&drawing->chart);
	free(drawing);
	return status;
}
