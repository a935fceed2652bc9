/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The outer headers, for both datapaths (packets.md, "Encapsulation"): IP in IP, GUE and GRE, each
 * in four combinations of families, or none (l2). Pure functions of the backend, the parsed packet
 * and the flow's hash; the caller has made room and moves the bytes. The inner packet,
 * packet->l3_length bytes from its IP header on, follows the outer header unchanged. Sources: RFC
 * 2003 (4in4), RFC 4213 (6in4), RFC 2473 (4in6, 6in6), draft-ietf-intarea-gue (variant 1), RFC 2784
 * (GRE), RFC 6040 (ECN), RFC 1071 (checksum).
 */
#pragma once

#include "abi/objects.h"
#include "abi/packet.h"
#include "abi/wire.h"

#define GW_OUTER_TTL	   64
#define GW_DEFAULT_MTU	   1500
#define GW_PROTO_IPV4	   4 /* IPv4 in IP */
#define GW_PROTO_IPV6	   41
#define GW_PROTO_GRE	   47
#define GW_GUE_HEADER	   8 /* of UDP */
#define GW_GRE_HEADER	   4
#define GW_VLAN_TAG	   4
#define GW_ENCAP_MAX_BYTES (GW_IPV6_HEADER + GW_GUE_HEADER)

/* Bytes that the outer headers of a mode add to an inner IP packet; `family` is the outer one's. */
GW_INLINE uint32_t gw_encap_overhead_of(uint8_t encap, uint8_t family)
{
	uint32_t ip = family == GW_IPV4 ? GW_IPV4_HEADER : GW_IPV6_HEADER;

	return encap == GW_ENCAP_L2    ? 0
	       : encap == GW_ENCAP_GUE ? ip + GW_GUE_HEADER
	       : encap == GW_ENCAP_GRE ? ip + GW_GRE_HEADER
				       : ip;
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
	return packet->l3_length + backend->overhead > (mtu ? mtu : GW_DEFAULT_MTU);
}

/* Ones' complement sum of two 16-bit halves, not yet folded. */
GW_INLINE uint32_t gw_encap_halves(uint32_t word)
{
	return (word >> 16) + (word & 0xffff);
}

/* The ones' complement sum of four 16-bit words, or of as many carries as 64 bits hold, in 16 bits.
 */
GW_INLINE uint64_t gw_encap_fold(uint64_t sum)
{
#ifdef GW_BPF
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
#else
	uint32_t half;

	/* The upper half of a word plus itself with halves changed is their sum, carry and all. */
	sum += sum << 32 | sum >> 32;
	half = (uint32_t)(sum >> 32);
	half += half << 16 | half >> 16;
	return half >> 16;
#endif
}

/* What the outer IP header carries. */
GW_INLINE uint32_t gw_encap_protocol(
	const struct gw_backend *backend, const struct gw_packet *packet)
{
	if (backend->encap == GW_ENCAP_GUE)
		return GW_PROTO_UDP;
	if (backend->encap == GW_ENCAP_GRE)
		return GW_PROTO_GRE;
	return packet->family == GW_IPV4 ? GW_PROTO_IPV4 : GW_PROTO_IPV6;
}

/* The low 32 bits of the outer source, in the wire's order: those that entropy leaves free come
 * from the hash. */
GW_INLINE uint32_t gw_encap_source_low(const struct gw_backend *backend, uint64_t hash)
{
	uint32_t low = GW_WIRE_LOAD(uint32_t, backend->outer_source.bytes + 12);

	if (backend->source_bits)
		low |= GW_HTONL((uint32_t)(hash >> 20) &
				(uint32_t)((1ull << (backend->source_bits & 63)) - 1));
	return low;
}

/* True when something in the outer headers depends on the flow's hash. */
GW_INLINE bool gw_encap_wants_hash(const struct gw_backend *backend, const struct gw_packet *packet)
{
	return backend->encap == GW_ENCAP_GUE || backend->source_bits ||
	       backend->flags & GW_BACKEND_FLOW_LABEL ||
	       (backend->family == GW_IPV4 && !packet->dont_fragment);
}

/*
 * The backend has the common way and encapsulation, which the datapaths write in a straight line:
 * one way without a tag, IP in IP, nothing that varies by flow. `link` is resolved.
 */
GW_INLINE bool gw_encap_plain(const struct gw_backend *backend, const struct gw_link *link)
{
	return !((link->flags ^ GW_LINK_RESOLVED) | (backend->encap ^ GW_ENCAP_IPIP) |
		 backend->source_bits | (backend->flags & GW_BACKEND_FLOW_LABEL));
}

/* The parts of an outer IP header that depend on the mode. */
struct gw_outer {
	uint32_t protocol;
	uint32_t overhead;
	uint32_t source; /* low 32 bits of the source address, in the wire's order */
	uint32_t label;	 /* IPv6 */
};

GW_INLINE struct gw_outer gw_encap_outer(
	const struct gw_backend *backend, const struct gw_packet *packet, uint64_t hash)
{
	struct gw_outer outer = {
		.protocol = gw_encap_protocol(backend, packet),
		.overhead = backend->overhead,
		.source = gw_encap_source_low(backend, hash),
	};

	if (backend->flags & GW_BACKEND_FLOW_LABEL)
		outer.label = (uint32_t)(hash >> 44) & 0xfffff;
	return outer;
}

GW_INLINE struct gw_outer gw_encap_outer_plain(
	const struct gw_backend *backend, const struct gw_packet *packet, uint32_t overhead)
{
	return (struct gw_outer){
		.protocol = packet->family == GW_IPV4 ? GW_PROTO_IPV4 : GW_PROTO_IPV6,
		.overhead = overhead,
		.source = GW_WIRE_LOAD(uint32_t, backend->outer_source.bytes + 12),
	};
}

/*
 * Writes a 20-byte IPv4 header to `out`. DF is the inner packet's (always set around IPv6); the id
 * is 0 with DF, else the inner id XOR the hash's low 16 bits, so that fragments made on the way are
 * told apart. The whole must not exceed 65535 bytes: gw_encap_too_big sees to it.
 */
GW_INLINE void gw_encap_ipv4(void *out, const struct gw_backend *backend,
	const struct gw_packet *packet, uint64_t hash, const struct gw_outer *outer)
{
	uint8_t *to = out;
	uint32_t word0 = GW_HTONL(
		0x45000000u | (uint32_t)packet->tos << 16 | (packet->l3_length + outer->overhead));
	uint32_t word1 = packet->dont_fragment ? GW_HTONL(0x4000u)
					       : GW_HTONL((packet->ip_id ^ (uint32_t)hash) << 16);
	uint32_t word2 = GW_HTONL((uint32_t)GW_OUTER_TTL << 24 | outer->protocol << 16);
	uint32_t destination = GW_WIRE_LOAD(uint32_t, backend->outer_destination.bytes + 12);
	/* Ones' complement sums do not mind the order of bytes (RFC 1071): five words, 35 bits. */
	uint64_t sum = (uint64_t)word0 + word1 + word2 + outer->source + destination;

	sum = ~gw_encap_fold(sum) & 0xffff;
	word2 |= (uint32_t)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? sum << 16 : sum);
	gw_wire_store_words(to, word0, word1);
	gw_wire_store_words(to + 8, word2, outer->source);
	GW_WIRE_STORE(uint32_t, to + 16, destination);
}

/* Writes a 40-byte IPv6 header to `out`. Its payload must not exceed 65535 bytes. */
GW_INLINE void gw_encap_ipv6(void *out, const struct gw_backend *backend,
	const struct gw_packet *packet, const struct gw_outer *outer)
{
	uint8_t *to = out;
	uint32_t payload = packet->l3_length + outer->overhead - GW_IPV6_HEADER;

	gw_wire_store_words(to, GW_HTONL(0x60000000u | (uint32_t)packet->tos << 20 | outer->label),
		GW_HTONL(payload << 16 | outer->protocol << 8 | GW_OUTER_TTL));
	gw_wire_copy16(to + 8, backend->outer_source.bytes);
	GW_WIRE_STORE(uint32_t, to + 20, outer->source);
	gw_wire_copy16(to + 24, backend->outer_destination.bytes);
}

/* The whole of an outer header for gw_encap_plain: IP in IP. */
GW_INLINE void gw_encap_plain_v4(
	void *out, const struct gw_backend *backend, const struct gw_packet *packet, uint64_t hash)
{
	struct gw_outer outer = gw_encap_outer_plain(backend, packet, GW_IPV4_HEADER);

	gw_encap_ipv4(out, backend, packet, hash, &outer);
}

GW_INLINE void gw_encap_plain_v6(
	void *out, const struct gw_backend *backend, const struct gw_packet *packet)
{
	struct gw_outer outer = gw_encap_outer_plain(backend, packet, GW_IPV6_HEADER);

	gw_encap_ipv6(out, backend, packet, &outer);
}

/* True when gw_encap_gue needs the inner packet's sum. */
GW_INLINE bool gw_encap_wants_sum(const struct gw_backend *backend)
{
	return backend->encap == GW_ENCAP_GUE && backend->family == GW_IPV6 &&
	       (backend->flags & GW_BACKEND_GUE_CHECKSUM);
}

/* Ones' complement sum of the IPv6 pseudo header (RFC 8200, section 8.1), not yet folded. */
GW_INLINE uint32_t gw_encap_pseudo_sum(
	const uint8_t *ipv6_header, uint32_t payload, uint32_t protocol)
{
	uint32_t sum = gw_encap_halves(payload) + protocol;

	for (int i = 8; i < GW_IPV6_HEADER; i += 4)
		sum += gw_encap_halves(gw_wire_load32(ipv6_header + i));
	return sum;
}

/* Both ports of GUE's UDP header; `port` in network order. */
GW_INLINE uint32_t gw_encap_gue_ports(uint16_t port, uint64_t hash)
{
	return (0xc000u | (uint32_t)(hash >> 50)) << 16 | GW_NTOHS(port);
}

/* GUE's 8-byte UDP header with this checksum. */
GW_INLINE void gw_encap_gue_write(
	void *out, uint16_t port, const struct gw_packet *packet, uint64_t hash, uint32_t checksum)
{
	uint16_t source = GW_HTONS((uint16_t)(0xc000u | hash >> 50));
	uint16_t length = GW_HTONS((uint16_t)(packet->l3_length + GW_GUE_HEADER));

	gw_wire_store_words(out, gw_wire_halves(source, port),
		gw_wire_halves(length, GW_HTONS((uint16_t)checksum)));
}

/*
 * Writes GUE's 8-byte UDP header to `out`, behind the outer IP header at `ip` (written before): GUE
 * variant 1, IP directly in UDP. The source port is constant within a flow. The checksum is 0, or
 * over IPv6 made from `inner_sum`, the folded ones' complement sum of the whole inner packet as
 * 16-bit words in network order (read by gw_encap_wants_sum's word); 0 is then sent as 0xffff.
 */
GW_INLINE void gw_encap_gue(void *out, const uint8_t *ip, const struct gw_backend *backend,
	const struct gw_packet *packet, uint64_t hash, uint16_t inner_sum)
{
	uint32_t check = 0;

	if (gw_encap_wants_sum(backend)) {
		uint32_t length = packet->l3_length + GW_GUE_HEADER;
		uint32_t ports = gw_encap_gue_ports(backend->gue_port, hash);

		check = gw_encap_pseudo_sum(ip, length, GW_PROTO_UDP) + gw_encap_halves(ports) +
			length + inner_sum;
		check = gw_encap_halves(check);
		check = ~gw_encap_halves(check) & 0xffff;
		if (!check)
			check = 0xffff;
	}
	gw_encap_gue_write(out, backend->gue_port, packet, hash, check);
}

/* Writes GRE's 4-byte header without options to `out` (RFC 2784). */
GW_INLINE void gw_encap_gre(void *out, const struct gw_packet *packet)
{
	gw_wire_store32(out, packet->family == GW_IPV4 ? GW_ETHERTYPE_IPV4 : GW_ETHERTYPE_IPV6);
}

/*
 * Everything between the Ethernet header and the inner packet, backend->overhead bytes, for the
 * modes that have it (all but l2). Two calls, one a family, because BPF bounds each on its own.
 */
GW_INLINE void gw_encap_outer_v4(
	void *out, const struct gw_backend *backend, const struct gw_packet *packet, uint64_t hash)
{
	struct gw_outer outer = gw_encap_outer(backend, packet, hash);
	uint8_t *ip = out;

	gw_encap_ipv4(ip, backend, packet, hash, &outer);
	if (backend->encap == GW_ENCAP_GUE)
		gw_encap_gue(ip + GW_IPV4_HEADER, ip, backend, packet, hash, 0);
	else if (backend->encap == GW_ENCAP_GRE)
		gw_encap_gre(ip + GW_IPV4_HEADER, packet);
}

GW_INLINE void gw_encap_outer_v6(void *out, const struct gw_backend *backend,
	const struct gw_packet *packet, uint64_t hash, uint16_t inner_sum)
{
	struct gw_outer outer = gw_encap_outer(backend, packet, hash);
	uint8_t *ip = out;

	gw_encap_ipv6(ip, backend, packet, &outer);
	if (backend->encap == GW_ENCAP_GUE)
		gw_encap_gue(ip + GW_IPV6_HEADER, ip, backend, packet, hash, inner_sum);
	else if (backend->encap == GW_ENCAP_GRE)
		gw_encap_gre(ip + GW_IPV6_HEADER, packet);
}

/* The family of the IP header that follows the Ethernet header of the frame that leaves. */
GW_INLINE uint8_t gw_encap_family(const struct gw_backend *backend, const struct gw_packet *packet)
{
	return backend->encap == GW_ENCAP_L2 ? packet->family : backend->family;
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
 * when it says "resolved", and first when it takes that back or names several ways, so that no
 * reader trusts MACs that are not there. One writer at a time.
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

/* Bytes of the Ethernet header that a link wants. */
GW_INLINE uint32_t gw_encap_ethernet_size(const struct gw_link *link)
{
	return GW_ETH_HEADER + (gw_link_vlan(link) ? GW_VLAN_TAG : 0);
}

/*
 * Writes the two MACs in two wide stores, 14 bytes: the last two are the type's, which the caller
 * writes next.
 */
GW_INLINE void gw_encap_macs(void *out, const struct gw_link *link)
{
	uint8_t *to = out;

	GW_WIRE_STORE(uint64_t, to, GW_WIRE_LOAD(uint64_t, link->destination_mac));
	GW_WIRE_STORE(uint64_t, to + 6, GW_WIRE_LOAD(uint64_t, link->source_mac));
}

GW_INLINE uint16_t gw_encap_ethertype(uint8_t family)
{
	return family == GW_IPV4 ? GW_ETHERTYPE_IPV4 : GW_ETHERTYPE_IPV6;
}

/*
 * Writes the Ethernet header, gw_encap_ethernet_size bytes, to `out`: with the link's 802.1Q tag if
 * it has one (priority 0). `family` is that of the IP header that follows.
 */
GW_INLINE void gw_encap_ethernet(void *out, const struct gw_link *link, uint8_t family)
{
	uint8_t *to = out;
	uint16_t vlan = gw_link_vlan(link);

	gw_encap_macs(to, link);
	if (vlan) {
		gw_wire_store32(to + 12, (uint32_t)GW_ETHERTYPE_VLAN << 16 | vlan);
		to += GW_VLAN_TAG;
	}
	gw_wire_store16(to + 12, gw_encap_ethertype(family));
}
