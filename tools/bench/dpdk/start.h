/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DPDK in guideway-bench's own process: started once, by the first case that needs it, with an
 * lcore for each CPU that a worker of any later case may want. Lcores without work sleep.
 */
#pragma once

#include "bench/core/bench.h"

/* The lcore that worker 0, 1 … runs on: the measured CPU, then those after it, and round. */
static inline unsigned int dpdk_lcore(uint32_t worker)
{
	return worker + 1;
}

/* The worker's CPU; -1: this process may use no more. */
int dpdk_cpu(const struct bench_machine *machine, uint32_t worker);

/* 0 or -errno with a message. The calling thread becomes DPDK's main one, on the other CPUs. */
int dpdk_start(const struct bench_machine *machine, char message[BENCH_MESSAGE]);
