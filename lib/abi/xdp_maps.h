/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* clang-format off */
/*
 * What the XDP program and its user space share beyond objects.h: the maps' names and values.
 *
 *	gw_config     array[1]          struct gw_xdp_config: seeds, timeouts, heartbeat, ports
 *	gw_vips       hash              address (16 bytes) -> struct gw_vip, full-length prefixes
 *	gw_vip_trie   LPM trie          struct gw_vip_key -> struct gw_vip, shorter prefixes
 *	gw_spans      array             struct gw_span; two halves, the publisher fills the idle one
 *	gw_services   array             struct gw_service by service id
 *	gw_backends   array             struct gw_backend by backend id, with its live link
 *	gw_pools      array of maps     by pool id; inner: array of struct gw_pool_row
 *	gw_flows      array             struct gw_flow_bucket
 *	gw_flow_samples   array         struct gw_flow_sample
 *	gw_counters   per-CPU array[1]  struct gw_counters
 *	gw_backend_traffic, gw_service_traffic   per-CPU array of struct gw_traffic
 *	gw_tx_ports   devmap            port index -> ifindex
 *	gw_paths      array             struct gw_paths, by gw_link_record of a multipath link
 *	gw_fragments  LRU hash          struct gw_fragment_key -> struct gw_fragment_decision
 *	gw_endpoints  hash              backend address -> struct gw_endpoint
 *	gw_path_mtus  LRU hash          backend address -> what is learnt (abi/path_mtu.h)
 *
 * The plain arrays and the inner maps are mmapable: user space reads and writes them in place.
 *
 * An inner map holds one pool, so that one pointer swap changes table and members together. The
 * kernel does not inline look-ups in inner maps, so its rows are large: the first has the head and
 * up to 67,552 slots, all that a table of the default size has. Of a larger one, rows from 1 on
 * have further slots, 65,536 each. A slot names its backend itself (u16, by global id), not a
 * member of the pool.
 */
/* clang-format on */
#pragma once

#include "abi/flow_word.h"
#include "abi/objects.h"
#include "abi/path_mtu.h"

#define GW_XDP_ABI_VERSION  4u
#define GW_POOL_FIRST_SLOTS 67552 /* in row 0 */
#define GW_POOL_ROW_SLOTS   65536 /* in each further row */
#define GW_XDP_MAX_PORTS    32

/* The datapath looks up routes by itself once control has been silent for so long. */
#define GW_XDP_HEARTBEAT_STALE_NS 3000000000ull

struct gw_pool_head {
	uint32_t table_size;
	uint32_t member_count;
	uint64_t members_hash; /* control's, of the members' backend ids in their order */
	uint64_t table_version;
	struct gw_digest digest;
	uint32_t pool;
	uint8_t reserved[20];
};
_Static_assert(sizeof(struct gw_pool_head) == 64, "pool head layout");

struct gw_pool_row {
	union {
		struct {
			struct gw_pool_head head;
			uint16_t first_slots[GW_POOL_FIRST_SLOTS];
		};
		uint16_t slots[GW_POOL_ROW_SLOTS];
	};
};
_Static_assert(sizeof(struct gw_pool_row) == 33 * 4096, "a row is whole pages");

struct gw_vip_key {
	uint32_t prefix_length;
	struct gw_address address;
};

#define GW_XDP_HAVE_TRIE     0x1u /* some service address is a prefix: look there after a miss */
#define GW_XDP_CLOCK_STOPPED 0x2u /* time is stopped_ns, the heartbeat always fresh */
#define GW_XDP_WITHDRAWN     0x4u /* the node attracts no traffic: no ARP or neighbour answers */
#define GW_XDP_ANY_MAC	     0x8u /* frames to any destination MAC are taken (replay) */

struct gw_xdp_config {
	uint32_t abi_version;
	uint32_t flags;
	uint64_t hash_seed;
	uint64_t flow_seed;    /* random, drawn once when the maps are made */
	uint64_t heartbeat_ns; /* CLOCK_MONOTONIC; written by control each second */
	uint64_t stopped_ns;   /* the replay's clock, with GW_XDP_CLOCK_STOPPED */
	uint64_t snapshot_version;
	struct gw_flow_timeouts timeouts;
	uint32_t bucket_count; /* of gw_flows */
	uint32_t port_count;
	uint32_t fragment_ms;	 /* as in the snapshot's header */
	uint32_t control_lost_s; /* as in the snapshot's header; silence is the heartbeat's age */
	uint32_t port_ifindex[GW_XDP_MAX_PORTS];
	/* Six bytes each. A frame that came in on a port for another's unicast MAC is the host's;
	 * all zero: not known, every frame is taken. */
	uint8_t port_mac[GW_XDP_MAX_PORTS][8];
	struct gw_tunnel_source source[GW_PATH_MTU_SOURCES]; /* ours; written by control */
	/* Second in which the last path MTU that the program has learnt ends; 0: none is known. */
	uint32_t path_mtu_until;
	/* Raised after each change of addresses, spans or services, and again once it has settled:
	 * what the program remembers of them is of one generation. */
	uint32_t services_generation;
};

/*
 * Does the node attract no traffic just now: by order, or because control has been silent for too
 * long? Then addresses are not announced and echo requests for them not answered; whatever comes
 * all the same is forwarded as ever. now_ns: CLOCK_MONOTONIC.
 */
static inline bool gw_xdp_withdrawn(const struct gw_xdp_config *config, uint64_t now_ns)
{
	if (config->flags & GW_XDP_WITHDRAWN)
		return true;
	return config->control_lost_s && !(config->flags & GW_XDP_CLOCK_STOPPED) &&
	       (int64_t)(now_ns - config->heartbeat_ns) >
		       (int64_t)config->control_lost_s * 1000000000;
}

/* The last packet's decision, for replay; written only by a program loaded with tracing on. */
struct gw_xdp_trace {
	uint32_t verdict; /* enum gw_verdict */
	uint32_t reason;  /* enum gw_drop when verdict is drop */
	uint32_t service; /* GW_NONE when none matched */
	uint32_t backend; /* global id, or GW_NONE */
	uint64_t hash;
	uint32_t slot;
	uint32_t flow; /* enum gw_trace_flow */
};

enum gw_trace_flow {
	GW_TRACE_NONE = 0,	 /* never came to the flow table */
	GW_TRACE_HIT = 1,	 /* tracked, stayed */
	GW_TRACE_NEW = 2,	 /* inserted */
	GW_TRACE_MOVED = 3,	 /* tracked, its backend could not keep it */
	GW_TRACE_UNTRACKED = 4,	 /* by the table, not remembered for want of room */
	GW_TRACE_TABLE_ONLY = 5, /* by the table: its service does not track flows */
};
