/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A publisher puts snapshots in force in one datapath and reads back what the datapath counts.
 * There is one for DPDK (publish_dpdk.c: sealed memfds over the dataplane's socket) and one for XDP
 * (publish_xdp.c: pinned maps); the rest of control sees only this table.
 *
 * All calls come from the event loop's thread. Publishers hang their own handles on the loop
 * (socket, netlink, timers) and report through struct gw_publisher_events.
 */
#pragma once

#include "abi/dataplane_socket.h"
#include "abi/key.h"
#include "abi/snapshot.h"
#include "abi/verdict.h"
#include "control/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A finished snapshot, immutable: all of abi/snapshot.h's image but the tables, which are shared
 * with other snapshots (table.h). Counted references: a publisher that keeps it past publish()
 * takes one. Made by builder.c.
 */
struct gw_snapshot {
	const struct gw_snapshot_header *data; /* malloced */
	size_t size;			       /* bytes of data */
	/* By position in the section of pools, NULL without members. The array NULL: data is a
	 * whole image with its tables in it. */
	struct gw_pool_table **tables;
	unsigned int references;
};

struct gw_snapshot *gw_snapshot_ref(struct gw_snapshot *snapshot);
void gw_snapshot_unref(struct gw_snapshot *snapshot); /* NULL is fine */

/* The slots of the pool at this position; NULL when it has no members. */
const uint16_t *gw_snapshot_slots(const struct gw_snapshot *snapshot, size_t position);

/*
 * The image with the tables of the pools whose position is true in `wanted` (NULL: all) and the
 * others "as before". image_write fills image_size bytes, aligned to 8; image_front only what
 * lies before the tables: the snapshot's own size.
 */
size_t gw_snapshot_image_size(const struct gw_snapshot *snapshot, const bool *wanted);
void gw_snapshot_image_front(
	const struct gw_snapshot *snapshot, const bool *wanted, struct gw_snapshot_header *image);
void gw_snapshot_image_write(
	const struct gw_snapshot *snapshot, const bool *wanted, struct gw_snapshot_header *image);

/* The whole image in memory of its own (image->total_size bytes), for free(); NULL: no memory. */
struct gw_snapshot_header *gw_snapshot_image_whole(const struct gw_snapshot *snapshot);

struct gw_flow_sample;
struct gw_publisher;

struct gw_publisher_events {
	void *owner;
	/* The datapath is there and can take snapshots (true), or is gone (false: a new one may
	 * come). */
	void (*datapath)(void *owner, bool present, const char *detail);
	/* The snapshot of this version decides packets now; `took_ns` from publish(), or
	 * from when the datapath appeared that it waited for, until the datapath said so, however
	 * late that was read. */
	void (*in_force)(void *owner, uint64_t version, uint64_t took_ns);
	/* It does not, and what was in force still is; `why` is one line for the log. */
	void (*refused)(void *owner, uint64_t version, const char *why);
};

struct gw_flow_answer {
	bool found;
	uint32_t backend; /* global id */
	uint32_t state;	  /* enum gw_flow_state */
	uint32_t age;	  /* seconds */
};

/* Sums over workers or CPUs, by global id; the arrays belong to the publisher, valid until the next
 * call. */
struct gw_publisher_stats {
	struct gw_counters counters;
	const struct gw_traffic *backends;
	const uint32_t *backend_flows; /* active flows, at most one sweep old */
	size_t backend_count;
	const struct gw_traffic *services;
	size_t service_count;
	const struct gw_worker_stats *workers; /* path dpdk */
	size_t worker_count;
	const struct gw_port_stats *ports;
	size_t port_count;
	uint64_t flows_active;
	uint64_t flow_capacity;
};

struct gw_publisher_ops {
	const char *name; /* "dpdk", "xdp" */
	/*
	 * Starts to put the snapshot in force; the newest one given wins over those still waiting.
	 * Without a datapath it is kept (referenced) and sent when one appears. Answers by events.
	 * Returns 0 or -errno.
	 */
	int (*publish)(struct gw_publisher *publisher, struct gw_snapshot *snapshot);
	/* Version in force, 0 for none. After a restart of control: what the datapath still runs.
	 */
	uint64_t (*version)(struct gw_publisher *publisher);
	/* Fresh numbers, within 200 ms. -ENOTCONN without a datapath. */
	int (*stats)(struct gw_publisher *publisher, struct gw_publisher_stats *stats);
	/* The same, at most a second old, without waiting for the datapath. */
	int (*recent)(struct gw_publisher *publisher, struct gw_publisher_stats *stats);
	/* One flow, exactly. -ENOTCONN without a datapath. */
	int (*flow)(struct gw_publisher *publisher, const struct gw_flow_key *key,
		struct gw_flow_answer *answer);
	/*
	 * The sample of flows (abi/flow_sample.h): borrowed memory that the datapath goes on
	 * writing, valid until the next call. -ENOTCONN without a datapath.
	 */
	int (*samples)(struct gw_publisher *publisher, const struct gw_flow_sample **samples,
		size_t *count);
	/* Whether the datapath answers for addresses that it announces; kept for datapaths that
	 * come later. */
	void (*withdraw)(struct gw_publisher *publisher, bool withdrawn);
	/* A JSON object with what is particular to the path (ports, modes, program ids …), for
	 * `status`. */
	struct json_t *(*describe)(struct gw_publisher *publisher);
	/* Lets go; the datapath forwards on. NULL is fine. */
	void (*close)(struct gw_publisher *publisher);
};

struct gw_publisher {
	const struct gw_publisher_ops *ops;
};
