/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Everything the dataplane's threads share: the ports, the flow table, the live next hops, the
 * generation in force and the workers. main.c drives it from the command line and the control
 * socket; tests and guideway-replay make an engine of their own and feed workers by hand.
 *
 *	main      owns the struct; loads snapshots, frees old generations, sums statistics
 *	workers   gw_worker_run on their lcores: receive, gw_pipeline_run, transmit, sleep
 *	sweeper   ages the flow table and counts flows per backend
 *	host      exception traffic, netlink: host.h, neighbour.h
 */
#pragma once

#include "flow_table.h"
#include "fragment_table.h"
#include "generation.h"
#include "next_hop.h"
#include "pipeline.h"
#include "port.h"

#include <pthread.h>

/* RCU reader ids: worker index, then these. */
#define GW_RCU_SWEEPER (GW_WORKERS_MAX)
#define GW_RCU_HOST    (GW_WORKERS_MAX + 1)
#define GW_RCU_READERS (GW_WORKERS_MAX + 2)

/*
 * By who writes: what one thread changes while packets flow has no cache line in common with what
 * workers read for each of them, or with what another thread changes. docs/performance.md has the
 * list of all lines that workers share, tests/unit/dp_sharing.c the proof.
 */
struct gw_engine {
	/* Written before the workers start, then only read; each packet reads some of it. */
	struct rte_rcu_qsbr *rcu;
	struct gw_flow_table flows;
	struct gw_flow_sample *samples; /* [GW_FLOW_SAMPLES], workers write; NULL: none wanted */
	uint16_t port_count;
	uint16_t worker_count;
	struct gw_worker *worker[GW_WORKERS_MAX];
	struct rte_mempool *pool; /* frames of the host thread come from here too */
	uint32_t *backend_flows;  /* [GW_MAX_BACKENDS], written by the sweeper (atomic words) */
	uint64_t start_time_ns;	  /* CLOCK_MONOTONIC */
	struct gw_port port[GW_PORTS_MAX]; /* but for a link's state and MTU: port.h */

	/* In force; NULL before the first. Main swaps it (atomic), workers read it each burst. */
	struct gw_generation *generation __rte_cache_aligned;

	/* Waiting for readers, newest first; main's. */
	struct gw_generation *retired __rte_cache_aligned;

	struct gw_next_hops hops;	    /* its own header tells */
	struct gw_fragment_table fragments; /* same */

	/* Written by the sweeper (atomic), once a walk. */
	uint64_t flows_active __rte_cache_aligned;

	/* abi/limit.h; all workers change it (atomic), once for each too-big answer. */
	uint64_t too_big_limit __rte_cache_aligned;

	/* Attract no traffic: no ARP or neighbour answers. Written by main (atomic). */
	bool withdrawn __rte_cache_aligned;
};

#define GW_ENGINE_LINE(field) (offsetof(struct gw_engine, field) / GW_CACHE_LINE)
_Static_assert(GW_ENGINE_LINE(generation) > GW_ENGINE_LINE(port[GW_PORTS_MAX - 1].link_up) &&
		       GW_ENGINE_LINE(retired) > GW_ENGINE_LINE(generation) &&
		       GW_ENGINE_LINE(hops) > GW_ENGINE_LINE(retired) &&
		       GW_ENGINE_LINE(hops.lock) > GW_ENGINE_LINE(hops.paths) &&
		       GW_ENGINE_LINE(fragments) > GW_ENGINE_LINE(hops.version) &&
		       GW_ENGINE_LINE(fragments.changes) > GW_ENGINE_LINE(fragments.seed) &&
		       GW_ENGINE_LINE(flows_active) > GW_ENGINE_LINE(fragments.changes) &&
		       GW_ENGINE_LINE(too_big_limit) > GW_ENGINE_LINE(flows_active) &&
		       GW_ENGINE_LINE(withdrawn) > GW_ENGINE_LINE(too_big_limit),
	"who writes shares no line with another");

struct gw_engine_options {
	uint64_t flows;
	uint16_t worker_count;
	const uint32_t *cpus; /* [worker_count], for statistics and the choice of NUMA nodes */
	bool busy_poll;
};

/*
 * Makes an engine without ports and with idle workers (no thread runs). Needs EAL. The caller adds
 * ports to port[] and port_count, then calls gw_engine_connect. Returns 0 or -errno and logs
 * nothing.
 */
int gw_engine_create(struct gw_engine **engine, const struct gw_engine_options *options);

/* Gives each worker its transmit buffers on the ports added so far. */
void gw_engine_connect(struct gw_engine *engine);

/* Frees all; no worker, sweeper or host thread may run any more. NULL is fine. Ports are closed by
 * their owner. */
void gw_engine_destroy(struct gw_engine *engine);

/*
 * Puts a finished generation in force and retires the old one; gw_engine_reclaim frees those that
 * no reader holds any more and returns how many still wait. Main only.
 */
void gw_engine_swap(struct gw_engine *engine, struct gw_generation *generation);
unsigned int gw_engine_reclaim(struct gw_engine *engine);

/* The flow timeouts in force; NULL before the first snapshot. Main, or a reader that is online. */
const struct gw_flow_timeouts *gw_engine_timeouts(const struct gw_engine *engine);

/* A worker's loop, until worker->stop. An lcore function; `arg` is the struct gw_worker. */
int gw_worker_run(void *arg);

/* Seconds of CLOCK_MONOTONIC, the time of every stamp. */
uint32_t gw_clock_seconds(void);
