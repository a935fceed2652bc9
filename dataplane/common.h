/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frame that nearly all are: for this port's own MAC, without a tag, IPv4 without options or
 * IPv6 without extension headers, no fragment, whole TCP or UDP, from a source that clients have.
 *
 * gw_common_read only says that a frame is such a one and reads it in a straight line. It judges
 * nothing: of any other frame, right or wrong, it says no, and parse.c and service.c have it from
 * its first byte, by the rules of abi/parse.h. So it may say no too often but never yes wrongly;
 * that its yes leaves what gw_parse_destination and gw_parse_transport would leave follows from
 * these, line by line:
 *
 *	the type is IPv4's or IPv6's own	no tag: l3_offset is 14
 *	first byte 0x45, or version 6		no options: l4_offset is known
 *	neither MF nor an offset; or protocol	GW_WHOLE, and nothing of gw_parse_rare or
 *	TCP or UDP as IPv6's next header	gw_parse_exthdrs applies
 *	the IP length fits frame and headers	no GW_DROP_MALFORMED
 *	the MAC is the port's, no group's	judge_macs and link_multicast let it pass
 *
 * tests/unit/dp_common.c holds both parsers against each other, on every single-bit change of
 * frames and on random ones.
 */
#pragma once

#include "abi/parse.h"
#include "key_hash.h"
#include "port.h"

#include <rte_branch_prediction.h>
#include <rte_common.h>

#define GW_COMMON_L3 GW_ETH_HEADER

/* What the link layer of a common frame looks like on one port, as words in memory's order. */
struct gw_common_link {
	uint64_t mask; /* of the frame's first 8 bytes … */
	uint64_t mac;  /* … what they must be */
	uint64_t self; /* what the 6 bytes of the source must not be */
};

#define GW_COMMON_MAC 0xffffffffffffull

static inline struct gw_common_link gw_common_link(const struct gw_port *port)
{
	struct gw_common_link link = {.mask = GW_COMMON_MAC};

	if (port->any_mac)
		return (struct gw_common_link){.mask = 1, .self = UINT64_MAX}; /* no group's */
	__builtin_memcpy(&link.mac, port->mac.addr_bytes, RTE_ETHER_ADDR_LEN);
	link.self = link.mac;
	return link;
}

/* The transport header at `l4`, where `room` bytes of the IP packet are left, all of them there. */
static __rte_always_inline bool gw_common_transport(
	const uint8_t *l4, int32_t room, uint32_t protocol, uint8_t *tcp_flags)
{
	int32_t header;

	if (unlikely(protocol != GW_PROTO_TCP))
		return protocol == GW_PROTO_UDP && room >= GW_UDP_HEADER;
	if (unlikely(room < GW_TCP_HEADER)) /* or the next bytes are not the frame's */
		return false;
	header = l4[12] >> 2 & 0x3c; /* its upper half are words of four bytes */
	*tcp_flags = l4[13];
	return likely(header >= GW_TCP_HEADER) && likely(header <= room);
}

/* What the record of a whole packet has last: `ip_id` is IPv4's, in host order. */
static __rte_always_inline void gw_common_whole(struct gw_packet *packet, uint16_t ip_id)
{
	_Static_assert(offsetof(struct gw_packet, link_multicast) ==
				       offsetof(struct gw_packet, fragment) + 1 &&
			       offsetof(struct gw_packet, fragment_id) ==
				       offsetof(struct gw_packet, ip_id) + 4 &&
			       sizeof(*packet) == offsetof(struct gw_packet, ip_id) + 8,
		"written as two words");
	GW_WIRE_STORE(uint16_t, &packet->fragment, GW_WHOLE);
	GW_WIRE_STORE(uint64_t, &packet->ip_id, ip_id); /* GW_KEY_IN_WORDS: the rest is 0 */
}

/*
 * Whether no client has that IPv4 source, or hardly one: what gw_parse_ipv4_is_martian says, and
 * all of 0.0.0.0/8 and 240.0.0.0/4.
 */
static __rte_always_inline bool gw_common_is_odd(uint8_t first_byte)
{
	return unlikely((uint8_t)(first_byte - 1) > 223 - 1) || unlikely(first_byte == 127);
}

/*
 * The key's words, from registers. Not as a copy of them all, which would be read back from the
 * stack in wider pieces than it was written in, and wait for that.
 */
static __rte_always_inline void gw_common_key(
	struct gw_packet *packet, const uint64_t key[GW_KEY_WORDS])
{
#pragma GCC unroll 5
	for (int n = 0; n < GW_KEY_WORDS; n++)
		GW_WIRE_STORE(uint64_t, (uint8_t *)&packet->key + 8 * n, key[n]);
}

static __rte_always_inline bool gw_common_ipv4(
	const uint8_t *frame, uint32_t length, struct gw_packet *packet, uint64_t key[GW_KEY_WORDS])
{
	const uint8_t *ip = frame + GW_COMMON_L3, *l4 = ip + GW_IPV4_HEADER;
	uint32_t source = GW_WIRE_LOAD(uint32_t, ip + 12);
	uint32_t destination = GW_WIRE_LOAD(uint32_t, ip + 16);
	uint32_t total = gw_wire_load16(ip + 2), fragment = GW_WIRE_LOAD(uint16_t, ip + 6);
	uint8_t protocol = ip[9], tcp_flags = 0;

	if (unlikely(fragment & GW_HTONS(GW_IPV4_MF | GW_IPV4_OFFSET)) ||
		unlikely(GW_COMMON_L3 + total > length) ||
		!gw_common_transport(l4, (int32_t)total - GW_IPV4_HEADER, protocol, &tcp_flags) ||
		unlikely(gw_common_is_odd(ip[12])) || unlikely(source == destination))
		return false;
	key[0] = key[2] = 0;
	key[1] = 0xffff0000 | (uint64_t)source << 32;
	key[3] = 0xffff0000 | (uint64_t)destination << 32;
	key[4] = GW_WIRE_LOAD(uint32_t, l4) | (uint64_t)protocol << 32;
	gw_common_key(packet, key);
	packet->l3_offset = GW_COMMON_L3;
	packet->l4_offset = GW_COMMON_L3 + GW_IPV4_HEADER;
	packet->l3_length = total;
	packet->family = GW_IPV4;
	packet->protocol = protocol;
	packet->tcp_flags = tcp_flags;
	packet->tos = ip[1];
	packet->ttl = ip[8];
	packet->dont_fragment = fragment & GW_HTONS(GW_IPV4_DF);
	gw_common_whole(packet, gw_wire_load16(ip + 4));
	return true;
}

static __rte_always_inline bool gw_common_ipv6(
	const uint8_t *frame, uint32_t length, struct gw_packet *packet, uint64_t key[GW_KEY_WORDS])
{
	const uint8_t *ip = frame + GW_COMMON_L3, *l4 = ip + GW_IPV6_HEADER;
	const struct gw_address *source = (const struct gw_address *)(ip + 8);
	const struct gw_address *destination = (const struct gw_address *)(ip + 24);
	uint32_t payload = gw_wire_load16(ip + 4);
	uint8_t protocol = ip[6], tcp_flags = 0;

	if (unlikely(GW_COMMON_L3 + GW_IPV6_HEADER + payload > length) ||
		!gw_common_transport(l4, (int32_t)payload, protocol, &tcp_flags))
		return false;
#pragma GCC unroll 4
	for (int n = 0; n < 4; n++)
		key[n] = GW_WIRE_LOAD(uint64_t, source->bytes + 8 * n);
	if (gw_parse_ipv6_is_martian(source) || gw_address_is_ipv4(destination) ||
		(key[0] == key[2] && key[1] == key[3]))
		return false;
	key[4] = GW_WIRE_LOAD(uint32_t, l4) | (uint64_t)protocol << 32;
	gw_common_key(packet, key);
	packet->l3_offset = GW_COMMON_L3;
	packet->l4_offset = GW_COMMON_L3 + GW_IPV6_HEADER;
	packet->l3_length = GW_IPV6_HEADER + payload;
	packet->family = GW_IPV6;
	packet->protocol = protocol;
	packet->tcp_flags = tcp_flags;
	packet->tos = (uint8_t)(gw_wire_load16(ip) >> 4);
	packet->ttl = ip[7];
	packet->dont_fragment = true;
	gw_common_whole(packet, 0);
	return true;
}

/* What kind of frame it may be, by its MACs and the first bytes behind them: a family, or 0. */
static __rte_always_inline uint8_t gw_common_kind(
	const struct gw_common_link *link, const uint8_t *frame, uint32_t length)
{
	uint32_t kind;

	if (!GW_KEY_IN_WORDS || unlikely(length < GW_COMMON_L3 + GW_IPV4_HEADER + GW_UDP_HEADER) ||
		unlikely((GW_WIRE_LOAD(uint64_t, frame) & link->mask) != link->mac) ||
		unlikely((GW_WIRE_LOAD(uint64_t, frame + 6) & GW_COMMON_MAC) == link->self))
		return 0;
	kind = GW_WIRE_LOAD(uint32_t, frame + 12);
	if ((kind & 0xffffff) == 0x450008) /* type 0x0800, first byte 0x45 */
		return GW_IPV4;
	if ((kind & 0xf0ffff) == 0x60dd86 && length >= GW_COMMON_L3 + GW_IPV6_HEADER)
		return GW_IPV6;
	return 0;
}

/*
 * True when the frame, `length` bytes in one piece, is a common one; *packet is then what the whole
 * parser would have made of it, and `key` its key as words. For tests: the stage calls the parts.
 */
static inline bool gw_common_read(const struct gw_common_link *link, const uint8_t *frame,
	uint32_t length, struct gw_packet *packet, uint64_t key[GW_KEY_WORDS])
{
	uint8_t family = gw_common_kind(link, frame, length);

	return family == GW_IPV4   ? gw_common_ipv4(frame, length, packet, key)
	       : family == GW_IPV6 ? gw_common_ipv6(frame, length, packet, key)
				   : false;
}
