/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What packet_cost_dpdk and packet_cost_xdp have in common: the cases, the frames, the snapshot.
 * A case is one common packet: TCP with ACK of a tracked, established flow, or of one of a service
 * that tracks none.
 */
#pragma once

#include "control/builder.h"
#include "control/config.h"

#include <stddef.h>
#include <stdint.h>

#define COST_FLOWS 2048
#define COST_FRAME 128 /* room that a frame needs */
#define COST_SYN   0x02
#define COST_ACK   0x10

struct cost_case {
	const char *name;
	uint8_t family;
	struct gw_address vip;
	bool untracked;
};

/* The case of that name; ends the program with a list of the names when there is none. */
const struct cost_case *cost_case_find(const char *name);

/* Writes the frame of a flow (0 to COST_FLOWS - 1) with these TCP flags; returns its length. */
size_t cost_frame(
	const struct cost_case *cost, uint32_t flow, uint8_t tcp_flags, uint8_t out[COST_FRAME]);

/*
 * The snapshot of packet_cost.yaml, where all services are as the case wants its own; ends the
 * program with a message when there is none.
 */
struct gw_build *cost_build(const struct cost_case *cost);
