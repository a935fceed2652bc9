/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Recognises the common frame: untagged, to one machine, a whole IPv4 packet without options or an
 * IPv6 packet without extension headers, TCP or UDP, whose headers nothing is wrong with. It judges
 * nothing: what it does not recognise the parser looks at (abi/parse.h), which has the rules; what
 * it does recognise the parser would find the same in. Each header is bounded once and read in a
 * few wide loads, in a straight line.
 */
#pragma once

#include "abi/encap.h"
#include "abi/parse.h"

/* The first byte of an IPv4 source that may be a client's: a little narrower than the rule. */
GW_INLINE bool lb_common_source4(uint32_t source)
{
	uint32_t first = GW_NTOHL(source) >> 24;

	return first - 1 < 223 && first != 127;
}

/* Ports, and of TCP the flags; `room` bytes by the IP header, which may say less than itself. */
GW_INLINE bool lb_common_transport(
	const uint8_t *l4, const void *end, int32_t room, struct gw_packet *packet)
{
	int32_t header;

	if (l4 + GW_UDP_HEADER > (const uint8_t *)end || room < GW_UDP_HEADER)
		return false;
	*(uint32_t *)&packet->key.source_port = GW_WIRE_LOAD(uint32_t, l4); /* and the other */
	packet->key.protocol = packet->protocol;
	if (packet->protocol == GW_PROTO_UDP)
		return true;
	if (packet->protocol != GW_PROTO_TCP || l4 + GW_TCP_HEADER > (const uint8_t *)end)
		return false;
	header = (l4[12] >> 4) * 4;
	packet->tcp_flags = l4[13];
	return header >= GW_TCP_HEADER && header <= room;
}

GW_INLINE bool lb_common_ipv4(const uint8_t *ip, const void *end, struct gw_packet *packet)
{
	uint32_t first, second, source, destination;

	if (ip + GW_IPV4_HEADER > (const uint8_t *)end)
		return false;
	first = gw_wire_load32(ip);
	second = gw_wire_load32(ip + 4);
	source = GW_WIRE_LOAD(uint32_t, ip + 12);
	destination = GW_WIRE_LOAD(uint32_t, ip + 16);
	if (first >> 24 != 0x45 || second & (GW_IPV4_MF | GW_IPV4_OFFSET) ||
		source == destination || !lb_common_source4(source))
		return false;
	packet->tos = (uint8_t)(first >> 16);
	packet->l3_length = (uint16_t)first;
	packet->ip_id = (uint16_t)(second >> 16);
	packet->dont_fragment = second / GW_IPV4_DF & 1;
	packet->protocol = ip[9];
	gw_address_set_ipv4(&packet->key.source, &source);
	gw_address_set_ipv4(&packet->key.destination, &destination);
	return lb_common_transport(
		ip + GW_IPV4_HEADER, end, (int32_t)packet->l3_length - GW_IPV4_HEADER, packet);
}

/* Addresses that begin with 64 zero bits are rare, and many of them are special. */
GW_INLINE bool lb_common_ipv6(const uint8_t *ip, const void *end, struct gw_packet *packet)
{
	uint64_t *source = (uint64_t *)packet->key.source.bytes;
	uint64_t *destination = (uint64_t *)packet->key.destination.bytes;
	uint32_t first;

	if (ip + GW_IPV6_HEADER > (const uint8_t *)end)
		return false;
	first = gw_wire_load32(ip);
	for (int i = 0; i < 2; i++) {
		source[i] = GW_WIRE_LOAD(uint64_t, ip + 8 + 8 * i);
		destination[i] = GW_WIRE_LOAD(uint64_t, ip + 24 + 8 * i);
	}
	if (first >> 28 != 6 || !source[0] || !destination[0] || ip[8] == 0xff ||
		(source[0] == destination[0] && source[1] == destination[1]))
		return false;
	packet->tos = (uint8_t)(first >> 20);
	packet->l3_length = GW_IPV6_HEADER + gw_wire_load16(ip + 4);
	packet->dont_fragment = true;
	packet->protocol = ip[6];
	return lb_common_transport(
		ip + GW_IPV6_HEADER, end, (int32_t)packet->l3_length - GW_IPV6_HEADER, packet);
}

/*
 * Fills what is named here of *packet, which is all zero, when the frame is a common one of this
 * family, GW_IPV4 or GW_IPV6, and *macs, whose first six bytes in memory are the destination's.
 */
GW_INLINE bool lb_common_parse(const uint8_t *frame, const void *end, uint8_t family,
	struct gw_packet *packet, uint64_t *macs)
{
	if (frame + GW_ETH_HEADER > (const uint8_t *)end || frame[0] & 1 ||
		GW_WIRE_LOAD(uint16_t, frame + 12) != GW_HTONS(gw_encap_ethertype(family)))
		return false;
	*macs = GW_WIRE_LOAD(uint64_t, frame);
	packet->l3_offset = GW_ETH_HEADER;
	packet->family = family;
	return family == GW_IPV4 ? lb_common_ipv4(frame + GW_ETH_HEADER, end, packet)
				 : lb_common_ipv6(frame + GW_ETH_HEADER, end, packet);
}
