/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * One parser for both datapaths (packets.md, "Parsing"). A frame for no service is the host's,
 * whatever is wrong with it, so parsing has two steps with the look-up of the service address in
 * between:
 *
 *	gw_parse_destination   reads as far as the addresses and judges nothing
 *	gw_parse_transport     judges the whole header chain and reads the ports
 *
 * `frame` is the Ethernet header, `end` the byte behind the last that may be read. Both return
 * GW_PARSE_OK or one of the other GW_PARSE_* or, as a number from 0, the enum gw_drop to drop the
 * frame under. What is rare leaves here under a value of its own, so that it is handled out of
 * line. Sources: RFC 791, RFC 8200 (extension headers), RFC 4302 (AH), RFC 6946 (atomic fragments),
 * RFC 9293 (TCP), RFC 9260 (SCTP).
 */
#pragma once

#include "abi/packet.h"
#include "abi/verdict.h"
#include "abi/wire.h"

#define GW_PARSE_OK   (-1)
#define GW_PARSE_HOST (-2) /* not IP, or nothing that any service could have */
#define GW_PARSE_ICMP (-3) /* whole ICMP or ICMPv6 at l4_offset, at least its 8 bytes of header */
#define GW_PARSE_LATE (-4) /* a later fragment: no ports, its first one knows the backend */

#define GW_PARSE_TAGS	 2 /* VLAN tags */
#define GW_PARSE_EXTHDRS 8 /* IPv6 extension headers */

/* Bounds for the verifier: 14 + 2 tags; and 22 + 40 + 8 headers of at most 2048 bytes. */
#define GW_PARSE_L3_MASK 0x1f
#define GW_PARSE_L4_MASK 0x7fff

#define GW_IPV4_DF     0x4000
#define GW_IPV4_MF     0x2000
#define GW_IPV4_OFFSET 0x1fff
#define GW_IPV6_OFFSET 0xfff8 /* in the fragment header, with M as bit 0 */
#define GW_IPV6_MF     0x0001
#define GW_TCP_HEADER  20
#define GW_UDP_HEADER  8
#define GW_SCTP_HEADER 12
#define GW_ICMP_HEADER 8

#define GW_EXT_HOPBYHOP	   0
#define GW_EXT_ROUTING	   43
#define GW_EXT_FRAGMENT	   44
#define GW_EXT_AH	   51
#define GW_EXT_DESTINATION 60

/*
 * Ethernet, up to two VLAN tags, then the two addresses of an IPv4 or IPv6 header. Fills key's
 * addresses, l3_offset, l3_length (as the header has it, not judged), family and link_multicast and
 * zeroes the rest. GW_PARSE_HOST: not IP, cut
 * off before the addresses, or an IPv6 destination that spells an IPv4 one (no such packet may
 * exist). GW_DROP_MALFORMED: under 14 bytes, which is no frame.
 */
GW_INLINE int gw_parse_destination(const void *frame, const void *end, struct gw_packet *packet)
{
	const uint8_t *at = frame;
	uint32_t offset = GW_ETH_HEADER;
	uint16_t type;

	*packet = (struct gw_packet){};
	if (at + GW_ETH_HEADER > (const uint8_t *)end)
		return GW_DROP_MALFORMED;
	packet->link_multicast = at[0] & 1;
	type = gw_wire_load16(at + 12);
#pragma GCC unroll 2
	for (int i = 0; i < GW_PARSE_TAGS; i++) {
		if (type != GW_ETHERTYPE_VLAN && type != GW_ETHERTYPE_QINQ)
			break;
		if (at + offset + 4 > (const uint8_t *)end)
			return GW_PARSE_HOST;
		type = gw_wire_load16(at + offset + 2);
		offset += 4;
	}
	packet->l3_offset = (uint16_t)offset;
	at += offset;
	if (type == GW_ETHERTYPE_IPV4) {
		if (at + GW_IPV4_HEADER > (const uint8_t *)end)
			return GW_PARSE_HOST;
		packet->family = GW_IPV4;
		packet->l3_length = gw_wire_load16(at + 2);
		gw_wire_store16(packet->key.source.bytes + 10, 0xffff);
		gw_wire_copy4(packet->key.source.bytes + 12, at + 12);
		gw_wire_store16(packet->key.destination.bytes + 10, 0xffff);
		gw_wire_copy4(packet->key.destination.bytes + 12, at + 16);
		return GW_PARSE_OK;
	}
	if (type != GW_ETHERTYPE_IPV6 || at + GW_IPV6_HEADER > (const uint8_t *)end)
		return GW_PARSE_HOST;
	packet->family = GW_IPV6;
	packet->l3_length = GW_IPV6_HEADER + gw_wire_load16(at + 4);
	gw_wire_copy16(packet->key.source.bytes, at + 8);
	gw_wire_copy16(packet->key.destination.bytes, at + 24);
	return gw_address_is_ipv4(&packet->key.destination) ? GW_PARSE_HOST : GW_PARSE_OK;
}

/* What an IPv4 header or an IPv6 fragment header says: `more` follow, `later` is not the first. */
GW_INLINE uint8_t gw_fragment_kind(bool more, bool later)
{
	return later ? GW_FRAGMENT_LATER : more ? GW_FRAGMENT_FIRST : GW_WHOLE;
}

GW_INLINE int gw_parse_ipv4(
	const uint8_t *at, const void *end, uint32_t length, struct gw_packet *packet)
{
	uint32_t header, fragment;

	if (at + GW_IPV4_HEADER > (const uint8_t *)end || at[0] >> 4 != 4)
		return GW_DROP_MALFORMED;
	header = (at[0] & 0xfu) * 4;
	if (header < GW_IPV4_HEADER || packet->l3_length < header ||
		packet->l3_offset + packet->l3_length > length)
		return GW_DROP_MALFORMED;
	fragment = gw_wire_load16(at + 6);
	packet->tos = at[1];
	packet->ip_id = gw_wire_load16(at + 4);
	packet->ttl = at[8];
	packet->protocol = at[9];
	packet->dont_fragment = fragment & GW_IPV4_DF;
	packet->fragment = gw_fragment_kind(fragment & GW_IPV4_MF, fragment & GW_IPV4_OFFSET);
	packet->l4_offset = (uint16_t)(packet->l3_offset + header);
	return GW_PARSE_OK;
}

GW_INLINE bool gw_parse_is_exthdr(uint8_t protocol)
{
	return protocol == GW_EXT_HOPBYHOP || protocol == GW_EXT_ROUTING ||
	       protocol == GW_EXT_FRAGMENT || protocol == GW_EXT_AH ||
	       protocol == GW_EXT_DESTINATION;
}

/* One that is atomic leaves what another said. */
GW_INLINE void gw_parse_fragment(const uint8_t *header, uint32_t fragment, struct gw_packet *packet)
{
	uint8_t kind = gw_fragment_kind(fragment & GW_IPV6_MF, fragment & GW_IPV6_OFFSET);

	if (kind == GW_WHOLE)
		return;
	packet->fragment = kind;
	packet->fragment_protocol = header[0];
	packet->fragment_id = gw_wire_load32(header + 4);
}

/*
 * Walks the extension headers from packet->protocol on; leaves the transport protocol there and its
 * place in l4_offset. Behind the header of a later fragment is data, not headers: the walk ends.
 */
GW_INLINE int gw_parse_exthdrs(const uint8_t *at, const void *end, struct gw_packet *packet)
{
	uint32_t offset = GW_IPV6_HEADER;
	uint8_t protocol = packet->protocol;

	for (int i = 0; i < GW_PARSE_EXTHDRS && gw_parse_is_exthdr(protocol); i++) {
		const uint8_t *header = at + GW_BOUND(offset, GW_PARSE_L4_MASK);
		uint32_t length, fragment = 0;

		if (offset + 8 > packet->l3_length || header + 8 > (const uint8_t *)end)
			return GW_DROP_MALFORMED;
		length = (header[1] + 1u) * 8;
		if (protocol == GW_EXT_AH)
			length = (header[1] + 2u) * 4;
		if (protocol == GW_EXT_FRAGMENT) {
			length = 8;
			fragment = gw_wire_load16(header + 2);
			gw_parse_fragment(header, fragment, packet);
		}
		protocol = header[0];
		offset += length;
		if (fragment & GW_IPV6_OFFSET)
			goto out;
	}
	if (gw_parse_is_exthdr(protocol))
		return GW_DROP_EXTHDR;
out:
	packet->protocol = protocol;
	packet->l4_offset = (uint16_t)(packet->l3_offset + offset);
	return offset > packet->l3_length ? GW_DROP_MALFORMED : GW_PARSE_OK;
}

GW_INLINE int gw_parse_ipv6(
	const uint8_t *at, const void *end, uint32_t length, struct gw_packet *packet)
{
	if (at + GW_IPV6_HEADER > (const uint8_t *)end || at[0] >> 4 != 6)
		return GW_DROP_MALFORMED;
	if (packet->l3_offset + packet->l3_length > length)
		return GW_DROP_MALFORMED;
	packet->tos = (uint8_t)(gw_wire_load16(at) >> 4);
	packet->protocol = at[6];
	packet->ttl = at[7];
	packet->dont_fragment = true;
	return gw_parse_exthdrs(at, end, packet);
}

/* Sources that no packet from a client can have: loopback, group, unspecified, broadcast. */
GW_INLINE bool gw_parse_ipv4_is_martian(uint32_t number)
{
	return number >> 24 == 127 || number >> 28 == 0xe || number == 0 || number == 0xffffffffu;
}

/* The same for IPv6, and what spells an IPv4 address. */
GW_INLINE bool gw_parse_ipv6_is_martian(const struct gw_address *source)
{
	if (source->bytes[0] == 0xff)
		return true;
	if (gw_address_is_ipv4(source))
		return true;
	return GW_WIRE_LOAD(uint64_t, source->bytes) == 0 &&
	       gw_wire_load32(source->bytes + 8) == 0 && gw_wire_load32(source->bytes + 12) <= 1;
}

/* One of those, or the service itself. */
GW_INLINE bool gw_parse_source_is_martian(const struct gw_packet *packet)
{
	const struct gw_address *source = &packet->key.source;

	if (GW_WIRE_LOAD(uint64_t, source->bytes) ==
			GW_WIRE_LOAD(uint64_t, packet->key.destination.bytes) &&
		GW_WIRE_LOAD(uint64_t, source->bytes + 8) ==
			GW_WIRE_LOAD(uint64_t, packet->key.destination.bytes + 8))
		return true;
	if (packet->family == GW_IPV4)
		return gw_parse_ipv4_is_martian(gw_wire_load32(source->bytes + 12));
	return gw_parse_ipv6_is_martian(source);
}

GW_INLINE bool gw_parse_is_icmp(const struct gw_packet *packet)
{
	return packet->protocol == (packet->family == GW_IPV4 ? GW_PROTO_ICMP : GW_PROTO_ICMPV6);
}

/* Ports of TCP, UDP and SCTP into the key; other protocols have none. Wants a whole transport
 * header. */
GW_INLINE int gw_parse_ports(const void *frame, const void *end, struct gw_packet *packet)
{
	const uint8_t *l4 = (const uint8_t *)frame + GW_BOUND(packet->l4_offset, GW_PARSE_L4_MASK);
	uint32_t room = packet->l3_offset + packet->l3_length - packet->l4_offset;
	uint32_t header;

	if (packet->protocol == GW_PROTO_TCP)
		header = GW_TCP_HEADER;
	else if (packet->protocol == GW_PROTO_UDP)
		header = GW_UDP_HEADER;
	else if (packet->protocol == GW_PROTO_SCTP)
		header = GW_SCTP_HEADER;
	else
		return GW_PARSE_OK;
	if (room < header || l4 + GW_UDP_HEADER > (const uint8_t *)end)
		return GW_DROP_MALFORMED;
	packet->key.source_port = GW_WIRE_LOAD(uint16_t, l4);
	packet->key.destination_port = GW_WIRE_LOAD(uint16_t, l4 + 2);
	if (packet->protocol == GW_PROTO_TCP) {
		if (l4 + GW_TCP_HEADER > (const uint8_t *)end)
			return GW_DROP_MALFORMED;
		header = (l4[12] >> 4) * 4u;
		if (header < GW_TCP_HEADER || header > room)
			return GW_DROP_MALFORMED;
		packet->tcp_flags = l4[13];
	}
	return GW_PARSE_OK;
}

/* ICMP and fragments. A first fragment goes on to its ports. */
GW_INLINE int gw_parse_rare(struct gw_packet *packet)
{
	uint32_t room = packet->l3_offset + packet->l3_length - packet->l4_offset;

	if (packet->fragment && packet->family == GW_IPV4) {
		packet->fragment_id = packet->ip_id;
		packet->fragment_protocol = packet->protocol;
	}
	if (packet->fragment && !room)
		return GW_DROP_FRAG_EMPTY;
	if (gw_parse_is_icmp(packet)) {
		if (packet->fragment)
			return GW_DROP_ICMP_OTHER;
		return room < GW_ICMP_HEADER ? GW_DROP_MALFORMED : GW_PARSE_ICMP;
	}
	return packet->fragment == GW_FRAGMENT_LATER ? GW_PARSE_LATE : GW_PARSE_OK;
}

/*
 * Everything behind the addresses, of a frame whose destination is some service's. Lengths come
 * from the IP header; bytes behind it are Ethernet's padding and ignored. Fills the rest of
 * *packet. `length` counts the bytes of the whole frame, of which those up to `end` can be read: in
 * XDP a frame may go on in further buffers.
 */
GW_INLINE int gw_parse_transport(
	const void *frame, const void *end, uint32_t length, struct gw_packet *packet)
{
	const uint8_t *at = (const uint8_t *)frame + GW_BOUND(packet->l3_offset, GW_PARSE_L3_MASK);
	int result = packet->family == GW_IPV4 ? gw_parse_ipv4(at, end, length, packet)
					       : gw_parse_ipv6(at, end, length, packet);

	if (result != GW_PARSE_OK)
		return result;
	packet->key.protocol = packet->protocol;
	if (packet->link_multicast || gw_parse_source_is_martian(packet))
		return GW_DROP_MARTIAN;
	if (packet->fragment || gw_parse_is_icmp(packet)) {
		result = gw_parse_rare(packet);
		if (result != GW_PARSE_OK)
			return result;
	}
	return gw_parse_ports(frame, end, packet);
}
