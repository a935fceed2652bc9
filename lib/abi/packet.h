/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What the parser finds in one frame, for both datapaths. Parsing happens in two steps, because a
 * packet for no service is the host's whatever is wrong with it: gw_parse_destination reads only as
 * far as the destination address; after the service address has matched, gw_parse_transport checks
 * every length and reads the ports (abi/parse.h).
 */
#pragma once

#include "abi/key.h"
#include "abi/types.h"

#define GW_ETH_HEADER 14

enum gw_fragment_kind {
	GW_WHOLE = 0, /* an IPv6 atomic fragment too */
	GW_FRAGMENT_FIRST = 1,
	GW_FRAGMENT_LATER = 2, /* has no transport header: ports are zero */
};

struct gw_packet {
	struct gw_flow_key key; /* full 5-tuple; ports zero when there are none */
	uint16_t l3_offset;	/* from the frame's start, behind VLAN tags */
	uint16_t l4_offset;	/* from the frame's start; 0 before gw_parse_transport */
	uint32_t l3_length;	/* of the IP packet, by its own header: padding does not count */
	uint8_t family;		/* GW_IPV4, GW_IPV6; 0: not IP */
	uint8_t protocol;	/* behind extension headers */
	uint8_t tcp_flags;
	uint8_t tos; /* DSCP and ECN */
	uint8_t ttl;
	bool dont_fragment;	   /* IPv4's DF; true for IPv6 */
	uint8_t fragment;	   /* enum gw_fragment_kind */
	bool link_multicast;	   /* the frame's destination MAC is a group or broadcast address */
	uint16_t ip_id;		   /* IPv4, host order */
	uint8_t fragment_protocol; /* as the header says that makes it a fragment */
	uint8_t reserved;
	uint32_t fragment_id; /* IPv4's id or that of IPv6's fragment header; 0 when whole */
};
_Static_assert(sizeof(struct gw_packet) == 64, "one cache line");
