/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dpdk/link: a generator on another core, and memif between it and the balancer.
 *
 * Without a load, frames are sent as fast as they come back: at most WINDOW of them are on their
 * way, half of what a ring holds, so that nothing can be lost for want of room and the rate is the
 * highest without loss; whatever is lost all the same is the subject's, and named.
 *
 * With a load, frames are paced at that share of the balancer's highest rate, the same for the
 * bound, and latency is what is wanted. The rings are longer then, and frames are held back only
 * when a ring is half full: that outlasts the pauses of a shared machine without a loss. What was
 * held back goes later, and its latency counts from when it was due (pace.h). With `idle_us`,
 * single frames after a pause each: what a wake-up takes.
 */
#include "rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define RING	      10 /* log2 of a ring's frames: DPDK's default, and kind to caches */
#define RING_PACED    12
#define WINDOW	      512
#define WINDOW_PACED  2048
#define PROBE_SECONDS 0.5 /* to learn the highest rate */
#define PROBE_ROUNDS  3

struct link {
	struct bench_rig rig;
	struct bench_trial trial;
};

/* The highest rate: the median of a few short trials. */
static int probe(struct link *link, uint64_t *rate, char message[BENCH_MESSAGE])
{
	const struct bench_trial trial = {.seconds = PROBE_SECONDS, .window = WINDOW};
	double rates[PROBE_ROUNDS];
	struct bench_sample sample;
	int error;

	for (int i = 0; i < PROBE_ROUNDS; i++) {
		int at = i;

		error = bench_rig_trial(&link->rig, BENCH_BALANCER, &trial, &sample, message);
		if (error)
			return error;
		rates[i] = sample.seconds > 0 ? (double)sample.packets / sample.seconds : 0;
		for (; at > 0 && rates[at - 1] > rates[at]; at--) {
			double kept = rates[at];

			rates[at] = rates[at - 1];
			rates[at - 1] = kept;
		}
	}
	*rate = (uint64_t)rates[PROBE_ROUNDS / 2];
	return 0;
}

static int open_link(const struct bench_machine *machine, const struct bench_case *what,
	void **state, char message[BENCH_MESSAGE])
{
	struct link *link = calloc(1, sizeof(*link));
	char gen[BENCH_PORT_TEXT], dut[BENCH_PORT_TEXT];
	int ring = what->load > 0 ? RING_PACED : RING;
	uint64_t highest = 0;
	int error;

	if (!link)
		return -ENOMEM;
	/* An abstract socket: no file is left behind. The subject is there first. */
	snprintf(dut, sizeof(dut), "net_memif0,role=server,id=0,socket=guideway-bench-%d",
		(int)getpid());
	snprintf(gen, sizeof(gen), "net_memif0,role=client,id=0,socket=guideway-bench-%d,rsize=%d",
		(int)getpid(), ring);
	error = bench_rig_open(&link->rig, machine, what, gen, dut, message);
	if (!error && what->load > 0)
		error = probe(link, &highest, message);
	if (error) {
		bench_rig_close(&link->rig);
		free(link);
		return error;
	}
	link->trial = (struct bench_trial){.window = WINDOW, .idle_us = what->idle_us};
	if (what->load > 0)
		link->trial = (struct bench_trial){
			.rate = (uint64_t)(what->load * (double)highest), .window = WINDOW_PACED};
	*state = link;
	return 0;
}

static int measure_link(void *state, enum bench_subject subject, double seconds,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	struct link *link = state;

	link->trial.seconds = seconds;
	return bench_rig_trial(&link->rig, subject, &link->trial, sample, message);
}

static void close_link(void *state)
{
	struct link *link = state;

	if (!link)
		return;
	bench_rig_close(&link->rig);
	free(link);
}

static void describe_link(void *state, json_t *machine, json_t *found)
{
	const struct link *link = state;

	(void)found;
	bench_rig_describe(&link->rig, machine);
}

const struct bench_runner bench_dpdk_link = {
	.path = "dpdk",
	.mode = "link",
	.what = "a generator process on another core, and memif between it and the balancer",
	.bound = "receive, swap MACs, send, by the same process on the same port",
	.synthetic = true,
	.primed = true,
	.able = bench_rig_able,
	.open = open_link,
	.measure = measure_link,
	.close = close_link,
	.describe = describe_link,
};
