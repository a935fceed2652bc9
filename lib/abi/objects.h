/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The records that say what the balancer does: service addresses, ports, services, backends, next
 * hops. The snapshot for DPDK is made of them, and the XDP maps hold the same structs as values, so
 * that both datapaths read one truth. Fixed width, explicit padding, no pointers; host byte order
 * except where a type says network order.
 *
 * Service match (design.md): the longest address prefix wins, with no fall-back to a shorter one. A
 * service address names, per protocol, a run of port spans: sorted, disjoint, already resolved by
 * the builder (exact port over narrowest range over any), so that a binary search finds the one
 * answer. A port in no span, and every protocol without spans, goes to `any_service` if there is
 * one.
 */
#pragma once

#include "abi/key.h"
#include "abi/types.h"

#define GW_MAX_POOLS	      4096
#define GW_MAX_SERVICES	      65536
#define GW_MAX_VIPS	      65536
#define GW_MAX_SPANS	      131072 /* in force at one time */
#define GW_MAX_BACKENDS	      (1u << 18)
#define GW_MAX_POOL_MEMBERS   65535
#define GW_MAX_TABLE_SIZE     5000011u
#define GW_DEFAULT_TABLE_SIZE 65537u

/*
 * A table's digest: XXH3-128 over table_size (u32, little endian), then for every slot its member's
 * key and a NUL. In canonical, big-endian byte order. Equal members give equal digests on every
 * node.
 */
struct gw_digest {
	uint8_t bytes[16];
};

/* One span of ports of one service address and one protocol; both ends belong to it. Host order. */
struct gw_span {
	uint16_t first;
	uint16_t last;
	uint32_t service;
};
_Static_assert(sizeof(struct gw_span) == 8, "span layout");

struct gw_span_run {
	uint32_t first; /* index of the run's first span */
	uint32_t count;
};

#define GW_VIP_NO_SERVICE_HOST                                                                     \
	0x01 /* unmatched ports and protocols go to the host, not to no_service */
#define GW_VIP_ANNOUNCE_L2 0x02 /* ARP requests and neighbour solicitations are answered here */
#define GW_VIP_NO_ECHO	   0x04 /* echo requests are not answered just now */

struct gw_vip {
	struct gw_address address;
	uint8_t prefix_length; /* of the 16-byte form: an IPv4 /32 is 128 */
	uint8_t flags;	       /* GW_VIP_* */
	uint16_t reserved;
	uint32_t any_service; /* GW_NONE when there is none */
	struct gw_span_run tcp;
	struct gw_span_run udp;
	struct gw_span_run sctp;
};
_Static_assert(sizeof(struct gw_vip) == 48, "vip layout");

/*
 * No flow of the service is remembered: each packet goes where its pool's table sends it just then,
 * and the flow table is neither read nor written.
 */
#define GW_SERVICE_UNTRACKED 0x01

/* A service is known by its index, which keeps its meaning across snapshots (counters hang on it).
 */
struct gw_service {
	uint32_t pool;	  /* GW_NONE: this index is not in use */
	uint8_t affinity; /* enum gw_affinity */
	uint8_t flags;	  /* GW_SERVICE_* */
	uint16_t reserved;
};
_Static_assert(sizeof(struct gw_service) == 8, "service layout");

enum gw_backend_state {
	GW_BACKEND_FREE = 0,   /* id not in use, or quarantined: whoever points here must move */
	GW_BACKEND_ACTIVE = 1, /* takes new flows when its pool's table names it */
	GW_BACKEND_DRAIN = 2,  /* keeps tracked flows, takes no new ones */
	GW_BACKEND_DOWN = 3, /* failed its checks: keeps flows only with GW_BACKEND_KEEP_ON_DOWN */
	GW_BACKEND_DISABLED = 4, /* taken out by hand or past its drain deadline: keeps nothing */
};

enum gw_encap {
	GW_ENCAP_IPIP = 0,
	GW_ENCAP_GUE = 1,
	GW_ENCAP_GRE = 2,
	GW_ENCAP_L2 = 3,
};

#define GW_BACKEND_KEEP_ON_DOWN 0x01 /* pool option on_down: keep */
#define GW_BACKEND_FLOW_LABEL	0x02 /* entropy: 20 bits of the hash in the outer IPv6 header */
#define GW_BACKEND_GUE_CHECKSUM 0x04 /* the outer UDP checksum over IPv6 is computed, not zero */

/*
 * How to reach one underlay destination, as two 8-byte words so that each changes atomically under
 * a reader. `port` is an index: into tx_ports (XDP) or of the ethdev (DPDK). Bits 4 to 15 of flags
 * are the VLAN id that frames leave with, 0 for none.
 *
 * With GW_LINK_MULTIPATH there are several ways: those bits are then the index of a struct
 * gw_paths, and all else means nothing. So a link becomes one of several ways by one write of one
 * word.
 */
#define GW_LINK_RESOLVED   0x0001
#define GW_LINK_MULTIPATH  0x0002
#define GW_LINK_VLAN_SHIFT 4

struct gw_link {
	uint8_t destination_mac[6];
	uint16_t port;
	uint8_t source_mac[6];
	uint16_t flags; /* GW_LINK_* ; 0: unresolved */
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct gw_link) == 16, "link layout");

GW_INLINE uint16_t gw_link_vlan(const struct gw_link *link)
{
	return link->flags >> GW_LINK_VLAN_SHIFT;
}

GW_INLINE uint32_t gw_link_record(const struct gw_link *link)
{
	return link->flags >> GW_LINK_VLAN_SHIFT;
}

/*
 * The ways of a multipath next hop: a flow takes the one of its hash's bucket (gw_paths_bucket).
 * Whoever keeps the links live gives each way its share of buckets and hands those of a way that is
 * unresolved to the others; buckets of ways that stay are left alone, so that their flows stay.
 */
#define GW_PATH_BUCKETS 16
#define GW_MAX_PATHS	1024

struct gw_paths {
	struct gw_link link[GW_PATH_BUCKETS];
};
_Static_assert(sizeof(struct gw_paths) == 256, "paths layout");

/* Not the hash's low bits: those choose the slot. */
GW_INLINE uint32_t gw_paths_bucket(uint64_t hash)
{
	return (uint32_t)(hash >> 40) % GW_PATH_BUCKETS;
}

/*
 * A backend is known by its global id, which is its index here. It belongs to exactly one pool, so
 * "a hit whose backend is not of the service's pool is a miss" is one comparison. One cache line.
 */
struct gw_backend {
	uint16_t pool;
	uint16_t gue_port; /* network order */
	uint32_t next_hop; /* index of its next hop; used by DPDK */
	uint8_t state;	   /* enum gw_backend_state */
	uint8_t encap;	   /* enum gw_encap */
	uint8_t family;	   /* of the outer header: GW_IPV4 or GW_IPV6 */
	uint8_t flags;	   /* GW_BACKEND_* */
	uint16_t mtu;	   /* of the egress link; 0: not known, taken as 1500. XDP reads it here */
	uint8_t source_bits; /* low bits of outer_source that vary by flow; 0: none, at most 32 */
	uint8_t overhead;    /* bytes that the outer headers add: gw_encap_overhead_of */
	struct gw_address outer_source;
	struct gw_address outer_destination;
	struct gw_link link; /* XDP: live. DPDK: unused, its next hops are live elsewhere */
} __attribute__((aligned(GW_CACHE_LINE)));
_Static_assert(sizeof(struct gw_backend) == GW_CACHE_LINE, "a backend is one cache line");

/* The destination itself must be on the link: never by a router, which would send it back (l2). */
#define GW_HOP_ON_LINK 0x01

/*
 * One distinct underlay destination, and how it may be reached. A resolved link is a first answer;
 * the datapath keeps it live.
 */
struct gw_next_hop {
	struct gw_link link;
	struct gw_address address;
	uint32_t mtu; /* 0: not known */
	uint8_t family;
	uint8_t flags; /* GW_HOP_* */
	uint8_t reserved[10];
};
_Static_assert(sizeof(struct gw_next_hop) == 48, "next hop layout");

/*
 * May a tracked flow stay on this backend? `syn`: the packet is a SYN without ACK. One rule for
 * both datapaths (packets.md, "Choosing the backend").
 */
GW_INLINE bool gw_backend_keeps_flow(const struct gw_backend *backend, uint32_t pool, bool syn)
{
	if (backend->pool != pool)
		return false;
	if (backend->state == GW_BACKEND_ACTIVE)
		return true;
	if (syn)
		return false;
	return backend->state == GW_BACKEND_DRAIN ||
	       (backend->state == GW_BACKEND_DOWN && (backend->flags & GW_BACKEND_KEEP_ON_DOWN));
}
