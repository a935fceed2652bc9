/* SPDX-License-Identifier: BSD-2-Clause */
#include "service_traffic.h"

#include <sched.h>

static void add(struct gw_traffic *traffic, uint64_t brief)
{
	gw_count(&traffic->packets, brief / GW_BRIEF_PACKET);
	gw_count(&traffic->bytes, brief % GW_BRIEF_PACKET);
}

void gw_service_settle(struct gw_worker *worker, uint32_t service)
{
	uint32_t settles = worker->service_settles;

	__atomic_store_n(&worker->service_settles, settles + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	add(&worker->service_traffic[service], worker->service_brief[service]);
	__atomic_store_n(&worker->service_brief[service], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&worker->service_settles, settles + 2, __ATOMIC_RELEASE);
}

/* The three counters as they just are, whatever the worker does. */
static struct gw_traffic look(const struct gw_worker *worker, uint32_t service)
{
	const struct gw_traffic *from = &worker->service_traffic[service];
	struct gw_traffic seen = {
		.packets = __atomic_load_n(&from->packets, __ATOMIC_RELAXED),
		.bytes = __atomic_load_n(&from->bytes, __ATOMIC_RELAXED),
		.flows_new = __atomic_load_n(&from->flows_new, __ATOMIC_RELAXED),
	};

	add(&seen, __atomic_load_n(&worker->service_brief[service], __ATOMIC_RELAXED));
	return seen;
}

struct gw_traffic gw_service_traffic_read(const struct gw_worker *worker, uint32_t service)
{
	for (;;) {
		uint32_t before = __atomic_load_n(&worker->service_settles, __ATOMIC_ACQUIRE);
		struct gw_traffic seen = look(worker, service);

		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(before & 1) &&
			before == __atomic_load_n(&worker->service_settles, __ATOMIC_RELAXED))
			return seen;
		sched_yield(); /* to a worker that lost its CPU amid a dozen instructions */
	}
}
