/* SPDX-License-Identifier: BSD-2-Clause */
#include "measure.h"

#include "clock.h"
#include "pairs.h"
#include "steady.h"
#include "watch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARM_UP_FLOWS	4  /* packets a flow, in random order: 98 % of them were seen */
#define WARM_UP_SECONDS 30 /* at most */
#define NEW_ENOUGH	0.9
#define NEW_SLACK	200
#define SWAPS_ENOUGH	0.8
#define STEADY_GLANCE	0.05
#define STEADY_SECONDS	1 /* to find out what the core can do */

struct session {
	const struct measure_options *options;
	const struct bench_runner *runner;
	const struct bench_case *what;
	void *state;
	struct measurement *result;
	struct pairs_plan pairs; /* a_round 0: what swaps cost is not measured */
	double *costs;		 /* as many as all rounds have pairs */
	bool held;		 /* swaps, now */
};

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct spread spread_of(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare);
	return (struct spread){
		.median = count % 2 ? values[count / 2]
				    : (values[count / 2 - 1] + values[count / 2]) / 2,
		.min = values[0],
		.max = values[count - 1],
	};
}

/* The balancer's own word against what was seen from outside. */
static bool counters_judge(const struct bench_sample *sample, char *why)
{
	uint64_t sum = sample->counted_tx + sample->counted_drops + sample->counted_other;

	if (sample->unasked)
		return true;
	if (!sample->counted_rx && !sum)
		snprintf(why, BENCH_MESSAGE, "the balancer's counters could not be read");
	else if (sample->counted_rx != sum)
		snprintf(why, BENCH_MESSAGE,
			"the balancer's counters do not add up: rx %" PRIu64
			", sum of verdicts %" PRIu64,
			sample->counted_rx, sum);
	else if (sample->counted_drops || sample->counted_other)
		snprintf(why, BENCH_MESSAGE,
			"the balancer dropped %" PRIu64 " packets and kept or handed over %" PRIu64
			"%s%s",
			sample->counted_drops, sample->counted_other, sample->note[0] ? ": " : "",
			sample->note);
	else if (sample->counted_tx != sample->packets)
		snprintf(why, BENCH_MESSAGE,
			"the balancer counted %" PRIu64 " packets sent, %" PRIu64 " came out",
			sample->counted_tx, sample->packets);
	else
		return true;
	return false;
}

static bool output_judge(
	const struct bench_case *what, const struct bench_sample *sample, char *why)
{
	double swaps = what->swaps_per_second *
		       (sample->seconds + (double)sample->overhead_ns * 1e-9) * SWAPS_ENOUGH;
	/* Which packets open one is drawn at random: a short sample may have a few less. */
	double opened = what->tracked
				? what->new_share * (double)sample->packets * NEW_ENOUGH - NEW_SLACK
				: 0;

	if (!sample->sampled)
		snprintf(why, BENCH_MESSAGE, "no frame of the output was looked at");
	else if (sample->wrong)
		snprintf(why, BENCH_MESSAGE,
			"%" PRIu64 " of %" PRIu64 " frames looked at were not the right %s packet",
			sample->wrong, sample->sampled, what->encap);
	else if ((double)sample->swaps < swaps - 1)
		snprintf(why, BENCH_MESSAGE,
			"%u tables a second were asked for, put in force in all: %" PRIu64,
			what->swaps_per_second, sample->swaps);
	else if (!what->tracked && sample->remembered + sample->untracked)
		snprintf(why, BENCH_MESSAGE,
			"the balancer has looked for room in its flow table for %" PRIu64
			" packets, which were to go untracked",
			sample->remembered + sample->untracked);
	else if ((double)(sample->flows_new + sample->untracked) < opened)
		snprintf(why, BENCH_MESSAGE,
			"only %" PRIu64 " of %" PRIu64 " packets opened a flow, %g%% were to",
			sample->flows_new + sample->untracked, sample->packets,
			what->new_share * 100);
	else
		return counters_judge(sample, why);
	return false;
}

bool sample_judge(const struct bench_case *what, enum bench_subject subject,
	const struct bench_sample *sample, char why[static BENCH_MESSAGE])
{
	const char *who = subject == BENCH_BALANCER ? "the balancer" : "the bound";

	/* A bound may be as quick as the feeder beside it: then it takes no time, give or take. */
	bool took_time = sample->seconds > 0 || (subject == BENCH_BOUND && sample->overhead_ns);

	if (sample->packets && !took_time)
		snprintf(why, BENCH_MESSAGE, "%s took no longer than what feeds it alone", who);
	else if (!sample->packets && sample->unasked)
		snprintf(why, BENCH_MESSAGE, "%" PRIu64 " frames sent, nothing came back; %s",
			sample->offered, sample->note);
	else if (!sample->packets)
		snprintf(why, BENCH_MESSAGE, "%s sent nothing%s%s", who,
			sample->note[0] ? ": " : "", sample->note);
	else if (sample->lost)
		snprintf(why, BENCH_MESSAGE, "%s lost %" PRIu64 " of %" PRIu64 " packets%s%s", who,
			sample->lost, sample->offered, sample->note[0] ? ": " : "", sample->note);
	else if (sample->packets != sample->offered)
		snprintf(why, BENCH_MESSAGE, "%s was given %" PRIu64 " packets and sent %" PRIu64,
			who, sample->offered, sample->packets);
	else
		return subject == BENCH_BOUND || output_judge(what, sample, why);
	return false;
}

/* One sample that counts, or the outcome that ends it all. */
static bool take(struct session *session, enum bench_subject subject, double seconds,
	struct bench_sample *sample)
{
	struct measurement *result = session->result;
	struct bench_case judged;
	int status;

	if (session->options->stop && *session->options->stop) {
		result->outcome = OUTCOME_FAILED;
		snprintf(result->why, BENCH_MESSAGE, "interrupted");
		return false;
	}
	*sample = (struct bench_sample){0};
	status = session->runner->measure(session->state, subject, seconds, sample, result->why);
	if (status == -ENODATA && subject == BENCH_BOUND) {
		*sample = (struct bench_sample){0};
		return true;
	}
	if (status) {
		result->outcome = OUTCOME_FAILED;
		if (!result->why[0])
			snprintf(result->why, BENCH_MESSAGE, "%s", strerror(-status));
		return false;
	}
	judged = *session->what;
	if (session->held)
		judged.swaps_per_second = 0;
	if (sample_judge(&judged, subject, sample, result->why))
		return true;
	result->outcome = OUTCOME_REFUSED;
	result->lost = sample->lost;
	result->offered = sample->offered;
	return false;
}

static void tell(const struct session *session, const char *step, uint32_t done)
{
	if (session->options->progress)
		session->options->progress(
			session->options->owner, step, done, session->options->rounds);
}

/* Caches, branch predictors and the flow table are as they will stay. */
static bool warm_up(struct session *session)
{
	double end = bench_clock_seconds() + WARM_UP_SECONDS;
	uint64_t enough = session->what->flows * WARM_UP_FLOWS, seen = 0;
	struct bench_sample sample;

	if (session->runner->primed)
		return true;
	tell(session, "warming up", 0);
	if (!take(session, BENCH_BOUND, session->options->seconds, &sample))
		return false;
	do {
		if (!take(session, BENCH_BALANCER, session->options->seconds, &sample))
			return false;
		seen += sample.packets;
	} while (seen < enough && bench_clock_seconds() < end);
	return true;
}

static double per_packet(double total, const struct bench_sample *sample)
{
	return sample->packets ? total / (double)sample->packets : 0;
}

static double cycles_of(const struct session *session, const struct bench_sample *sample)
{
	if (sample->unasked)
		return 0;
	if (sample->cycles)
		return per_packet((double)sample->cycles, sample);
	return per_packet(sample->seconds * session->options->tsc_hz, sample);
}

static void sample_add(struct bench_sample *sum, const struct bench_sample *one)
{
	sum->seconds += one->seconds;
	sum->packets += one->packets;
	sum->offered += one->offered;
	sum->cycles += one->cycles;
	sum->sampled += one->sampled;
	sum->swaps += one->swaps;
	sum->untracked += one->untracked;
	sum->flows_new += one->flows_new;
}

static double gross_ns(const struct bench_sample *sample)
{
	return per_packet(sample->seconds * 1e9 + (double)sample->overhead_ns, sample);
}

/* One pair of slices, the one with swaps first every other time; that one is added to `sum`. */
static bool take_pair(struct session *session, bool held_first, struct bench_sample *sum)
{
	struct bench_sample sample[2]; /* with swaps, without */

	for (int i = 0; i < 2; i++) {
		session->held = (i == 0) == held_first;
		session->runner->hold_swaps(session->state, session->held);
		if (!take(session, BENCH_BALANCER, session->pairs.seconds, &sample[session->held]))
			return false;
	}
	sample_add(sum, &sample[0]);
	/* What a feeder takes is in both, and measured less well than their difference. */
	session->costs[session->result->swap_pairs++] =
		(gross_ns(&sample[0]) - gross_ns(&sample[1])) /
		per_packet(sample[1].seconds * 1e9, &sample[1]);
	return true;
}

/* A sample of a round: in mode cpu of a core at its own speed, if that can be had. */
static bool take_steady(
	struct session *session, enum bench_subject subject, struct bench_sample *sample)
{
	const struct measure_options *options = session->options;
	bool (*look)(int cpu) = options->slowed ? options->slowed : steady_slowed;
	uint32_t left = options->steady;
	bool slowed;

	if (strcmp(session->what->mode, "cpu"))
		return take(session, subject, options->seconds, sample);
	do {
		slowed = look(options->machine.cpu);
		if (!take(session, subject, options->seconds, sample))
			return false;
		slowed |= look(options->machine.cpu);
	} while (slowed && left--);
	session->result->samples++;
	session->result->slowed += slowed;
	return true;
}

static bool take_balancer(struct session *session, struct bench_sample *balancer)
{
	bool good = true;

	if (!session->pairs.a_round)
		return take_steady(session, BENCH_BALANCER, balancer);
	*balancer = (struct bench_sample){0};
	for (uint32_t i = 0; i < session->pairs.a_round && good; i++)
		good = take_pair(session, i % 2, balancer);
	return good;
}

/* More pairs than the rounds had, where those do not decide. */
static bool take_more_pairs(struct session *session)
{
	struct measurement *result = session->result;
	struct bench_sample unused = {0};
	bool good = true;

	while (good && session->pairs.a_round) {
		result->swap_cost = pairs_median(session->costs, result->swap_pairs);
		if (pairs_decide(&result->swap_cost) || result->swap_pairs >= PAIRS_MOST)
			break;
		tell(session, "more pairs", 0);
		for (int i = 0; i < PAIRS_MORE && good; i++)
			good = take_pair(session, i % 2, &unused);
	}
	session->held = false;
	if (session->pairs.a_round)
		session->runner->hold_swaps(session->state, false);
	return good;
}

static bool take_round(struct session *session, struct measure_round *round)
{
	struct measurement *result = session->result;
	struct bench_sample bound, balancer;

	if (!take_steady(session, BENCH_BOUND, &bound) || !take_balancer(session, &balancer))
		return false;
	round->ns = per_packet(balancer.seconds * 1e9, &balancer);
	round->bound_ns = per_packet(bound.seconds * 1e9, &bound);
	round->io_ns = bound.io_ns;
	round->cycles = cycles_of(session, &balancer);
	round->bound_cycles = cycles_of(session, &bound);
	memcpy(round->latency_ns, balancer.latency_ns, sizeof(round->latency_ns));
	round->latency_max_ns = balancer.latency_max_ns;
	result->has_latency = balancer.has_latency;
	result->late += balancer.late;
	result->never_sent += balancer.never_sent;
	result->packets += balancer.packets;
	result->offered += balancer.offered;
	result->sampled += balancer.sampled;
	result->swaps += balancer.swaps;
	result->untracked += balancer.untracked;
	result->flows_new += balancer.flows_new;
	return true;
}

/* The spread of the double at `offset` in each round. */
static struct spread spread_rounds(const struct measurement *result, double *room, size_t offset)
{
	for (size_t i = 0; i < result->round_count; i++)
		room[i] = *(const double *)((const char *)&result->rounds[i] + offset);
	return spread_of(room, result->round_count);
}

static void summarise(struct measurement *result, double *room)
{
	result->ns = spread_rounds(result, room, offsetof(struct measure_round, ns));
	result->bound_ns = spread_rounds(result, room, offsetof(struct measure_round, bound_ns));
	result->io_ns = spread_rounds(result, room, offsetof(struct measure_round, io_ns));
	result->cycles = spread_rounds(result, room, offsetof(struct measure_round, cycles));
	for (size_t i = 0; i < 3; i++)
		result->latency_ns[i] = spread_rounds(result, room,
			offsetof(struct measure_round, latency_ns) + i * sizeof(double));
	result->latency_max_ns =
		spread_rounds(result, room, offsetof(struct measure_round, latency_max_ns)).max;
	result->outcome = OUTCOME_FIGURE;
}

static void take_rounds(struct session *session, double *room)
{
	struct measurement *result = session->result;
	struct watch watch;

	if (!warm_up(session))
		return;
	if (!strcmp(session->what->mode, "cpu"))
		steady_begin(session->options->machine.cpu,
			session->options->steady ? STEADY_SECONDS : STEADY_GLANCE);
	watch_begin(&watch, session->options->machine.cpu);
	for (uint32_t i = 0; i < session->options->rounds; i++) {
		tell(session, "round", i + 1);
		if (!take_round(session, &result->rounds[i]))
			return;
		result->round_count++;
	}
	if (!take_more_pairs(session))
		return;
	watch_end(&watch);
	result->steal_share = watch.steal_share;
	result->sibling_busy = watch.sibling_busy;
	result->preempted = watch.preempted;
	summarise(result, room);
}

/* What a path or mode cannot have is said, not left out of what its figure claims. */
static bool case_possible(const struct bench_case *what, char *why)
{
	bool xdp = !strcmp(what->path, "xdp");
	const char *impossible = NULL;

	if (strcmp(what->mode, "nic") && what->rate)
		impossible = "--rate is for --mode nic";
	else if (what->rate && (what->load > 0 || what->idle_us))
		impossible = "--rate excludes --load and --idle";
	else if (!strcmp(what->mode, "cpu") && (what->load > 0 || what->idle_us))
		impossible = "--load and --idle need a generator: --mode link or nic";
	else if (xdp && what->idle_us)
		impossible = "--idle is for the DPDK path";
	else if (xdp && what->workers != 1)
		impossible = "--workers are for the DPDK path";
	else if (xdp && what->adaptive)
		impossible = "--poll is for the DPDK path";
	if (impossible)
		snprintf(why, BENCH_MESSAGE, "%s", impossible);
	return !impossible;
}

static void measure_open(struct session *session, double *room)
{
	struct measurement *result = session->result;
	int status = session->runner->open(
		&session->options->machine, session->what, &session->state, result->why);

	if (status) {
		result->outcome = status == -ENOTSUP ? OUTCOME_UNSUPPORTED : OUTCOME_FAILED;
		if (!result->why[0])
			snprintf(result->why, BENCH_MESSAGE, "%s", strerror(-status));
		return;
	}
	take_rounds(session, room);
	result->described = json_object();
	result->found = json_object();
	if (session->runner->describe && result->described && result->found)
		session->runner->describe(session->state, result->described, result->found);
	result->synthetic |= json_is_true(json_object_get(result->described, "synthetic"));
	session->runner->close(session->state);
}

/*
 * DPDK in this process pins its first thread for good, which is right for mode cpu. Children of the
 * other modes inherit that, so for them the thread has all CPUs again.
 */
static void measure_unpinned(struct session *session, double *room)
{
	const cpu_set_t *cpus = session->options->cpus;
	cpu_set_t pinned;
	bool free_it = cpus && strcmp(session->what->mode, "cpu") &&
		       !sched_getaffinity(0, sizeof(pinned), &pinned) &&
		       !sched_setaffinity(0, sizeof(*cpus), cpus);

	measure_open(session, room);
	if (free_it)
		sched_setaffinity(0, sizeof(pinned), &pinned);
}

/* With swaps: latencies and searches are not measured in pairs. */
static bool pairs_prepare(struct session *session)
{
	const struct measure_options *options = session->options;
	const struct bench_case *what = session->what;

	if (!what->swaps_per_second || !session->runner->hold_swaps || what->load > 0 ||
		what->idle_us)
		return true;
	session->pairs = pairs_plan(what, options->seconds, options->rounds);
	session->costs =
		calloc((size_t)session->pairs.a_round * options->rounds + PAIRS_MOST + PAIRS_MORE,
			sizeof(*session->costs));
	if (!session->costs)
		snprintf(session->result->why, BENCH_MESSAGE, "out of memory for %u rounds",
			options->rounds);
	return session->costs;
}

void measure_case(const struct measure_options *options, const struct bench_runner *runner,
	const struct bench_case *what, struct measurement *measurement)
{
	struct session session = {
		.options = options, .runner = runner, .what = what, .result = measurement};
	double *room = calloc(options->rounds, sizeof(*room));
	uint8_t mac[6];

	*measurement =
		(struct measurement){.what = what, .runner = runner, .outcome = OUTCOME_FAILED};
	measurement->synthetic = !runner || runner->synthetic;
	measurement->unasked = !strcmp(what->mode, "nic") && options->machine.dut &&
			       bench_mac_read(options->machine.dut, mac);
	measurement->rounds = calloc(options->rounds, sizeof(*measurement->rounds));
	if (!room || !measurement->rounds)
		snprintf(measurement->why, BENCH_MESSAGE, "out of memory for %u rounds",
			options->rounds);
	else if (!runner)
		snprintf(measurement->why, BENCH_MESSAGE,
			"this build cannot measure path %s, mode %s", what->path, what->mode);
	else if (!case_possible(what, measurement->why))
		measurement->outcome = OUTCOME_UNSUPPORTED;
	else if (pairs_prepare(&session))
		measure_unpinned(&session, room);
	free(session.costs);
	free(room);
}

void measurement_free(struct measurement *measurement)
{
	free(measurement->rounds);
	json_decref(measurement->described);
	json_decref(measurement->found);
	*measurement = (struct measurement){0};
}
