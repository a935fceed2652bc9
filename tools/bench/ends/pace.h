/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The schedule of a paced trial, and latencies that count from it.
 *
 * Frame k (from 0) of a trial that begins at tick `start` is due at start + (k + 1) * hz / rate. It
 * may go later: the ring to the subject is full as the subject stands still, the port takes no
 * more, or the generator's core was taken away. Its latency counts from when it was due all the
 * same. Were it counted from when the frame went, each stall would be in the few frames only that
 * were on their way, and those that it kept from going would seem quick: coordinated omission.
 *
 * A frame that in the end is not sent counts with the time for which it had waited, so that giving
 * up does not make the tail shorter.
 *
 * Unit: ticks of the TSC, or whatever `hz` are a second. One thread.
 */
#pragma once

#include "latency.h"

#define BENCH_LATE_US 100 /* a frame that goes so much after it was due is late */

struct bench_pace {
	uint64_t start, hz, rate;
	uint64_t done;	/* frames of the schedule that were sent or given up */
	uint64_t late;	/* of those sent */
	uint64_t never; /* given up */
};

/* `rate` in frames a second, not 0. */
void bench_pace_begin(struct bench_pace *pace, uint64_t start, uint64_t hz, uint64_t rate);
/* How many are due and not done. */
uint64_t bench_pace_due(const struct bench_pace *pace, uint64_t now);
/* When the frame was due that goes after `ahead` others that are not done; at most `now`. */
uint64_t bench_pace_time(const struct bench_pace *pace, uint64_t ahead, uint64_t now);
/* The next `count` are sent. */
void bench_pace_sent(struct bench_pace *pace, uint64_t count, uint64_t now);
/* The next `count` are not; one frame in `share` counts, as of those that are timed. */
void bench_pace_give_up(struct bench_pace *pace, uint64_t count, uint32_t share, uint64_t now,
	struct bench_latency *latency);
