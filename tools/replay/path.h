/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One datapath as guideway-replay drives it: a frame in at a moment, its fate and the frames that
 * leave out. Two of them, path_dpdk.c and path_xdp.c, run the real pipelines.
 */
#pragma once

#include "abi/verdict.h"
#include "abi/xdp_maps.h"
#include "control/builder.h"

#include <stddef.h>
#include <stdint.h>

#define REPLAY_FRAME_MAX 65535
#define REPLAY_OUT_MAX	 4 /* frames that one input can become, today one */

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
	struct frame out[REPLAY_OUT_MAX];
	size_t out_count;
};

struct path {
	const char *name;
	/* Puts the snapshot in force. 0 or -errno after a message. */
	int (*open)(struct gw_snapshot *snapshot, uint64_t flows);
	/* 0 or -errno after a message; `fate` keeps its frames' room. */
	int (*run)(const uint8_t *frame, size_t length, uint64_t now_ns, struct fate *fate);
	/* What the path counted. 0 or -errno. */
	int (*counters)(struct gw_counters *counters);
	void (*close)(void);
};

extern const struct path path_dpdk;
extern const struct path path_xdp;
