/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp/cpu: the balancer by repeated test runs. Each repetition is feeder and subject
 * (bpf/bench_feeder.bpf.c); batches of the feeder alone are run between those of the subject, and
 * what a packet takes in their median is taken off. So the figure is the program's: no driver, no
 * interrupt, frames in the first-level cache. Time is the thread's CPU time around each system call
 * of thousands of packets; of the subject it is the sum, because what comes once a second (stamps
 * of flows) or now and then (swaps) belongs to it.
 *
 * An IMIX is batches of each size, as many packets as the mix has of it.
 */
#include "balancer.h"
#include "bench/core/bench.h"
#include "bench/frames/frames.h"
#include "feed.h"
#include "feeder.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOPBACK 1 /* test runs come in on it and leave by it */
/* Each call makes the kernel patch its dispatcher and wait for all CPUs: few and long ones. */
#define BATCH_NS     2e7    /* of thread's time */
#define BATCH_FIRST  65536u /* packets */
#define BATCH_MAX    (1u << 21)
#define WARM_UP_PART 1000000u /* flows, each seen twice before its first entry can expire */
#define SAMPLES	     32	      /* frames looked at in each measurement beside each batch's last */
#define FEEDER_MAX   4096     /* batches of the feeder alone that are remembered */
#define OUT_MAX	     2048

/* What one system call did. */
struct batch {
	double ns;	 /* of this thread's CPU time */
	int action;	 /* what became of the last frame */
	uint32_t length; /* of that, in cpu_run's `out` */
};

struct cpu_run {
	const struct bench_case *what;
	struct bench_frames frames;
	struct xdp_feed_size sizes[XDP_FEED_SIZES];
	uint32_t size_count, weights;
	struct xdp_balancer balancer;
	struct bench_feeder_bpf *feeder;
	struct bench_feed *feed;
	uint32_t batch;		      /* packets of a system call */
	double feeder_ns[FEEDER_MAX]; /* a packet, of each batch of the feeder alone */
	uint64_t feeder_count;
	double feeder_last, gross_last; /* ns a packet, of the balancer's last measurement */
	uint8_t in[BENCH_FRAME_MAX];
	uint8_t out[OUT_MAX];
};

static double clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* ---- one system call */

static void shape(struct cpu_run *run, uint64_t number)
{
	xdp_feed_shape(run->feed, &run->frames, number);
	bench_frame_write(&run->frames, 0, number, 0, run->in);
}

/* `packets` frames of the shape set before. 0 or -errno. */
static int run_batch(struct cpu_run *run, const struct bpf_program *feeder, uint32_t packets,
	struct batch *batch)
{
	struct xdp_md context = {.data_end = run->feed->frame_length, .ingress_ifindex = LOOPBACK};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = run->in,
		.data_size_in = run->feed->frame_length, .data_out = run->out,
		.data_size_out = sizeof(run->out), .ctx_in = &context,
		.ctx_size_in = sizeof(context), .repeat = (int)packets);
	double begin;

	xdp_balancer_beat(&run->balancer);
	begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (bpf_prog_test_run_opts(bpf_program__fd(feeder), &options))
		return -errno;
	batch->ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin;
	batch->action = (int)options.retval;
	batch->length = options.data_size_out;
	return 0;
}

/* ---- opening */

/* What the case's encapsulation puts in front of a packet. */
static int headroom(const struct bench_case *what)
{
	int outer = (int)frame_ip_header(what);

	if (!strcmp(what->encap, "l2"))
		return 0;
	if (!strcmp(what->encap, "gue"))
		return outer + 8;
	return !strcmp(what->encap, "gre") ? outer + 4 : outer;
}

static int open_feeder(struct cpu_run *run, char message[BENCH_MESSAGE])
{
	int error = xdp_feeder_open(run->what->family, run->balancer.object.program, &run->feeder);

	if (error) {
		snprintf(message, BENCH_MESSAGE, "the feeder's eBPF program is not loaded: %s",
			strerror(-error));
		return error;
	}
	run->feed = &run->feeder->bss->feed;
	run->feeder->bss->bound_headroom = headroom(run->what);
	return 0;
}

/* Every flow twice, the second time as what an established one sends. */
static int warm_up(struct cpu_run *run)
{
	struct batch batch;
	int error = 0;

	shape(run, 0);
	for (uint64_t first = 0; first < run->what->flows && !error; first += WARM_UP_PART) {
		uint64_t left = run->what->flows - first;
		uint32_t part = left < WARM_UP_PART ? (uint32_t)left : WARM_UP_PART;

		xdp_feed_in_turn(run->feed, first, part);
		error = run_batch(run, run->feeder->progs.feed_balancer, part, &batch);
		if (!error)
			error = run_batch(run, run->feeder->progs.feed_balancer, part, &batch);
	}
	return error;
}

static int fill_run(
	struct cpu_run *run, const struct bench_machine *machine, char message[BENCH_MESSAGE])
{
	int error;

	error = xdp_balancer_init(&run->balancer, machine, run->what, LOOPBACK, message);
	if (!error)
		error = open_feeder(run, message);
	if (error)
		return error;
	if (run->what->table_fill > 0)
		xdp_balancer_fill(&run->balancer, run->what->table_fill);
	error = run->what->tracked ? warm_up(run) : 0;
	if (error)
		snprintf(message, BENCH_MESSAGE, "a test run of %llu flows: %s",
			(unsigned long long)run->what->flows, strerror(-error));
	return error;
}

static void close_cpu(void *state)
{
	struct cpu_run *run = state;

	if (!run)
		return;
	bench_feeder_bpf__destroy(run->feeder);
	xdp_balancer_fini(&run->balancer);
	free(run);
}

static int open_cpu(const struct bench_machine *machine, const struct bench_case *what,
	void **state, char message[BENCH_MESSAGE])
{
	struct cpu_run *run = calloc(1, sizeof(*run));
	int error;

	if (!run)
		return -ENOMEM;
	run->what = what;
	run->batch = BATCH_FIRST;
	run->frames = (struct bench_frames){
		.what = what, .destination_mac = BENCH_OUR_MAC, .source_mac = {2, 0, 0, 0, 0, 1}};
	run->size_count = xdp_feed_sizes(&run->frames, run->sizes);
	for (uint32_t i = 0; i < run->size_count; i++)
		run->weights += run->sizes[i].weight;
	error = fill_run(run, machine, message);
	if (error) {
		close_cpu(run);
		return error;
	}
	*state = run;
	return 0;
}

/* ---- measuring */

static void judge(struct cpu_run *run, const struct batch *batch, uint64_t number,
	struct bench_sample *sample)
{
	sample->sampled++;
	if (batch->action != XDP_TX ||
		!bench_frame_right(&run->frames, run->feed->flow, number,
			xdp_feed_flags(run->feed->kind), run->out, batch->length))
		sample->wrong++;
}

/* The subject's batch and the feeder's, of one size. Adds to *gross what the subject's took. */
static int run_pair(struct cpu_run *run, enum bench_subject subject,
	const struct xdp_feed_size *size, struct bench_sample *sample, double *gross)
{
	const struct bpf_program *program = subject == BENCH_BALANCER
						    ? run->feeder->progs.feed_balancer
						    : run->feeder->progs.feed_bound;
	uint32_t packets = run->batch / run->weights * size->weight;
	struct batch batch;
	int error;

	shape(run, size->number);
	error = run_batch(run, run->feeder->progs.feed_nothing, packets, &batch);
	if (error)
		return error;
	run->feeder_ns[run->feeder_count++ % FEEDER_MAX] = batch.ns / packets;
	error = run_batch(run, program, packets, &batch);
	if (error)
		return error;
	*gross += batch.ns;
	sample->offered += packets;
	if (subject == BENCH_BALANCER)
		judge(run, &batch, size->number, sample);
	else if (batch.action == XDP_TX)
		sample->packets += packets;
	if (batch.ns < BATCH_NS / 2 && run->batch < BATCH_MAX)
		run->batch *= 2;
	else if (batch.ns > BATCH_NS * 2 && run->batch > BATCH_FIRST)
		run->batch /= 2;
	return 0;
}

/* More of the output than each batch's last frame. They count as no packets. */
static int look_closer(struct cpu_run *run, struct bench_sample *sample)
{
	struct batch batch;
	int error = 0;

	for (uint32_t i = 0; i < SAMPLES && !error; i++) {
		const struct xdp_feed_size *size = &run->sizes[i % run->size_count];

		shape(run, size->number);
		error = run_batch(run, run->feeder->progs.feed_balancer, 1, &batch);
		if (!error)
			judge(run, &batch, size->number, sample);
	}
	return error;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double feeder_median(struct cpu_run *run)
{
	size_t count = run->feeder_count < FEEDER_MAX ? run->feeder_count : FEEDER_MAX;

	qsort(run->feeder_ns, count, sizeof(*run->feeder_ns), compare);
	return run->feeder_ns[count / 2];
}

static int run_rounds(
	void *state, enum bench_subject subject, double seconds, struct bench_sample *sample)
{
	struct cpu_run *run = state;
	double end = clock_ns(CLOCK_MONOTONIC) + seconds * 1e9, gross = 0, feeder;
	int error = 0;

	run->feeder_count = 0;
	do {
		for (uint32_t i = 0; i < run->size_count && !error; i++)
			error = run_pair(run, subject, &run->sizes[i], sample, &gross);
	} while (!error && clock_ns(CLOCK_MONOTONIC) < end);
	if (error)
		return error;
	feeder = feeder_median(run) * (double)sample->offered;
	sample->seconds = (gross - feeder) * 1e-9;
	sample->overhead_ns = (uint64_t)feeder;
	if (subject == BENCH_BALANCER) {
		run->feeder_last = feeder / (double)sample->offered;
		run->gross_last = gross / (double)sample->offered;
	}
	if (gross <= feeder)
		snprintf(sample->note, sizeof(sample->note),
			"it took no longer than its feeder alone: is the CPU too busy?");
	return 0;
}

static int measure_balancer(struct cpu_run *run, double seconds, struct bench_sample *sample)
{
	int error = xdp_balancer_measure(&run->balancer, run_rounds, run, seconds, sample);

	if (error)
		return error;
	sample->packets = sample->counted_tx;
	sample->lost = sample->offered > sample->packets ? sample->offered - sample->packets : 0;
	return look_closer(run, sample);
}

static int measure_cpu(void *state, enum bench_subject subject, double seconds,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	struct cpu_run *run = state;
	cpu_set_t before;
	int error = xdp_pin(run->balancer.cpu, &before);

	if (error) {
		snprintf(message, BENCH_MESSAGE, "CPU %d cannot be had: %s", run->balancer.cpu,
			strerror(-error));
		return error;
	}
	*sample = (struct bench_sample){0};
	xdp_feed_at_random(run->feed, run->what);
	if (subject == BENCH_BALANCER)
		error = measure_balancer(run, seconds, sample);
	else
		error = run_rounds(run, subject, seconds, sample);
	sched_setaffinity(0, sizeof(before), &before);
	if (error && !message[0])
		snprintf(message, BENCH_MESSAGE, "test run: %s", strerror(-error));
	return error;
}

static void hold_swaps_cpu(void *state, bool held)
{
	struct cpu_run *run = state;

	run->balancer.swaps.held = held;
}

static void describe_cpu(void *state, json_t *machine, json_t *found)
{
	struct cpu_run *run = state;

	xdp_describe(&run->balancer, machine, found);
	json_object_set_new(machine, "driver", json_string("none: BPF_PROG_TEST_RUN"));
	json_object_set_new(found, "gross_ns_per_packet", json_real(run->gross_last));
	json_object_set_new(found, "feeder_ns_per_packet", json_real(run->feeder_last));
}

const struct bench_runner bench_xdp_cpu = {
	.path = "xdp",
	.mode = "cpu",
	.what = "repeated BPF test runs; a feeder makes each packet, its time is taken off",
	.bound = "the head moved as for the encapsulation, MACs swapped, XDP_TX",
	.synthetic = true,
	.able = xdp_able,
	.open = open_cpu,
	.measure = measure_cpu,
	.close = close_cpu,
	.hold_swaps = hold_swaps_cpu,
	.describe = describe_cpu,
};
