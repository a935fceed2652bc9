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

struct gw_engine {
	struct gw_generation
		*generation;	       /* in force; NULL before the first. Main swaps it (atomic) */
	struct gw_generation *retired; /* waiting for readers, newest first; main's */
	struct rte_rcu_qsbr *rcu;
	struct gw_flow_table flows;
	struct gw_fragment_table fragments;
	struct gw_next_hops hops;
	struct gw_port port[GW_PORTS_MAX];
	uint16_t port_count;
	uint16_t worker_count;
	struct gw_worker *worker[GW_WORKERS_MAX];
	struct rte_mempool *pool; /* frames of the host thread come from here too */
	uint32_t *backend_flows;  /* [GW_MAX_BACKENDS], written by the sweeper (atomic words) */
	uint64_t flows_active;	  /* written by the sweeper (atomic) */
	struct gw_flow_sample *samples; /* [GW_FLOW_SAMPLES], workers write; NULL: none wanted */
	uint64_t start_time_ns;		/* CLOCK_MONOTONIC */
	uint64_t too_big_limit;		/* abi/limit.h; all workers change it (atomic) */
	bool withdrawn; /* attract no traffic: no ARP or neighbour answers (atomic) */
};

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
