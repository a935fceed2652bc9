/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The balancer as guideway-control loads it (control/xdp_object.h), its maps filled by control's
 * publisher code from a case's build: what xdp/cpu.c and xdp/link.c measure. Nothing is pinned, the
 * clock is the real one. One thread, except what xdp_swaps_start starts.
 */
#pragma once

#include "bench/core/bench.h"
#include "control/xdp_tables.h"

#include <pthread.h>
#include <sched.h>

/* Puts tables in force at a steady pace, on any CPU but the measured one. */
struct xdp_swaps {
	pthread_t thread;
	bool running;
	bool stop;     /* atomic */
	uint64_t done; /* atomic: snapshots put in force */
	uint32_t per_second;
	bool held; /* none are made for now */
	int error; /* the first; ends the thread */
};

struct xdp_balancer {
	struct gw_xdp_object object;
	struct gw_xdp_tables tables;
	struct gw_build *builds[2]; /* the second only for swaps */
	uint64_t version;	    /* in force */
	int cpu;		    /* the measured one */
	struct xdp_swaps swaps;
};

/*
 * Loads it and puts the case's tables in force. Frames are taken on `ifindex`, to BENCH_OUR_MAC,
 * and leave by it. 0 or -errno with a message; fini is fine after a failure too.
 */
int xdp_balancer_init(struct xdp_balancer *balancer, const struct bench_machine *machine,
	const struct bench_case *what, int ifindex, char message[BENCH_MESSAGE]);
void xdp_balancer_fini(struct xdp_balancer *balancer);

/* Puts one of its builds in force, as the next version. 0, or -errno and a line in `why`. */
int xdp_balancer_publish(
	struct xdp_balancer *balancer, struct gw_build *build, char why[static GW_XDP_WHY]);

/* Flows that never send take up this share of the room in the flow table, which has more words. */
void xdp_balancer_fill(struct xdp_balancer *balancer, double share);

/* To be called at least every second: without it the program looks up routes by itself. */
void xdp_balancer_beat(struct xdp_balancer *balancer);

/* A runner's packets for about `seconds`; `run` is the runner's own. */
typedef int xdp_rounds(
	void *run, enum bench_subject subject, double seconds, struct bench_sample *sample);

/*
 * The runner's rounds through the balancer, with the case's swaps beside them: their number and the
 * counters' growth go into the sample, with the names of the drops as its note. 0 or -errno.
 */
int xdp_balancer_measure(struct xdp_balancer *balancer, xdp_rounds *rounds, void *run,
	double seconds, struct bench_sample *sample);

/* The calling thread to one CPU; `before` takes what it had. 0 or -errno. */
int xdp_pin(int cpu, cpu_set_t *before);

/* 0 or -errno. None are made when the case wants none. */
int xdp_swaps_start(struct xdp_balancer *balancer);
/* Ends it; returns how many were made, or -errno. */
int64_t xdp_swaps_stop(struct xdp_balancer *balancer);

/* Could this process load and run eBPF? As bench_runner's able. */
int xdp_able(const struct bench_machine *machine, char message[BENCH_MESSAGE]);
/* What the kernel is and does, into the report. */
void xdp_describe(const struct xdp_balancer *balancer, json_t *machine, json_t *found);
