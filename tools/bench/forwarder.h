/* SPDX-License-Identifier: BSD-2-Clause */
/* The bound of link and nic: receive, swap MACs, send, on one queue of one port. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct forwarder {
	uint16_t ethdev, queue;
	bool stop; /* atomic */
	/* Written by its thread, read when it has stopped. */
	uint64_t received, sent;
	uint64_t busy_cycles, total_cycles;
};

/* Until `stop`. An lcore function; `arg` is the struct forwarder. */
int forwarder_run(void *arg);
