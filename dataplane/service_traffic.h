/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker's counters of services. Ten thousand of them are touched at random, so what a packet
 * touches is small: one word a service, its packets above and its bytes below, changed by one
 * addition. Long before either overflows, the word is settled: the worker adds it to the service's
 * whole counters and begins anew.
 *
 * The worker writes them, main reads at any time: it looks whether the worker settled meanwhile
 * (worker->service_settles, odd while it does), and if so looks again.
 */
#pragma once

#include "pipeline.h"

#define GW_BRIEF_PACKET (1ull << 40) /* one packet; bytes below */
#define GW_BRIEF_FULL	(1ull << 63) /* 8 Mi packets, of at most 64 KiB: bytes still fit */

/* Out of line: once in 8 Mi packets of a service. */
void gw_service_settle(struct gw_worker *worker, uint32_t service);

/* What the worker has counted of a service. Any thread. */
struct gw_traffic gw_service_traffic_read(const struct gw_worker *worker, uint32_t service);

static __rte_always_inline void gw_service_count(
	struct gw_worker *worker, uint64_t *brief, uint32_t service, uint32_t bytes)
{
	uint64_t sum = brief[service] + (GW_BRIEF_PACKET | bytes);

	__atomic_store_n(&brief[service], sum, __ATOMIC_RELAXED);
	if (unlikely(sum & GW_BRIEF_FULL))
		gw_service_settle(worker, service);
}
