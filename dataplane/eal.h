/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting DPDK: one lcore per worker on its own CPU, the main lcore on those that are left. */
#pragma once

#include "args.h"

/* The worker's lcore: the main one is 0. */
static inline unsigned int gw_eal_lcore(uint32_t worker)
{
	return worker + 1;
}

/*
 * Starts EAL. Logs what is wrong. Returns 0; -EINVAL when a CPU is not this process's to use; or
 * EAL's own error.
 */
int gw_eal_start(const struct gw_args *args);
