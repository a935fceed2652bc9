/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <inttypes.h>
#include <string.h>

#define VALUE_TEXT 24
#define RATE_SMALL 0.1 /* Mpps: two digits would say little */

bool group_varies(const struct plan *plan, const struct plan_group *group, enum axis_id id)
{
	const struct bench_case *cases = &plan->cases[group->first];

	for (size_t i = 1; i < group->count; i++)
		if (!axis_same(axis_get(id, &cases[0]), axis_get(id, &cases[i])))
			return true;
	return false;
}

/* Path and mode always have a column, the others when they vary. */
static bool has_column(const struct report *report, const struct plan_group *group, enum axis_id id)
{
	if (id == AXIS_TABLE_FLOWS && !group->room_said)
		return false;
	return id == AXIS_PATH || id == AXIS_MODE || group_varies(report->plan, group, id);
}

/* Whose balancer it is, nobody knows of one that cannot be asked. */
struct axis_value measurement_axis(const struct measurement *measurement, enum axis_id id)
{
	if (id == AXIS_PATH && measurement->unasked)
		return (struct axis_value){.word = "other"};
	return axis_get(id, measurement->what);
}

const char *measurement_bound(const struct measurement *measurement)
{
	return measurement->unasked ? "none, for the balancer is another's"
				    : measurement->runner->bound;
}

static bool has_latency(const struct report *report, const struct plan_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		if (report->plan->cases[group->first + i].load > 0 ||
			report->plan->cases[group->first + i].rate ||
			report->plan->cases[group->first + i].idle_us)
			return true;
	return false;
}

static int column_width(enum axis_id id)
{
	int width = (int)strlen(axes[id].option);

	return width < 6 ? 6 : width;
}

/* What is the same in all lines. */
static void print_shared(const struct report *report, const struct plan_group *group, FILE *out)
{
	const struct bench_case *what = &report->plan->cases[group->first];
	const char *separator = "";
	char text[VALUE_TEXT];

	for (int id = AXIS_FAMILY; id < AXIS_IDS; id++) {
		struct axis_value value = axis_get(id, what);

		if (has_column(report, group, id) || (!value.word && value.number == 0) ||
			(id == AXIS_TABLE_FLOWS && !group->room_said))
			continue;
		fprintf(out, "%s%s %s", separator, axes[id].option,
			axis_print(id, value, text, sizeof(text)));
		separator = ", ";
	}
	fputs("\n", out);
}

void report_head(const struct report *report, const struct plan_group *group, FILE *out)
{
	if (group == report->plan->groups)
		fprintf(out,
			"guideway-bench %s: %s, %d cores, %s, CPU %d\n%u rounds of %g s each\n",
			GW_VERSION, report->machine->cpu_model, report->machine->cores,
			report->machine->kernel, report->machine->cpu, report->rounds,
			report->seconds);
	fputs("\n", out);
	if (group->sweep)
		fprintf(out, "%s\n", group->sweep->title);
	print_shared(report, group, out);
	for (int id = 0; id < AXIS_IDS; id++)
		if (has_column(report, group, id))
			fprintf(out, "%-*s ", column_width(id), axes[id].option);
	fprintf(out, "%9s %17s %8s %8s %8s %6s %7s", "ns/packet", "min-max", "Mpps", "bound",
		"over", "ratio", "cycles");
	if (has_latency(report, group))
		fprintf(out, " %9s %9s %9s", "p50 us", "p99 us", "p99.9 us");
	fputs("\n", out);
}

/* Against the same without swaps, in pairs. */
static void print_swaps(const struct measurement *measurement, FILE *out)
{
	const struct spread *cost = &measurement->swap_cost;

	fprintf(out, "  swaps %+.1f%% (%+.1f to %+.1f)%s", cost->median * 100, cost->min * 100,
		cost->max * 100, pairs_decide(cost) ? "" : " undecided");
}

static void print_figure(const struct measurement *measurement, bool latency, FILE *out)
{
	double ns = measurement->ns.median, bound = measurement->bound_ns.median;
	char range[32];

	snprintf(range, sizeof(range), "%.1f-%.1f", measurement->ns.min, measurement->ns.max);
	fprintf(out, "%9.1f %17s %8.*f", ns, range, measurement_mpps(ns) < RATE_SMALL ? 4 : 2,
		measurement_mpps(ns));
	if (measurement->unasked)
		fprintf(out, " %8s %8s", "-", "-");
	else
		fprintf(out, " %8.1f %8.1f", bound, ns - bound);
	/* A bound that is not to be told from its feeder has no rate. */
	if (bound > 0)
		fprintf(out, " %6.2f", bound / ns);
	else
		fprintf(out, " %6s", "-");
	if (measurement->cycles.median > 0)
		fprintf(out, " %7.0f", measurement->cycles.median);
	else
		fprintf(out, " %7s", "-");
	if (measurement->swap_pairs)
		print_swaps(measurement, out);
	if (!latency || !measurement->has_latency)
		return;
	for (int i = 0; i < 3; i++)
		fprintf(out, " %9.1f", measurement->latency_ns[i].median * 1e-3);
	if (measurement->late)
		fprintf(out, "  late %" PRIu64 " of %" PRIu64, measurement->late,
			measurement->packets);
	if (measurement->never_sent)
		fprintf(out, "  never sent %" PRIu64, measurement->never_sent);
}

/* Was the line before it the same refusal? A path that cannot have a case cannot have its like. */
static bool repeats(const struct report *report, const struct plan_group *group, size_t index)
{
	const struct measurement *one = &report->measurements[index];

	return index > group->first && one->outcome == OUTCOME_UNSUPPORTED &&
	       one[-1].outcome == OUTCOME_UNSUPPORTED && one->runner == one[-1].runner &&
	       !strcmp(one->why, one[-1].why);
}

void report_line(
	const struct report *report, const struct plan_group *group, size_t index, FILE *out)
{
	const struct measurement *measurement = &report->measurements[index];
	char text[VALUE_TEXT];

	if (repeats(report, group, index))
		return;
	for (int id = 0; id < AXIS_IDS; id++)
		if (has_column(report, group, id))
			fprintf(out, "%-*s ", column_width(id),
				axis_print(
					id, measurement_axis(measurement, id), text, sizeof(text)));
	if (measurement->outcome == OUTCOME_FIGURE)
		print_figure(measurement, has_latency(report, group), out);
	else
		fprintf(out, "%9s %s%s", "-",
			measurement->outcome == OUTCOME_REFUSED ? "no figure: " : "",
			measurement->why);
	fputs("\n", out);
	fflush(out);
}

/* Has a case before this one had the same runner? */
static bool told_before(const struct report *report, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (report->measurements[i].runner == report->measurements[index].runner)
			return true;
	return false;
}

static void print_warning(void *owner, const char *text)
{
	FILE *out = owner;

	fprintf(out, "unreliable: %s\n", text);
}

/* The worst that happened in any measurement, once. */
static struct measurement worst_of(const struct report *report)
{
	struct measurement worst = {.outcome = OUTCOME_FIGURE, .ns = {.median = 1}};
	double spread = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct measurement *one = &report->measurements[i];
		double share =
			one->ns.median > 0 ? (one->ns.max - one->ns.min) / one->ns.median : 0;

		if (one->steal_share > worst.steal_share)
			worst.steal_share = one->steal_share;
		if (one->sibling_busy > worst.sibling_busy)
			worst.sibling_busy = one->sibling_busy;
		if (one->preempted > worst.preempted)
			worst.preempted = one->preempted;
		if ((uint64_t)one->slowed * worst.samples >=
			(uint64_t)worst.slowed * one->samples) {
			worst.slowed = one->slowed;
			worst.samples = one->samples;
		}
		if (one->what->asked_size)
			worst.what = one->what;
		worst.unasked |= one->unasked;
		if (one->outcome != OUTCOME_FIGURE)
			continue;
		if (share > spread)
			spread = share;
		if ((double)one->untracked * (double)worst.packets >=
			(double)worst.untracked * (double)one->packets) {
			worst.untracked = one->untracked;
			worst.packets = one->packets;
		}
		if (one->bound_ns.median > worst.bound_ns.median * one->ns.median)
			worst.bound_ns.median = one->bound_ns.median / one->ns.median;
	}
	worst.ns.max = spread;
	return worst;
}

void report_tail(const struct report *report, FILE *out)
{
	struct measurement worst = worst_of(report);
	bool dpdk = false, xdp = false;

	fputs("\n", out);
	for (size_t i = 0; i < report->count; i++) {
		const struct bench_runner *runner = report->measurements[i].runner;

		if (!runner || told_before(report, i))
			continue;
		dpdk |= !strcmp(runner->path, "dpdk");
		xdp |= !strcmp(runner->path, "xdp");
		fprintf(out, "%s %s%s: %s; bound: %s\n", runner->path, runner->mode,
			report->measurements[i].synthetic ? ", synthetic (no network card)" : "",
			runner->what, measurement_bound(&report->measurements[i]));
	}
	fputs("ns/packet: median of the rounds; bound: a plain forwarder's ns; over: ns above it\n",
		out);
	machine_warn(report->machine, dpdk, xdp, report->huge_pages, print_warning, out);
	measurement_warn(&worst, print_warning, out);
}
