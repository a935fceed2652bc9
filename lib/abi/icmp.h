/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * ICMP and ICMPv6 to a service address, for both datapaths (packets.md, "ICMP"): echo requests are
 * answered in place, errors are read as far as the flow that they are about. Pure functions of
 * bytes; who finds buffers, backends and ports is the caller. Sources: RFC 792, RFC 4443, RFC 1122
 * (section 3.2.2.6, echo with options), RFC 1624 (checksum update), RFC 1071.
 */
#pragma once

#include "abi/encap.h"
#include "abi/parse.h"

#define GW_ICMP_UNREACHABLE    3
#define GW_ICMP_NEEDS_FRAGMENT 4 /* a code of "unreachable": too big and DF */
#define GW_ICMP_SOURCE_QUENCH  4
#define GW_ICMP_ECHO	       8
#define GW_ICMP_ECHO_REPLY     0
#define GW_ICMP_TIME_EXCEEDED  11
#define GW_ICMP_PARAMETER      12

#define GW_ICMPV6_UNREACHABLE	1
#define GW_ICMPV6_TOO_BIG	2
#define GW_ICMPV6_PARAMETER	4
#define GW_ICMPV6_ECHO		128
#define GW_ICMPV6_ECHO_REPLY	129
#define GW_ICMPV6_SOLICITATION	135
#define GW_ICMPV6_ADVERTISEMENT 136

#define GW_IPV4_OPTION_END  0
#define GW_IPV4_OPTION_NOP  1
#define GW_IPV4_OPTION_LSRR 131
#define GW_IPV4_OPTION_SSRR 137
#define GW_IPV4_OPTIONS_MAX 40

#define GW_ICMP_TTL 64 /* of all that the balancer itself says */

enum gw_icmp_kind {
	GW_ICMP_KIND_OTHER,
	GW_ICMP_KIND_ECHO,	   /* a request */
	GW_ICMP_KIND_ERROR,	   /* quotes a packet */
	GW_ICMP_KIND_SOLICITATION, /* a neighbour's, for the address itself (abi/announce.h) */
};

GW_INLINE enum gw_icmp_kind gw_icmp_kind(uint8_t family, uint8_t type)
{
	if (family == GW_IPV4) {
		if (type == GW_ICMP_ECHO)
			return GW_ICMP_KIND_ECHO;
		return type == GW_ICMP_UNREACHABLE || type == GW_ICMP_SOURCE_QUENCH ||
				       type == GW_ICMP_TIME_EXCEEDED || type == GW_ICMP_PARAMETER
			       ? GW_ICMP_KIND_ERROR
			       : GW_ICMP_KIND_OTHER;
	}
	if (type == GW_ICMPV6_ECHO)
		return GW_ICMP_KIND_ECHO;
	if (type == GW_ICMPV6_SOLICITATION)
		return GW_ICMP_KIND_SOLICITATION;
	return type >= GW_ICMPV6_UNREACHABLE && type <= GW_ICMPV6_PARAMETER ? GW_ICMP_KIND_ERROR
									    : GW_ICMP_KIND_OTHER;
}

/* ---- checksums */

/* Folds a ones' complement sum and complements it: what goes into the header. */
GW_INLINE uint16_t gw_checksum_of(uint32_t sum)
{
	sum = gw_encap_halves(sum);
	sum = gw_encap_halves(sum);
	return (uint16_t)~sum;
}

/* A checksum after one 16-bit word that it covers has changed (RFC 1624, equation 3). */
GW_INLINE uint16_t gw_checksum_replace(uint16_t check, uint16_t old, uint16_t now)
{
	return gw_checksum_of((uint32_t)(uint16_t)~check + (uint16_t)~old + now);
}

/* Writes the checksum of an IPv4 header of `length` bytes with its options. */
GW_INLINE void gw_checksum_ipv4(uint8_t *ip, const void *end, uint32_t length)
{
	uint32_t sum = 0;

	if (ip + GW_IPV4_HEADER > (const uint8_t *)end)
		return;
	gw_wire_store16(ip + 10, 0);
#pragma GCC unroll 15
	for (uint32_t i = 0; i < GW_IPV4_HEADER + GW_IPV4_OPTIONS_MAX; i += 4) {
		if (i >= length)
			break;
		if (ip + i + 4 > (const uint8_t *)end)
			return;
		sum += gw_encap_halves(gw_wire_load32(ip + i));
	}
	gw_wire_store16(ip + 10, gw_checksum_of(sum));
}

/* ---- answers go back the way the request came */

/*
 * The link-layer header of an answer at `to`, from that of the frame at `from`, l3_offset bytes:
 * the MACs change places, VLAN tags stay. `to` may be `from` or any place from 22 bytes before it.
 * Both are readable for 22 bytes.
 */
GW_INLINE void gw_icmp_link(uint8_t *to, const uint8_t *from, uint32_t l3_offset)
{
	uint32_t destination = GW_WIRE_LOAD(uint32_t, from),
		 source = GW_WIRE_LOAD(uint32_t, from + 6);
	uint16_t destination_end = GW_WIRE_LOAD(uint16_t, from + 4);
	uint16_t source_end = GW_WIRE_LOAD(uint16_t, from + 10);

	GW_WIRE_STORE(uint32_t, to, source);
	GW_WIRE_STORE(uint16_t, to + 4, source_end);
	GW_WIRE_STORE(uint32_t, to + 6, destination);
	GW_WIRE_STORE(uint16_t, to + 10, destination_end);
	for (uint32_t i = 12; i < GW_ETH_HEADER + GW_PARSE_TAGS * GW_VLAN_TAG; i += 2)
		if (i < l3_offset)
			gw_wire_copy2(to + i, from + i);
}

/* ---- echo */

/* True when IPv4 options, `length` bytes of them, route by source: those are not answered. */
GW_INLINE bool gw_icmp_source_routed(const uint8_t *options, const void *end, uint32_t length)
{
	uint32_t at = 0;

	for (int i = 0; i < GW_IPV4_OPTIONS_MAX && at < length; i++) {
		const uint8_t *option;
		uint32_t step = 1;

		/* One bound on every round, so that the verifier sees the same state again. */
		at = (uint32_t)GW_BOUND(at, 0x3f);
		option = options + at;

		if (option + 1 > (const uint8_t *)end)
			return false;
		if (*option == GW_IPV4_OPTION_LSRR || *option == GW_IPV4_OPTION_SSRR)
			return true;
		if (*option == GW_IPV4_OPTION_END)
			return false;
		if (*option != GW_IPV4_OPTION_NOP) {
			if (option + 2 > (const uint8_t *)end || option[1] < 2)
				return false;
			step = option[1];
		}
		at += step;
	}
	return false;
}

/*
 * True when IPv6 extension headers keep an echo request from being answered in place: a routing
 * header that is not at its end, or an authentication header, which no answer of ours could fill.
 */
GW_INLINE bool gw_icmp_exthdrs_forbid(const uint8_t *ip, const void *end, uint32_t length)
{
	uint32_t offset = GW_IPV6_HEADER;
	uint8_t protocol;

	if (ip + GW_IPV6_HEADER > (const uint8_t *)end)
		return true;
	protocol = ip[6];
	for (int i = 0; i < GW_PARSE_EXTHDRS && offset < length; i++) {
		const uint8_t *header = ip + GW_BOUND(offset, GW_PARSE_L4_MASK);

		if (header + 8 > (const uint8_t *)end || protocol == GW_EXT_AH)
			return true;
		if (protocol == GW_EXT_ROUTING && header[3])
			return true;
		offset += protocol == GW_EXT_FRAGMENT ? 8 : (header[1] + 1u) * 8;
		protocol = header[0];
	}
	return false;
}

/* May this echo request be answered? Nothing has been changed yet. */
GW_INLINE bool gw_icmp_echo_allowed(
	const uint8_t *frame, const void *end, const struct gw_packet *packet)
{
	const uint8_t *ip = frame + GW_BOUND(packet->l3_offset, GW_PARSE_L3_MASK);
	uint32_t header = (uint32_t)packet->l4_offset - packet->l3_offset;

	if (packet->family == GW_IPV4)
		return header <= GW_IPV4_HEADER ||
		       !gw_icmp_source_routed(ip + GW_IPV4_HEADER, end, header - GW_IPV4_HEADER);
	return header <= GW_IPV6_HEADER || !gw_icmp_exthdrs_forbid(ip, end, header);
}

/*
 * True when the answer's checksum depends on more than the request's: an IPv4 answer whose every
 * other byte is zero has checksum 0xffff, not the 0 that RFC 1624 gives, and only a look at the
 * payload tells it from one whose bytes add up to 0xffff. `icmp` is readable for 8 bytes.
 */
GW_INLINE bool gw_icmp_echo_ambiguous(const uint8_t *icmp, const struct gw_packet *packet)
{
	return packet->family == GW_IPV4 && !icmp[1] && !gw_wire_load32(icmp + 4) &&
	       gw_wire_load16(icmp + 2) == 0xf7ff;
}

GW_INLINE void gw_icmp_swap4(uint8_t *a, uint8_t *b)
{
	uint32_t word = GW_WIRE_LOAD(uint32_t, a);

	gw_wire_copy4(a, b);
	GW_WIRE_STORE(uint32_t, b, word);
}

/*
 * Turns the request into its answer, in place: addresses and MACs change places, TTL or hop limit
 * starts anew, the checksum follows the type. `zeroes`: gw_icmp_echo_ambiguous, and the payload is
 * nothing but zeroes. Headers up to ICMP's must be readable. False: they are not.
 */
GW_INLINE bool gw_icmp_echo_answer(
	uint8_t *frame, const void *end, const struct gw_packet *packet, bool zeroes)
{
	uint8_t *ip = frame + GW_BOUND(packet->l3_offset, GW_PARSE_L3_MASK);
	uint8_t *icmp = frame + GW_BOUND(packet->l4_offset, GW_PARSE_L4_MASK);
	bool v4 = packet->family == GW_IPV4;
	uint16_t old, check;

	if (icmp + GW_ICMP_HEADER > (uint8_t *)end ||
		frame + GW_ETH_HEADER + GW_PARSE_TAGS * GW_VLAN_TAG > (uint8_t *)end)
		return false;
	old = gw_wire_load16(icmp);
	icmp[0] = v4 ? GW_ICMP_ECHO_REPLY : GW_ICMPV6_ECHO_REPLY;
	check = gw_checksum_replace(gw_wire_load16(icmp + 2), old, gw_wire_load16(icmp));
	gw_wire_store16(icmp + 2, zeroes ? 0xffff : check);
	if (v4) {
		if (ip + GW_IPV4_HEADER > (uint8_t *)end)
			return false;
		gw_icmp_swap4(ip + 12, ip + 16);
		ip[8] = GW_ICMP_TTL;
		gw_checksum_ipv4(ip, end, (uint32_t)packet->l4_offset - packet->l3_offset);
	} else {
		if (ip + GW_IPV6_HEADER > (uint8_t *)end)
			return false;
		for (int i = 8; i < 24; i += 4)
			gw_icmp_swap4(ip + i, ip + i + 16);
		ip[7] = GW_ICMP_TTL;
	}
	gw_icmp_link(frame, frame, packet->l3_offset);
	return true;
}

/* ---- errors */

/* So much of a quote is looked at; extension headers that reach beyond hide the ports. */
#define GW_ICMP_QUOTE_MAX 1280
/* What BPF must be able to read from `quote` on, whatever its length. */
#define GW_ICMP_QUOTE_ROOM 2112

GW_INLINE uint32_t gw_icmp_quote_length(const struct gw_packet *packet)
{
	uint32_t room = packet->l3_offset + packet->l3_length - packet->l4_offset - GW_ICMP_HEADER;

	return room < GW_ICMP_QUOTE_MAX ? room : GW_ICMP_QUOTE_MAX;
}

/*
 * Walks the quoted IPv6 packet's extension headers. Returns the place of its transport header, the
 * protocol in *protocol; 0: cut off, too many, or a later fragment.
 */
GW_INLINE uint32_t gw_icmp_quote_exthdrs(const uint8_t *quote, uint32_t length, uint8_t *protocol)
{
	uint32_t offset = GW_IPV6_HEADER;

	for (int i = 0; i < GW_PARSE_EXTHDRS && gw_parse_is_exthdr(*protocol); i++) {
		const uint8_t *header = quote + GW_BOUND(offset, 0x7ff);
		uint32_t size;

		if (offset + 8 > length)
			return 0;
		size = (header[1] + 1u) * 8;
		if (*protocol == GW_EXT_AH)
			size = (header[1] + 2u) * 4;
		if (*protocol == GW_EXT_FRAGMENT) {
			size = 8;
			if (gw_wire_load16(header + 2) & GW_IPV6_OFFSET)
				return 0;
		}
		*protocol = header[0];
		offset += size;
		if (offset > GW_ICMP_QUOTE_MAX)
			return 0;
	}
	return gw_parse_is_exthdr(*protocol) ? 0 : offset;
}

GW_INLINE uint32_t gw_icmp_quote_ipv4(
	const uint8_t *quote, uint32_t length, struct gw_flow_key *key)
{
	uint32_t header;

	if (length < GW_IPV4_HEADER)
		return 0;
	header = (quote[0] & 0xfu) * 4;
	if (quote[0] >> 4 != 4 || header < GW_IPV4_HEADER ||
		gw_wire_load16(quote + 6) & GW_IPV4_OFFSET ||
		GW_WIRE_LOAD(uint32_t, quote + 12) !=
			GW_WIRE_LOAD(uint32_t, key->destination.bytes + 12))
		return 0;
	key->protocol = quote[9];
	gw_wire_copy4(key->source.bytes + 12, quote + 16);
	return header;
}

GW_INLINE uint32_t gw_icmp_quote_ipv6(
	const uint8_t *quote, uint32_t length, struct gw_flow_key *key)
{
	uint8_t protocol;
	uint32_t offset;

	if (length < GW_IPV6_HEADER || quote[0] >> 4 != 6)
		return 0;
	for (int i = 0; i < 16; i += 4)
		if (GW_WIRE_LOAD(uint32_t, quote + 8 + i) !=
			GW_WIRE_LOAD(uint32_t, key->destination.bytes + i))
			return 0;
	protocol = quote[6];
	offset = gw_icmp_quote_exthdrs(quote, length, &protocol);
	key->protocol = protocol;
	gw_wire_copy16(key->source.bytes, quote + 24);
	return offset;
}

/*
 * The flow that an error is about. `quote` holds the first `length` bytes of the quoted packet, one
 * that the service has sent; its lengths and checksums may be anything. *key comes in as the
 * message's own and goes out as that of the flow's packets from the client: source and ports are
 * the quote's, turned round. False: the quote is too short for ports, a later fragment, not of the
 * message's family, not from its destination, or ICMP itself, which no service speaks.
 */
GW_INLINE bool gw_icmp_quoted_flow(
	const uint8_t *quote, uint32_t length, uint8_t family, struct gw_flow_key *key)
{
	uint32_t offset = family == GW_IPV4 ? gw_icmp_quote_ipv4(quote, length, key)
					    : gw_icmp_quote_ipv6(quote, length, key);
	const uint8_t *ports = quote + GW_BOUND(offset, 0x7ff);

	if (!offset || key->protocol == (family == GW_IPV4 ? GW_PROTO_ICMP : GW_PROTO_ICMPV6))
		return false;
	key->source_port = key->destination_port = 0;
	if (key->protocol != GW_PROTO_TCP && key->protocol != GW_PROTO_UDP &&
		key->protocol != GW_PROTO_SCTP)
		return true;
	if (offset + 4 > length)
		return false;
	key->destination_port = GW_WIRE_LOAD(uint16_t, ports);
	key->source_port = GW_WIRE_LOAD(uint16_t, ports + 2);
	return true;
}
