/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What bench_link.bpf.c and its user space share. All of it is of one run: a call of live frames
 * and what comes back of them. User space clears it before and reads it after.
 */
#pragma once

#include "abi/types.h"

#define BENCH_LINK_SAMPLES    64
#define BENCH_LINK_SAMPLE_MAX 1600
/* The far end tells the generator what arrived only so often: the line moves between two CPUs. */
#define BENCH_LINK_TOLD 16
/* The generator looks at the clock every so many frames; a longer pause was none of its own. */
#define BENCH_LINK_LOOK	   16
#define BENCH_LINK_AWAY_NS 100000

/* Written by the generator's CPU. */
struct bench_link_sent {
	uint64_t packets;
	uint64_t arrived;  /* as last read */
	uint64_t waited;   /* frames held back because too many were on their way */
	uint64_t begin_ns; /* CLOCK_MONOTONIC of the first */
	uint64_t runs;	   /* frames made: sent or held back */
	uint64_t seen_ns;  /* CLOCK_MONOTONIC, now and then */
	uint64_t away_ns;  /* between the first frame and the last, while another had this CPU */
	uint32_t window;   /* on their way at most; user space's */
	uint32_t reserved;
	uint64_t gone_ns;      /* away, and not yet known to lie before the last arrival … */
	uint64_t gone_packets; /* … which it does when more than so many have arrived */
} __attribute__((aligned(GW_CACHE_LINE)));

/* Written by the CPU on which the far end's frames arrive. */
struct bench_link_arrived {
	uint64_t packets;
	uint64_t end_ns;       /* CLOCK_MONOTONIC of the last that was told … */
	uint64_t end_packets;  /* … and how many had arrived by then */
	uint64_t sample_every; /* packets, and the first; user space's */
	uint64_t samples;
	uint64_t reserved[3];
} __attribute__((aligned(GW_CACHE_LINE)));

struct bench_link_told {
	uint64_t packets;
	uint64_t reserved[7];
} __attribute__((aligned(GW_CACHE_LINE)));

struct bench_link_sample {
	uint32_t length;
	uint32_t reserved; /* an array's values are whole numbers of 8 bytes */
	uint8_t bytes[BENCH_LINK_SAMPLE_MAX];
};
_Static_assert(sizeof(struct bench_link_sample) % 8 == 0, "user space sees an array of them");
