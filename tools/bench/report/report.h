/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes out: a table as it is measured, one JSON object, charts. */
#pragma once

#include "bench/core/machine.h"
#include "bench/core/measure.h"
#include "bench/core/pairs.h"
#include "bench/core/plan.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdio.h>

struct report {
	const struct plan *plan;
	const struct machine *machine;
	bool huge_pages;
	struct measurement *measurements; /* one a case, in the plan's order */
	size_t count;			  /* measured so far */
	double seconds;
	uint32_t rounds;
};

/* Before the first case: machine, what all cases share, and the columns' names. */
void report_head(const struct report *report, const struct plan_group *group, FILE *out);
/* The line of one case; `index` into the plan. */
void report_line(
	const struct report *report, const struct plan_group *group, size_t index, FILE *out);
/* At the end: how it was measured, and what makes it unreliable. */
void report_tail(const struct report *report, FILE *out);

/* {"machine":{…},"runs":[…],"skipped":[…]}; NULL without memory. The caller's. */
json_t *report_json(const struct report *report);

/* One chart of a group to a file. 0 or -errno; -ENODATA when it has no figure. */
int report_svg(const struct report *report, const struct plan_group *group, const char *path);

/* What a reader is told of it: axis_get's value, or a path that is not known; and the bound. */
struct axis_value measurement_axis(const struct measurement *measurement, enum axis_id id);
const char *measurement_bound(const struct measurement *measurement);

/* What --json wrote, again: as much of it as charts need. */
struct past {
	struct plan plan;
	struct machine machine;
	struct measurement *measurements;
	struct report report; /* of the above */
};
/* 0; or -errno with a message (not the path), then there is nothing to free. */
int report_read(const char *path, struct past *past, char message[static BENCH_MESSAGE]);
void past_free(struct past *past);

/* Does the axis take more than one value among the group's cases? */
bool group_varies(const struct plan *plan, const struct plan_group *group, enum axis_id id);
