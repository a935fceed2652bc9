/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * `announce: l2`: the balancer answers for its service addresses on the link, as a host would for
 * its own. Questions become answers in the frame they came in. Sources: RFC 826 and RFC 5227 (ARP,
 * probes), RFC 4861 (neighbour discovery; 7.1.1 what a valid solicitation is, 7.2.4 the answer),
 * RFC 4862 section 5.4.3 (a solicitation from the unspecified address asks whether the address is
 * taken).
 */
#pragma once

#include "abi/icmp.h"

#define GW_ETHERTYPE_ARP 0x0806
#define GW_ARP_BYTES	 28
#define GW_ARP_REPLY	 2

#define GW_ND_HOPS	     255
#define GW_ND_SOLICITATION   (GW_IPV6_HEADER + 24)     /* IP header and message, no options */
#define GW_ND_ADVERTISEMENT  (GW_IPV6_HEADER + 24 + 8) /* and the link-layer address */
#define GW_ND_SOURCE_ADDRESS 1
#define GW_ND_TARGET_ADDRESS 2
#define GW_ND_OPTIONS	     8 /* of a solicitation, at most */
#define GW_ND_FLAG_SOLICITED 0x40000000u
#define GW_ND_FLAG_OVERRIDE  0x20000000u

/*
 * True for an ARP request for an IPv4 address on Ethernet, which goes to *target; a probe counts,
 * an announcement (sender and target are one) does not. `arp` is readable for GW_ARP_BYTES.
 */
GW_INLINE bool gw_arp_asks(const uint8_t *arp, struct gw_address *target)
{
	if (gw_wire_load32(arp) != 0x00010800 || gw_wire_load32(arp + 4) != 0x06040001 ||
		GW_WIRE_LOAD(uint32_t, arp + 14) == GW_WIRE_LOAD(uint32_t, arp + 24))
		return false;
	*target = (struct gw_address){};
	gw_wire_store16(target->bytes + 10, 0xffff);
	gw_wire_copy4(target->bytes + 12, arp + 24);
	return true;
}

GW_INLINE void gw_announce_mac(uint8_t *to, const uint8_t *mac)
{
	gw_wire_copy4(to, mac);
	gw_wire_copy2(to + 4, mac + 4);
}

/* Turns the request into the reply: the target is at `mac`. */
GW_INLINE void gw_arp_answer(uint8_t *arp, const uint8_t *mac)
{
	gw_wire_store16(arp + 6, GW_ARP_REPLY);
	gw_announce_mac(arp + 18, arp + 8);
	gw_announce_mac(arp + 8, mac);
	/* Two addresses change places; neither is aligned to the other's end. */
	gw_icmp_swap4(arp + 14, arp + 24);
}

GW_INLINE bool gw_nd_unspecified(const uint8_t *address)
{
	uint32_t any = 0;

	for (int i = 0; i < 16; i += 4)
		any |= GW_WIRE_LOAD(uint32_t, address + i);
	return !any;
}

/* Is `address` the solicited-node group of `target` (RFC 4291, section 2.7.1)? */
GW_INLINE bool gw_nd_group_of(const uint8_t *address, const uint8_t *target)
{
	return gw_wire_load32(address) == 0xff020000 && !gw_wire_load32(address + 4) &&
	       gw_wire_load32(address + 8) == 1 &&
	       gw_wire_load32(address + 12) == (0xff000000 | gw_wire_load32(target + 12));
}

/* Options of a solicitation, `length` bytes: all there, none empty, none that may not be. */
GW_INLINE bool gw_nd_options_right(
	const uint8_t *options, const void *end, uint32_t length, bool unspecified)
{
	uint32_t at = 0;

	for (int i = 0; i < GW_ND_OPTIONS && at < length; i++) {
		const uint8_t *option;

		at = (uint32_t)GW_BOUND(at, GW_PARSE_L4_MASK);
		option = options + at;
		if (option + 8 > (const uint8_t *)end || !option[1])
			return false;
		if (unspecified && option[0] == GW_ND_SOURCE_ADDRESS)
			return false;
		at += option[1] * 8u;
	}
	return at == length;
}

/*
 * True for a neighbour solicitation that RFC 4861 calls valid, but for its checksum. `ip` is its
 * IPv6 header, with `length` bytes from there on in the frame.
 */
GW_INLINE bool gw_nd_asks(const uint8_t *ip, const void *end, uint32_t length)
{
	const uint8_t *icmp = ip + GW_IPV6_HEADER, *target = icmp + 8;
	uint32_t payload, unlike = 0;
	bool unspecified, group;

	if (ip + GW_ND_SOLICITATION > (const uint8_t *)end)
		return false;
	payload = gw_wire_load16(ip + 4);
	if (ip[0] >> 4 != 6 || ip[6] != GW_PROTO_ICMPV6 || ip[7] != GW_ND_HOPS ||
		payload < GW_ND_SOLICITATION - GW_IPV6_HEADER ||
		payload + GW_IPV6_HEADER > length || icmp[0] != GW_ICMPV6_SOLICITATION || icmp[1] ||
		target[0] == 0xff)
		return false;
	unspecified = gw_nd_unspecified(ip + 8);
	group = gw_nd_group_of(ip + 24, target);
	for (int i = 0; i < 16; i += 4)
		unlike |= GW_WIRE_LOAD(uint32_t, ip + 24 + i) ^ GW_WIRE_LOAD(uint32_t, target + i);
	if (!group && (unspecified || unlike))
		return false;
	return gw_nd_options_right(ip + GW_ND_SOLICITATION, end,
		payload + GW_IPV6_HEADER - GW_ND_SOLICITATION, unspecified);
}

/* The solicitation's checksum, given the folded sum of its `payload` bytes behind the IP header. */
GW_INLINE bool gw_nd_sum_right(const uint8_t *ip, uint32_t payload, uint32_t sum)
{
	return gw_checksum_of(sum + gw_encap_pseudo_sum(ip, payload, GW_PROTO_ICMPV6)) == 0;
}

/*
 * Turns the solicitation at `ip` into the advertisement, GW_ND_ADVERTISEMENT bytes: the target is
 * at `mac`. Who asked from the unspecified address is answered, with everybody, at ff02::1; then
 * the return value is true and the frame's destination has to be 33:33:00:00:00:01.
 */
GW_INLINE bool gw_nd_answer(uint8_t *ip, const uint8_t *mac)
{
	bool everybody = gw_nd_unspecified(ip + 8);
	uint8_t *icmp = ip + GW_IPV6_HEADER;
	uint32_t payload = GW_ND_ADVERTISEMENT - GW_IPV6_HEADER, sum;

	gw_wire_store32(ip, 0x60000000u);
	gw_wire_store32(ip + 4, payload << 16 | GW_PROTO_ICMPV6 << 8 | GW_ND_HOPS);
	gw_wire_copy16(ip + 24, ip + 8);
	gw_wire_copy16(ip + 8, icmp + 8);
	if (everybody) {
		gw_wire_store32(ip + 24, 0xff020000);
		gw_wire_store32(ip + 36, 1);
	}
	gw_wire_store32(icmp, (uint32_t)GW_ICMPV6_ADVERTISEMENT << 24);
	gw_wire_store32(icmp + 4, GW_ND_FLAG_OVERRIDE | (everybody ? 0 : GW_ND_FLAG_SOLICITED));
	gw_wire_store16(icmp + 24, GW_ND_TARGET_ADDRESS << 8 | 1);
	gw_announce_mac(icmp + 26, mac);
	sum = gw_encap_pseudo_sum(ip, payload, GW_PROTO_ICMPV6);
	for (uint32_t i = 0; i < GW_ND_ADVERTISEMENT - GW_IPV6_HEADER; i += 4)
		sum += gw_encap_halves(gw_wire_load32(icmp + i));
	gw_wire_store16(icmp + 2, gw_checksum_of(sum));
	return everybody;
}

/* The answer's link-layer addresses: back to the sender, or to every IPv6 node. */
GW_INLINE void gw_announce_link(uint8_t *frame, const uint8_t *mac, bool everybody)
{
	gw_announce_mac(frame, frame + 6);
	if (everybody) {
		gw_wire_store32(frame, 0x33330000);
		gw_wire_store16(frame + 4, 0x0001);
	}
	gw_announce_mac(frame + 6, mac);
}
