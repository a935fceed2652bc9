/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * "Fragmentation needed" and "packet too big": what a client is told whose packet, once
 * encapsulated, exceeds the egress MTU (packets.md, "Encapsulation" and "errors we make"). The
 * packet itself becomes the quote; two headers go in front. Sources: RFC 792 and RFC 1191 (IPv4),
 * RFC 4443 (IPv6), RFC 1812 section 4.3.2.3 (how much is quoted).
 */
#pragma once

#include "abi/icmp.h"

/* The whole IP packet at most. */
#define GW_TOO_BIG_MAX_IPV4 576
#define GW_TOO_BIG_MAX_IPV6 1280

#define GW_TOO_BIG_IPV4 (GW_IPV4_HEADER + GW_ICMP_HEADER)
#define GW_TOO_BIG_IPV6 (GW_IPV6_HEADER + GW_ICMP_HEADER)

/* What packet becomes an answer; the rest is a counted drop (or, in DPDK and without DF, goes in
 * pieces). */
GW_INLINE bool gw_too_big_answers(const struct gw_packet *packet)
{
	return packet->dont_fragment && packet->fragment != GW_FRAGMENT_LATER &&
	       !gw_parse_is_icmp(packet);
}

/* Bytes of the two headers. */
GW_INLINE uint32_t gw_too_big_headers(uint8_t family)
{
	return family == GW_IPV4 ? GW_TOO_BIG_IPV4 : GW_TOO_BIG_IPV6;
}

/* Bytes that are quoted of a packet of `length` bytes. */
GW_INLINE uint32_t gw_too_big_quote(uint8_t family, uint32_t length)
{
	uint32_t most = family == GW_IPV4 ? GW_TOO_BIG_MAX_IPV4 - GW_TOO_BIG_IPV4
					  : GW_TOO_BIG_MAX_IPV6 - GW_TOO_BIG_IPV6;

	return length < most ? length : most;
}

/*
 * Writes IPv4 and ICMP headers, 28 bytes, to `ip`; the quoted packet follows there, `quote` bytes
 * with the folded ones' complement sum `quote_sum` (as 16-bit words in network order). `mtu` is
 * what the client's packets may measure. 48 bytes from `ip` on are readable.
 */
GW_INLINE void gw_too_big_ipv4(uint8_t *ip, uint32_t quote, uint32_t mtu, uint16_t quote_sum)
{
	const uint8_t *inner = ip + GW_TOO_BIG_IPV4;
	uint8_t *icmp = ip + GW_IPV4_HEADER;
	uint32_t type = GW_ICMP_UNREACHABLE << 8 | GW_ICMP_NEEDS_FRAGMENT;
	uint32_t words[5] = {
		0x45000000u | (GW_TOO_BIG_IPV4 + quote),
		GW_IPV4_DF,
		(uint32_t)GW_ICMP_TTL << 24 | GW_PROTO_ICMP << 16,
		gw_wire_load32(inner + 16),
		gw_wire_load32(inner + 12),
	};
	uint32_t sum = 0;

	for (int i = 0; i < 5; i++)
		sum += gw_encap_halves(words[i]);
	words[2] |= gw_checksum_of(sum);
	for (int i = 0; i < 5; i++)
		gw_wire_store32(ip + 4 * i, words[i]);
	mtu = mtu < 0xffff ? mtu : 0xffff;
	gw_wire_store32(icmp, type << 16 | gw_checksum_of(type + mtu + quote_sum));
	gw_wire_store32(icmp + 4, mtu);
}

/* The same with IPv6 and ICMPv6 headers, 48 bytes; 88 bytes from `ip` on are readable. */
GW_INLINE void gw_too_big_ipv6(uint8_t *ip, uint32_t quote, uint32_t mtu, uint16_t quote_sum)
{
	const uint8_t *inner = ip + GW_TOO_BIG_IPV6;
	uint8_t *icmp = ip + GW_IPV6_HEADER;
	uint32_t payload = GW_ICMP_HEADER + quote, type = GW_ICMPV6_TOO_BIG << 8, sum;

	gw_wire_store32(ip, 0x60000000u);
	gw_wire_store32(ip + 4, payload << 16 | GW_PROTO_ICMPV6 << 8 | GW_ICMP_TTL);
	gw_wire_copy16(ip + 8, inner + 24);
	gw_wire_copy16(ip + 24, inner + 8);
	sum = gw_encap_pseudo_sum(ip, payload, GW_PROTO_ICMPV6) + type + gw_encap_halves(mtu) +
	      quote_sum;
	gw_wire_store32(icmp, type << 16 | gw_checksum_of(sum));
	gw_wire_store32(icmp + 4, mtu);
}
