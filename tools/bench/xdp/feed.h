/* SPDX-License-Identifier: BSD-2-Clause */
/* Fills what the feeders of bpf/bench_feed.h go by. */
#pragma once

#include "bench/core/bench.h"
#include "bench_feed.h"

#define XDP_FEED_SIZES 3 /* kinds of frames in a case at most: those of an IMIX */

/* One size of a case's frames and how often it comes: `weight` of the sum of weights. */
struct xdp_feed_size {
	uint64_t number; /* of a frame that has it (bench_frame_write) */
	uint32_t weight;
};

/* The sizes of a case; returns how many. */
uint32_t xdp_feed_sizes(const struct bench_frames *frames, struct xdp_feed_size *sizes);

/* Templates, services and length of frame `number`; leaves the choice of flows as it is. */
void xdp_feed_shape(struct bench_feed *feed, const struct bench_frames *frames, uint64_t number);

/* Flows first … first + flows - 1 one after the other. */
void xdp_feed_in_turn(struct bench_feed *feed, uint64_t first, uint64_t flows);
/* The case's flows at random, and its share of new ones. */
void xdp_feed_at_random(struct bench_feed *feed, const struct bench_case *what);

/* TCP flags of a frame of that kind, as bench_frame_write takes them. */
uint8_t xdp_feed_flags(uint32_t kind);
