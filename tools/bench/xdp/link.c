/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xdp/link: through a veth pair, natively. A generator on its own CPU makes live frames at one end
 * (bpf/bench_link.bpf.c); the other end's NAPI thread on the measured CPU runs the balancer or the
 * bound, sends by XDP_TX, and then, as that is how veth works, counts and drops what arrives at the
 * first end. All of that is in the figure, and the same for both subjects.
 *
 * The generator never has more on their way than a ring holds, so the rate is the highest without
 * loss; what is lost all the same is said. Time runs from the first frame sent to the last arrived,
 * so that what a call takes to begin does not count, and neither does the time in which another had
 * the generator's CPU.
 *
 * An IMIX is one size after the other, weighed as in the mix.
 */
#include "balancer.h"
#include "bench/core/bench.h"
#include "bench/core/clock.h"
#include "bench_feed.h"
#include "bench_link.h"
#include "bench_link.skel.h"
#include "feed.h"
#include "link_net.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <linux/if_link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FRONT 8		    /* bytes that the generator cuts off: older kernels, else, reuse a */
			    /* frame as long as it came back */
#define BATCH	     64	    /* frames between two flushes */
#define WINDOW	     192    /* on their way; a veth ring holds 256 */
#define CALL_FIRST   65536u /* frames of a system call, sent or held back */
#define CALL_MAX     (1u << 22)
#define CALL_NS	     100000000ull
#define DRAIN_MS     100 /* without any arrival: the rest is lost */
#define SAMPLE_EVERY 1021
#define NS_PER_MS    1000000ull

/* What went through in one size. */
struct passed {
	uint64_t sent, arrived;
	double ns; /* for those that arrived */
};

struct link_run {
	const struct bench_case *what;
	struct bench_frames frames;
	struct xdp_feed_size sizes[XDP_FEED_SIZES];
	uint32_t size_count, weights;
	struct xdp_link_net net;
	struct xdp_balancer balancer;
	struct bench_link_bpf *programs;
	const struct bench_link_sample *samples;
	int arrive_link, subject_link;
	int generator_cpu;
	uint32_t call; /* frames of a system call */
	uint64_t waited, sent;
	double busy_ns, passing_ns, away_ns; /* the subject's CPU time; how long frames passed */
	uint8_t in[FRONT + BENCH_FRAME_MAX];
};

static int explain(char message[BENCH_MESSAGE], const char *what, int error)
{
	snprintf(message, BENCH_MESSAGE, "xdp link: %s: %s", what, strerror(-error));
	return error;
}

/* ---- one system call */

/* Until all have come back, or nothing more comes. */
static void drain(const struct link_run *run)
{
	const struct timespec pause = {.tv_nsec = 100000};
	const volatile uint64_t *arrived = &run->programs->bss->arrived.packets;
	uint64_t last = *arrived, since = bench_clock_ns();

	while (*arrived < run->programs->bss->sent.packets &&
		bench_clock_ns() - since < DRAIN_MS * NS_PER_MS) {
		nanosleep(&pause, NULL);
		if (*arrived != last) {
			last = *arrived;
			since = bench_clock_ns();
		}
	}
}

static void forget_last(struct link_run *run, bool sampling)
{
	struct bench_link_bpf__bss *shared = run->programs->bss;

	memset(&shared->sent, 0, sizeof(shared->sent));
	memset(&shared->arrived, 0, sizeof(shared->arrived));
	memset(&shared->told, 0, sizeof(shared->told));
	shared->sent.window = WINDOW;
	shared->arrived.sample_every = sampling ? SAMPLE_EVERY : 0;
}

/* Frames of the shape set before. 0 or -errno. */
static int run_call(struct link_run *run, bool sampling, struct passed *passed)
{
	struct bench_link_bpf__bss *shared = run->programs->bss;
	uint32_t size = FRONT + shared->feed.frame_length;
	struct xdp_md context = {.data_end = size, .ingress_ifindex = (uint32_t)run->net.generator};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = run->in, .data_size_in = size,
		.ctx_in = &context, .ctx_size_in = sizeof(context), .repeat = (int)run->call,
		.flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = BATCH);
	uint64_t begin = bench_clock_ns(), busy = xdp_link_net_busy(&run->net), took;
	double ns = 0;

	forget_last(run, sampling);
	xdp_balancer_beat(&run->balancer);
	if (bpf_prog_test_run_opts(bpf_program__fd(run->programs->progs.link_generate), &options))
		return -errno;
	took = bench_clock_ns() - begin;
	drain(run);
	passed->sent += shared->sent.packets;
	passed->arrived += shared->arrived.packets;
	if (shared->arrived.end_packets)
		ns = (double)(shared->arrived.end_ns - shared->sent.begin_ns -
			      shared->sent.away_ns) *
		     (double)shared->arrived.packets / (double)shared->arrived.end_packets;
	passed->ns += ns;
	run->passing_ns += ns;
	run->away_ns += (double)shared->sent.away_ns;
	run->busy_ns += (double)(xdp_link_net_busy(&run->net) - busy);
	run->sent += shared->sent.packets;
	run->waited += shared->sent.waited;
	if (took < CALL_NS / 2 && run->call < CALL_MAX)
		run->call *= 2;
	else if (took > CALL_NS * 2 && run->call > CALL_FIRST)
		run->call /= 2;
	return 0;
}

static void shape(struct link_run *run, uint64_t number)
{
	xdp_feed_shape(&run->programs->bss->feed, &run->frames, number);
	bench_frame_write(&run->frames, 0, number, 0, run->in + FRONT);
}

/* ---- opening */

static int attach(int program, int ifindex, int *link)
{
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = XDP_FLAGS_DRV_MODE);

	*link = bpf_link_create(program, ifindex, BPF_XDP, &options);
	return *link < 0 ? -errno : 0;
}

static int load_programs(struct link_run *run)
{
	int error;

	run->programs = bench_link_bpf__open();
	if (!run->programs)
		return -errno;
	run->programs->rodata->feed_is_ipv6 = run->what->family == BENCH_IPV6;
	error = bench_link_bpf__load(run->programs);
	if (error)
		return error;
	run->samples = mmap(NULL, sizeof(*run->samples) * BENCH_LINK_SAMPLES, PROT_READ, MAP_SHARED,
		bpf_map__fd(run->programs->maps.link_samples), 0);
	if (run->samples == MAP_FAILED) {
		run->samples = NULL;
		return -errno;
	}
	return 0;
}

/* Inside the namespace. */
static int set_up(
	struct link_run *run, const struct bench_machine *machine, char message[BENCH_MESSAGE])
{
	int error =
		xdp_balancer_init(&run->balancer, machine, run->what, run->net.subject, message);

	if (error)
		return error;
	error = load_programs(run);
	if (error)
		return explain(message, "the generator's eBPF program is not loaded", error);
	error = attach(bpf_program__fd(run->programs->progs.link_arrive), run->net.generator,
		&run->arrive_link);
	if (!error)
		error = attach(bpf_program__fd(run->programs->progs.link_bound), run->net.subject,
			&run->subject_link);
	if (error)
		return explain(message, "an eBPF program cannot be attached to veth", error);
	return xdp_link_net_pin(&run->net, machine->cpu, message);
}

static int use_subject(struct link_run *run, enum bench_subject subject)
{
	int program = subject == BENCH_BALANCER ? run->balancer.object.program
						: bpf_program__fd(run->programs->progs.link_bound);

	return bpf_link_update(run->subject_link, program, NULL) ? -errno : 0;
}

/* Every flow twice, the second time as what an established one sends. */
static int warm_up(struct link_run *run)
{
	struct passed passed = {0};
	int error = use_subject(run, BENCH_BALANCER);

	shape(run, 0);
	xdp_feed_in_turn(&run->programs->bss->feed, 0, run->what->flows);
	while (!error && passed.arrived < 2 * run->what->flows) {
		uint64_t before = passed.arrived;

		error = run_call(run, false, &passed);
		if (!error && passed.arrived == before)
			error = -ENETDOWN;
	}
	return error;
}

static int open_inside(
	struct link_run *run, const struct bench_machine *machine, char message[BENCH_MESSAGE])
{
	int error = xdp_link_net_enter(&run->net);

	if (error)
		return explain(message, "its namespace cannot be entered", error);
	error = set_up(run, machine, message);
	if (!error && run->what->table_fill > 0)
		xdp_balancer_fill(&run->balancer, run->what->table_fill);
	if (!error && run->what->tracked) {
		error = warm_up(run);
		if (error)
			explain(message, "no frame came back from the balancer", error);
	}
	xdp_link_net_leave(&run->net);
	return error;
}

static void close_link(void *state)
{
	struct link_run *run = state;

	if (!run)
		return;
	if (run->subject_link >= 0)
		close(run->subject_link);
	if (run->arrive_link >= 0)
		close(run->arrive_link);
	if (run->samples)
		munmap((void *)run->samples, sizeof(*run->samples) * BENCH_LINK_SAMPLES);
	bench_link_bpf__destroy(run->programs);
	xdp_balancer_fini(&run->balancer);
	xdp_link_net_fini(&run->net);
	free(run);
}

static int open_link(const struct bench_machine *machine, const struct bench_case *what,
	void **state, char message[BENCH_MESSAGE])
{
	struct link_run *run;
	int error;

	if (what->load > 0) {
		snprintf(message, BENCH_MESSAGE, "xdp link runs at full load only");
		return -ENOTSUP;
	}
	run = calloc(1, sizeof(*run));
	if (!run)
		return -ENOMEM;
	run->what = what;
	run->call = CALL_FIRST;
	run->arrive_link = run->subject_link = -1;
	run->generator_cpu = machine->generator_cpu;
	run->frames = (struct bench_frames){
		.what = what, .destination_mac = BENCH_OUR_MAC, .source_mac = {2, 0, 0, 0, 0, 1}};
	run->size_count = xdp_feed_sizes(&run->frames, run->sizes);
	for (uint32_t i = 0; i < run->size_count; i++)
		run->weights += run->sizes[i].weight;
	error = xdp_link_net_init(&run->net, message);
	if (!error)
		error = open_inside(run, machine, message);
	if (error) {
		close_link(run);
		return error;
	}
	*state = run;
	return 0;
}

/* ---- measuring */

static void judge(const struct link_run *run, struct bench_sample *sample)
{
	uint64_t count = run->programs->bss->arrived.samples;

	for (uint64_t i = 0; i < count && i < BENCH_LINK_SAMPLES; i++) {
		sample->sampled++;
		if (!bench_frame_judge(
			    &run->frames, run->samples[i].bytes, run->samples[i].length, NULL))
			sample->wrong++;
	}
}

/* As if each size had passed in its share: how many did says what held the generator back. */
static void sum_up(
	const struct link_run *run, const struct passed *passed, struct bench_sample *sample)
{
	double ns = 0;

	for (uint32_t i = 0; i < run->size_count; i++) {
		sample->offered += passed[i].sent;
		sample->packets += passed[i].arrived;
		if (passed[i].arrived)
			ns += passed[i].ns / (double)passed[i].arrived * run->sizes[i].weight /
			      run->weights;
	}
	sample->lost = sample->offered - sample->packets;
	sample->seconds = ns * (double)sample->packets * 1e-9;
}

static int run_rounds(
	void *state, enum bench_subject subject, double seconds, struct bench_sample *sample)
{
	struct link_run *run = state;
	struct passed passed[XDP_FEED_SIZES] = {0};
	uint64_t end = bench_clock_ns() + (uint64_t)(seconds * 1e9);
	int error = use_subject(run, subject);

	xdp_feed_at_random(&run->programs->bss->feed, run->what);
	do {
		for (uint32_t i = 0; i < run->size_count && !error; i++) {
			shape(run, run->sizes[i].number);
			error = run_call(run, subject == BENCH_BALANCER, &passed[i]);
			if (!error)
				judge(run, sample);
		}
	} while (!error && bench_clock_ns() < end);
	if (!error)
		sum_up(run, passed, sample);
	return error;
}

static int measure_inside(struct link_run *run, enum bench_subject subject, double seconds,
	struct bench_sample *sample)
{
	int error = xdp_link_net_enter(&run->net);

	if (error)
		return error;
	if (subject == BENCH_BALANCER)
		error = xdp_balancer_measure(&run->balancer, run_rounds, run, seconds, sample);
	else
		error = run_rounds(run, subject, seconds, sample);
	xdp_link_net_leave(&run->net);
	return error;
}

static int measure_link(void *state, enum bench_subject subject, double seconds,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	struct link_run *run = state;
	cpu_set_t before;
	int error = xdp_pin(run->generator_cpu, &before);

	if (error)
		return explain(message, "the generator's CPU cannot be had", error);
	*sample = (struct bench_sample){0};
	error = measure_inside(run, subject, seconds, sample);
	sched_setaffinity(0, sizeof(before), &before);
	return error ? explain(message, "live frames", error) : 0;
}

static void describe_link(void *state, json_t *machine, json_t *found)
{
	struct link_run *run = state;

	xdp_describe(&run->balancer, machine, found);
	json_object_set_new(machine, "driver", json_string("veth, native XDP, threaded NAPI"));
	/* Much below 1, or no waits: the figure is not the subject's limit. */
	json_object_set_new(found, "subject_cpu_share",
		json_real(run->passing_ns > 0 ? run->busy_ns / run->passing_ns : 0));
	json_object_set_new(found, "generator_away_share",
		json_real(
			run->passing_ns > 0 ? run->away_ns / (run->passing_ns + run->away_ns) : 0));
	json_object_set_new(found, "generator_waits_per_packet",
		json_real(run->sent ? (double)run->waited / (double)run->sent : 0));
}

const struct bench_runner bench_xdp_link = {
	.path = "xdp",
	.mode = "link",
	.what = "live frames through a veth pair; what comes back paces the generator",
	.bound = "MACs swapped, XDP_TX, on the same pair",
	.synthetic = true,
	.able = xdp_able,
	.open = open_link,
	.measure = measure_link,
	.close = close_link,
	.describe = describe_link,
};
