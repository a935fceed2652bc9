/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One datapath as guideway-replay drives it: frames in at a moment; verdicts, and the frames that
 * leave, out. Two of them, path_dpdk.c and path_xdp.c, run the real pipelines. A verdict may come
 * later than its packet (a held fragment's), so paths report them through a sink.
 */
#pragma once

#include "abi/packet.h"
#include "abi/verdict.h"
#include "abi/xdp_maps.h"
#include "control/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ports' own; the link hint (gw_link_hint_fixed) sends from it too. */
#define REPLAY_OUR_MAC                                                                             \
	{                                                                                          \
		2, 0, 0, 0, 0, 2                                                                   \
	}
/* The longest IP packet behind an Ethernet header with two tags. */
#define REPLAY_IN_MAX (65535 + 14 + 8)
/* What encapsulation adds to it at most. */
#define REPLAY_FRAME_MAX (REPLAY_IN_MAX + 128)
#define REPLAY_OUT_MAX	 64 /* frames that one input can become: inner fragmentation */

struct frame {
	uint8_t *bytes; /* room for REPLAY_FRAME_MAX */
	size_t length;
};

struct fate {
	enum gw_verdict verdict;
	enum gw_drop reason; /* when the verdict is drop */
	uint32_t service;    /* id or GW_NONE */
	uint32_t backend;    /* id or GW_NONE */
	uint64_t hash;
	uint32_t slot; /* GW_NONE: the table was not asked */
	enum gw_trace_flow flow;
	size_t out_count;
	struct frame *out; /* valid during the call that reports them */
};

/*
 * Told of each packet's verdict, by its index: once, or twice when the first is HELD. The frames
 * that leave are told in the order in which they leave.
 */
struct sink {
	void (*decided)(void *owner, uint64_t index, const struct fate *fate);
	void *owner;
};

/* The record of the ways of next hops that have several. */
#define REPLAY_WAYS_RECORD 1

struct path_setup {
	struct gw_snapshot *snapshot;
	uint64_t flows;
	const struct gw_paths *ways; /* what is in REPLAY_WAYS_RECORD */
	bool untraced;		     /* xdp: the program that does not trace must do the same */
};

struct path {
	const char *name;
	/* Puts the snapshot in force. 0 or -errno after a message. */
	int (*open)(const struct path_setup *setup, const struct sink *sink);
	/* One frame of GW_ETH_HEADER to REPLAY_IN_MAX bytes. 0 or -errno after a message. */
	int (*run)(uint64_t index, const uint8_t *frame, size_t length, uint64_t now_ns);
	/* All timers run out: who is held gets a verdict. */
	void (*finish)(void);
	/* What stands in the flow table for this full key; GW_FLOW_EMPTY: nothing. */
	uint64_t (*flow)(const struct gw_flow_key *key);
	/* What the path counted. 0 or -errno. */
	int (*counters)(struct gw_counters *counters);
	void (*close)(void);
};

extern const struct path path_dpdk;
extern const struct path path_xdp;

/* Room for the frames of one packet. NULL without memory. */
struct frame *frames_alloc(void);
void frames_free(struct frame *frames); /* NULL is fine */
