/* SPDX-License-Identifier: BSD-2-Clause */
/* The bound of DPDK's modes: receive, swap MACs, send, on one queue of one port. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct forwarder {
	uint16_t ethdev, queue;
	uint16_t burst; /* frames at once, at most GW_BURST_MAX; 0: as many as the workers */
	bool io;	/* leaves the MACs as they are, like testpmd's io */
	bool stop;	/* atomic */
	/* Written by its thread, read when it has stopped. */
	uint64_t received, sent;
	uint64_t busy_cycles, total_cycles;
};

/* Until `stop`. An lcore function; `arg` is the struct forwarder. */
int forwarder_run(void *arg);
