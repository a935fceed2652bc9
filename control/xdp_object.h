/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The XDP program and its maps, loaded or adopted, and the mapped memory of those that are
 * mmapable. One owner, one thread.
 */
#pragma once

#include "abi/verdict.h"
#include "abi/xdp_maps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GW_XDP_BACKENDS 65536u /* backend ids the maps have room for */

struct xdp_lb_bpf;

struct gw_xdp_object {
	struct xdp_lb_bpf *skeleton;
	int program;
	bool adopted; /* the maps were pinned before */
	struct gw_xdp_config *config;
	struct gw_span *spans; /* two halves of GW_MAX_SPANS */
	struct gw_service *services;
	struct gw_backend *backends;
	struct gw_paths *paths; /* [GW_MAX_PATHS] */
	struct gw_flow_bucket *flows;
	struct gw_flow_sample *samples;
	struct gw_xdp_trace *trace;
	uint32_t bucket_count;
	int cpus;	  /* possible ones: values of a per-CPU map */
	uint64_t *values; /* room for all CPUs' values of the largest per-CPU map */
};

struct gw_xdp_object_options {
	const char *pin_dir; /* NULL: nothing is pinned (test runs) */
	uint64_t flows;	     /* to make room for, 16 bytes each. Adopted maps keep
				theirs */
	bool tracing;
};

/* Logs what is wrong. Returns 0 or -errno; -EPROTO: the pinned maps are of another ABI. */
int gw_xdp_object_open(struct gw_xdp_object *object, const struct gw_xdp_object_options *options);
void gw_xdp_object_close(struct gw_xdp_object *object);

/* Sums over all CPUs. */
int gw_xdp_counters(const struct gw_xdp_object *object, struct gw_counters *sum);
enum gw_xdp_traffic { GW_XDP_TRAFFIC_BACKENDS, GW_XDP_TRAFFIC_SERVICES };
int gw_xdp_traffic(const struct gw_xdp_object *object, enum gw_xdp_traffic which, uint32_t id,
	struct gw_traffic *sum);

/* All CPUs begin at nothing again: the number has a new owner. */
int gw_xdp_traffic_clear(
	const struct gw_xdp_object *object, enum gw_xdp_traffic which, uint32_t id);

/* The flow's word by the rules of abi/flow_word.h; GW_FLOW_EMPTY: none. `now` in seconds. */
uint64_t gw_xdp_flow_find(
	const struct gw_xdp_object *object, const struct gw_flow_key *key, uint32_t now);

/* Mounts a bpffs where `pin_dir` has to lie in one and makes the folder; says so when it mounts. */
int gw_xdp_pin_dir_make(const char *pin_dir);
/*
 * One process alone writes what is pinned there: returns a descriptor that holds the folder until
 * it is closed, -EBUSY while another holds it, -ENOTDIR when the folder is in no bpffs.
 */
int gw_xdp_pin_dir_lock(const char *pin_dir);
