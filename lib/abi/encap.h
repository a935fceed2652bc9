/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The outer headers, for both datapaths (packets.md, "Encapsulation"): IP in IP, four combinations
 * of families. Pure functions of the backend, the parsed packet and the flow's hash; the caller has
 * made room and moves the bytes. The inner packet, packet->l3_length bytes from its IP header on,
 * follows the outer header unchanged. Sources: RFC 2003 (4in4), RFC 4213 (6in4), RFC 2473 (4in6,
 * 6in6), RFC 6040 (ECN), RFC 1071 (checksum).
 */
#pragma once

#include "abi/objects.h"
#include "abi/packet.h"
#include "abi/wire.h"

#define GW_OUTER_TTL	   64
#define GW_DEFAULT_MTU	   1500
#define GW_PROTO_IPV4	   4 /* IPv4 in IP */
#define GW_PROTO_IPV6	   41
#define GW_ENCAP_MAX_BYTES GW_IPV6_HEADER

/* Bytes that the outer header adds to an inner IP packet. */
GW_INLINE uint32_t gw_encap_overhead(const struct gw_backend *backend)
{
	return backend->family == GW_IPV4 ? GW_IPV4_HEADER : GW_IPV6_HEADER;
}

/* The smaller of two MTUs; 0 is one that is not known. */
GW_INLINE uint32_t gw_mtu_lower(uint32_t a, uint32_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* True when the packet, once encapsulated, exceeds the egress link's MTU (0: not known, 1500). */
GW_INLINE bool gw_encap_too_big(
	const struct gw_packet *packet, const struct gw_backend *backend, uint32_t mtu)
{
	return packet->l3_length + gw_encap_overhead(backend) > (mtu ? mtu : GW_DEFAULT_MTU);
}

/* Ones' complement sum of two 16-bit halves, not yet folded. */
GW_INLINE uint32_t gw_encap_halves(uint32_t word)
{
	return (word >> 16) + (word & 0xffff);
}

/*
 * Writes a 20-byte IPv4 header to `out`. DF is the inner packet's (always set around IPv6); the id
 * is 0 with DF, else the inner id XOR the hash's low 16 bits, so that fragments made on the way are
 * told apart. l3_length must be at most 65515: gw_encap_too_big sees to it.
 */
GW_INLINE void gw_encap_ipv4(
	void *out, const struct gw_backend *backend, const struct gw_packet *packet, uint64_t hash)
{
	uint8_t *to = out;
	uint32_t protocol = packet->family == GW_IPV4 ? GW_PROTO_IPV4 : GW_PROTO_IPV6;
	uint32_t id = packet->dont_fragment ? 0 : (packet->ip_id ^ (uint32_t)hash) & 0xffff;
	uint32_t word0 =
		0x45000000u | (uint32_t)packet->tos << 16 | (packet->l3_length + GW_IPV4_HEADER);
	uint32_t word1 = id << 16 | (packet->dont_fragment ? 0x4000u : 0);
	uint32_t word2 = (uint32_t)GW_OUTER_TTL << 24 | protocol << 16;
	uint32_t source = gw_wire_load32(backend->outer_source.bytes + 12);
	uint32_t destination = gw_wire_load32(backend->outer_destination.bytes + 12);
	uint32_t sum = gw_encap_halves(word0) + gw_encap_halves(word1) + gw_encap_halves(word2) +
		       gw_encap_halves(source) + gw_encap_halves(destination);

	sum = gw_encap_halves(sum);
	sum = gw_encap_halves(sum);
	gw_wire_store32(to, word0);
	gw_wire_store32(to + 4, word1);
	gw_wire_store32(to + 8, word2 | (~sum & 0xffff));
	gw_wire_store32(to + 12, source);
	gw_wire_store32(to + 16, destination);
}

/* Writes a 40-byte IPv6 header to `out`, flow label 0. l3_length must be at most 65535. */
GW_INLINE void gw_encap_ipv6(
	void *out, const struct gw_backend *backend, const struct gw_packet *packet)
{
	uint8_t *to = out;
	uint32_t protocol = packet->family == GW_IPV4 ? GW_PROTO_IPV4 : GW_PROTO_IPV6;

	gw_wire_store32(to, 0x60000000u | (uint32_t)packet->tos << 20);
	gw_wire_store32(to + 4, packet->l3_length << 16 | protocol << 8 | GW_OUTER_TTL);
	gw_wire_copy16(to + 8, backend->outer_source.bytes);
	gw_wire_copy16(to + 24, backend->outer_destination.bytes);
}

/* A copy of a link that others may be changing: each half is read at once. */
GW_INLINE struct gw_link gw_link_load(const struct gw_link *live)
{
	union {
		uint64_t word[2];
		struct gw_link link;
	} copy;

	copy.word[0] = *(const volatile uint64_t *)live;
	copy.word[1] = *((const volatile uint64_t *)live + 1);
	return copy.link;
}

#ifndef GW_BPF
/*
 * Writes a link under readers (gw_link_load), each half at once. The half with the flags goes last
 * when it says "resolved" and first when it takes that back, so that no reader trusts MACs that are
 * not there. One writer at a time.
 */
GW_INLINE void gw_link_store(struct gw_link *live, const struct gw_link *link)
{
	uint64_t *to = (uint64_t *)live, word[2];

	__builtin_memcpy(word, link, sizeof(word));
	if (link->flags & GW_LINK_RESOLVED) {
		__atomic_store_n(&to[0], word[0], __ATOMIC_RELEASE);
		__atomic_store_n(&to[1], word[1], __ATOMIC_RELEASE);
	} else {
		__atomic_store_n(&to[1], word[1], __ATOMIC_RELEASE);
		__atomic_store_n(&to[0], word[0], __ATOMIC_RELEASE);
	}
}
#endif

/* Writes a 14-byte Ethernet header to `out`; `family` is that of the IP header that follows. */
GW_INLINE void gw_encap_ethernet(void *out, const struct gw_link *link, uint8_t family)
{
	uint8_t *to = out;

	gw_wire_copy4(to, link->destination_mac);
	gw_wire_copy2(to + 4, link->destination_mac + 4);
	gw_wire_copy4(to + 6, link->source_mac);
	gw_wire_copy2(to + 10, link->source_mac + 4);
	gw_wire_store16(to + 12, family == GW_IPV4 ? GW_ETHERTYPE_IPV4 : GW_ETHERTYPE_IPV6);
}
