/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What the decapsulator (bpf/decap.bpf.c) and its loader share: the list of counters and the key of
 * the prefix map. One list makes the enum, the names of `guideway-decap stats` and the map's size.
 */
#pragma once

#include "abi/objects.h"

/* clang-format off */
/* name, is it a drop?, meaning */
#define GW_DECAP_COUNTERS(_)                                                                       \
	_(DECAP_4IN4, decap_4in4, 0, "IPv4 packets taken out of IPv4")                             \
	_(DECAP_6IN4, decap_6in4, 0, "IPv6 packets taken out of IPv4")                             \
	_(DECAP_4IN6, decap_4in6, 0, "IPv4 packets taken out of IPv6")                             \
	_(DECAP_6IN6, decap_6in6, 0, "IPv6 packets taken out of IPv6")                             \
	_(GUE, gue, 0, "of all of these, packets in UDP (encap: gue)")                             \
	_(GRE, gre, 0, "of all of these, packets in GRE (encap: gre)")                             \
	_(CE_COPIED, ce_copied, 0, "packets whose congestion mark was carried inwards")            \
	_(NOT_ALLOWED, not_allowed, 1, "outer source in none of the prefixes given by --from")     \
	_(MALFORMED, malformed, 1, "a length or version that cannot be")                           \
	_(OUTER_CHECKSUM, outer_checksum, 1, "wrong checksum of the outer IPv4 header")            \
	_(OUTER_FRAGMENT, outer_fragment, 1, "fragment of an outer packet")                        \
	_(UDP_CHECKSUM, udp_checksum, 1, "wrong checksum, and not zero, of the outer UDP header")  \
	_(ECN_NOT_ECT, ecn_not_ect, 1, "congestion mark on a packet without ECN (RFC 6040)")       \
	_(NO_MEMORY, no_memory, 1, "the kernel could not reshape the packet")
/* clang-format on */

/* Encapsulations, as bits of what a decapsulator takes: enum gw_encap in abi/objects.h. */
#define GW_DECAP_MODE(encap) (1u << (encap))
#define GW_DECAP_MODES_ALL                                                                         \
	(GW_DECAP_MODE(GW_ENCAP_IPIP) | GW_DECAP_MODE(GW_ENCAP_GUE) | GW_DECAP_MODE(GW_ENCAP_GRE))

enum gw_decap_counter {
#define GW_DECAP_ENUM(id, name, drop, text) GW_DECAP_##id,
	GW_DECAP_COUNTERS(GW_DECAP_ENUM)
#undef GW_DECAP_ENUM
		GW_DECAP_COUNT,
};

/* One counter of one CPU, written by the program, read by anyone. Bytes are those of whole frames.
 */
struct gw_decap_count {
	__u64 packets;
	__u64 bytes;
};

/* Key of the longest-prefix map of sources; IPv4 as ::ffff:a.b.c.d, so its bits start at 96. */
struct gw_decap_source {
	__u32 bits;
	__u8 address[16];
};

_Static_assert(sizeof(struct gw_decap_count) == 16, "layout read from user space");
_Static_assert(sizeof(struct gw_decap_source) == 20, "layout of an LPM trie's key");
