/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * How a packet leaves the pipeline, and the one list of reasons to drop it. Counters, CLI, metrics
 * and documentation are made from this list; a packet raises exactly one of them by one.
 */
#pragma once

#include "abi/types.h"

enum gw_verdict {
	GW_VERDICT_TX = 0,    /* handed over towards a backend */
	GW_VERDICT_REPLY = 1, /* answered by the balancer itself */
	GW_VERDICT_HOST = 2,  /* not ours: the host's, untouched */
	GW_VERDICT_CONSUMED =
		3,	     /* ours, and at its end here (for example our own frame seen again) */
	GW_VERDICT_HELD = 4, /* kept for now: a later fragment before its first */
	GW_VERDICT_DROP = 5,
};

/*
 * X(NAME, "name", "what an operator reads"): append only; a number, once given, stays.
 * packets.md's rows name them; what no code counts yet is not listed yet.
 */
#define GW_DROP_REASONS(X)                                                                         \
	X(MALFORMED, "malformed", "truncated, or a length or version that contradicts itself")     \
	X(MARTIAN, "martian", "impossible source, or link-layer broadcast for a service")          \
	X(EXTHDR, "exthdr", "more than 8 IPv6 extension headers")                                  \
	X(FRAG_EARLY, "frag_early", "a later fragment before its first (XDP cannot hold it)")      \
	X(ICMP_OTHER, "icmp_other",                                                                \
		"ICMP for a service address that is neither echo nor a useful error")              \
	X(NO_SERVICE, "no_service",                                                                \
		"a service's address, but no service on this protocol and port")                   \
	X(NO_BACKEND, "no_backend", "the service has no eligible backend")                         \
	X(NO_NEIGHBOUR, "no_neighbour",                                                            \
		"the backend's next hop has no route or no link-layer address")                    \
	X(TOO_BIG, "too_big", "larger than the egress MTU leaves after encapsulation")             \
	X(NO_HEADROOM, "no_headroom", "no room in the buffer for the outer headers")               \
	X(HOST_FULL, "host_full", "the path to the host's stack was full")                         \
	X(NO_HOST_PATH, "no_host_path",                                                            \
		"for the host, but the port has no way to its stack (af_xdp)")                     \
	X(PTB_LIMITED, "ptb_limited",                                                              \
		"larger than the egress MTU leaves, and over the limit of answers a second")       \
	X(FRAG_EMPTY, "frag_empty", "a fragment without payload")                                  \
	X(FRAG_FULL, "frag_full", "no room to hold a fragment, or for the pieces of a packet")     \
	X(FRAG_EXPIRED, "frag_expired", "a held fragment whose first never came")

enum gw_drop {
#define GW_DROP_ENUM(NAME, name, text) GW_DROP_##NAME,
	GW_DROP_REASONS(GW_DROP_ENUM)
#undef GW_DROP_ENUM
		GW_DROP_COUNT
};

#define GW_DROP_MAX 40
_Static_assert(GW_DROP_COUNT <= GW_DROP_MAX, "counters have room for every reason");

/* Packets and bytes of one thing (a service, a backend), as one worker or CPU counted them. */
struct gw_traffic {
	uint64_t packets;
	uint64_t bytes;	    /* of the inner IP packets */
	uint64_t flows_new; /* flow entries inserted */
	uint64_t reserved;
};

/*
 * One worker's or one CPU's counters, in input packets:
 * rx = tx + to_host + replied + consumed + held + sum of drops.
 * The fields behind drops are outside that sum.
 */
struct gw_counters {
	uint64_t rx;
	uint64_t tx;
	uint64_t to_host;
	uint64_t replied;
	uint64_t consumed;
	uint64_t held;
	uint64_t drops[GW_DROP_MAX];
	uint64_t untracked;   /* forwarded by the table, no room in the flow table */
	uint64_t tx_full;     /* handed over, then refused by the NIC's queue */
	uint64_t xmit_failed; /* handed over, then refused by the kernel */
	uint64_t flows_new;   /* entries inserted */
	uint64_t flows_moved; /* tracked flows that left a backend that may not keep them */
	uint64_t reserved[13];
};
_Static_assert(sizeof(struct gw_counters) == 64 * 8, "counters are 64 words");
