/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What routers between us and a backend say about packets that we have sent: "too big", about our
 * OUTER packet. Believed for ten minutes a backend address, if the quote is a packet that we could
 * have sent: from one of our outer sources to a backend, in the protocol of its mode. It only ever
 * lowers the MTU, and not below what every link carries, so that a forged one does little harm.
 * Sources: RFC 1191, RFC 8201, RFC 2473 section 7.1 (tunnels), RFC 791 (576 bytes), RFC 8200
 * (1280).
 *
 * What is learnt is one word: MTU in the high half, the second in which it ends in the low one.
 */
#pragma once

#include "abi/icmp.h"

#define GW_PATH_MTU_SECONDS  600
#define GW_PATH_MTU_MIN_IPV4 576
#define GW_PATH_MTU_MIN_IPV6 1280
#define GW_PATH_MTU_SOURCES  8

/* ICMP header, an IPv6 header, 8 bytes of what follows: what is read of a message. */
#define GW_PATH_REPORT_BYTES (GW_ICMP_HEADER + GW_IPV6_HEADER + 8)

/* An address, or the prefix of all that differ in the low bits, that our outer packets come from.
 */
struct gw_tunnel_source {
	struct gw_address address;
	uint8_t family; /* 0: this and all behind it are not used */
	uint8_t bits;
	uint16_t reserved;
};
_Static_assert(sizeof(struct gw_tunnel_source) == 20, "tunnel source layout");

/* What is known of the backends at one address. */
struct gw_endpoint {
	uint32_t backend; /* the first of them, by id */
	uint8_t modes;	  /* bit 1 << enum gw_encap: how they are reached */
	uint8_t reserved[3];
};
_Static_assert(sizeof(struct gw_endpoint) == 8, "endpoint layout");

/* A message, as far as it counts. */
struct gw_path_report {
	struct gw_address source; /* of the quoted packet */
	struct gw_address destination;
	uint32_t mtu;
	uint32_t protocol;
};

GW_INLINE uint64_t gw_path_mtu_word(uint32_t mtu, uint32_t until)
{
	return (uint64_t)mtu << 32 | until;
}

/* 0: nothing, or not any more. `now` in seconds. */
GW_INLINE uint32_t gw_path_mtu_of(uint64_t word, uint32_t now)
{
	return (int32_t)((uint32_t)word - now) > 0 ? (uint32_t)(word >> 32) : 0;
}

/* The word after a report of `mtu`, where `word` was; 0 when it teaches nothing. `link` is the
 * egress MTU. */
GW_INLINE uint64_t gw_path_mtu_learn(
	uint64_t word, uint32_t now, uint32_t mtu, uint32_t link, uint8_t family)
{
	uint32_t least = family == GW_IPV4 ? GW_PATH_MTU_MIN_IPV4 : GW_PATH_MTU_MIN_IPV6;
	uint32_t known = gw_path_mtu_of(word, now);

	if (mtu < least || mtu >= link || (known && mtu > known))
		return 0;
	return gw_path_mtu_word(mtu, now + GW_PATH_MTU_SECONDS);
}

/* Could be one of ours by its type; a first, cheap look. `icmp` is readable for 2 bytes. */
GW_INLINE bool gw_path_report_type(const uint8_t *icmp, uint8_t family)
{
	return family == GW_IPV4
		       ? icmp[0] == GW_ICMP_UNREACHABLE && icmp[1] == GW_ICMP_NEEDS_FRAGMENT
		       : icmp[0] == GW_ICMPV6_TOO_BIG;
}

/*
 * Reads a message from its ICMP header on: `length` bytes at `icmp`, of which GW_PATH_REPORT_BYTES
 * may be read whatever `length` says. False: not about a packet whose source is `to`, the
 * message's own destination, or quotes what we do not send (options, fragments).
 */
GW_INLINE bool gw_path_report_read(const uint8_t *icmp, uint32_t length, uint8_t family,
	const struct gw_address *to, struct gw_path_report *report)
{
	const uint8_t *quote = icmp + GW_ICMP_HEADER;
	uint64_t unlike = 0;

	if (!gw_path_report_type(icmp, family))
		return false;
	if (family == GW_IPV4) {
		if (length < GW_ICMP_HEADER + GW_IPV4_HEADER || quote[0] != 0x45 ||
			gw_wire_load16(quote + 6) & GW_IPV4_OFFSET)
			return false;
		report->mtu = gw_wire_load16(icmp + 6);
		report->protocol = quote[9];
		gw_address_set_ipv4(&report->source, quote + 12);
		gw_address_set_ipv4(&report->destination, quote + 16);
	} else {
		if (length < GW_ICMP_HEADER + GW_IPV6_HEADER || quote[0] >> 4 != 6)
			return false;
		report->mtu = gw_wire_load32(icmp + 4);
		report->protocol = quote[6];
		gw_wire_copy16(report->source.bytes, quote + 8);
		gw_wire_copy16(report->destination.bytes, quote + 24);
	}
	for (int i = 0; i < 16; i += 4)
		unlike |= GW_WIRE_LOAD(uint32_t, report->source.bytes + i) ^
			  GW_WIRE_LOAD(uint32_t, to->bytes + i);
	return !unlike;
}

/* Does some mode in use at the backend's address send this protocol? */
GW_INLINE bool gw_path_report_fits(const struct gw_path_report *report, uint8_t modes)
{
	uint32_t protocol = report->protocol;

	return protocol == GW_PROTO_UDP					? modes & 1 << GW_ENCAP_GUE
	       : protocol == GW_PROTO_GRE				? modes & 1 << GW_ENCAP_GRE
	       : protocol == GW_PROTO_IPV4 || protocol == GW_PROTO_IPV6 ? modes & 1 << GW_ENCAP_IPIP
									: false;
}

GW_INLINE bool gw_tunnel_source_has(
	const struct gw_tunnel_source *source, const struct gw_address *address)
{
	uint32_t free = (uint32_t)((1ull << (source->bits & 63)) - 1);
	uint32_t unlike =
		(gw_wire_load32(source->address.bytes + 12) ^ gw_wire_load32(address->bytes + 12)) &
		~free;

	for (int i = 0; i < 12; i += 4)
		unlike |= GW_WIRE_LOAD(uint32_t, source->address.bytes + i) ^
			  GW_WIRE_LOAD(uint32_t, address->bytes + i);
	return !(unlike | !source->family);
}

/* Is the whole message's checksum right? `sum` is the folded sum of its `length` bytes. */
GW_INLINE bool gw_icmp_sum_right(const struct gw_packet *packet, uint32_t sum, uint32_t length)
{
	if (packet->family == GW_IPV6) {
		sum += gw_encap_halves(length) + GW_PROTO_ICMPV6;
		for (int i = 0; i < 16; i += 4)
			sum += gw_encap_halves(gw_wire_load32(packet->key.source.bytes + i)) +
			       gw_encap_halves(gw_wire_load32(packet->key.destination.bytes + i));
	}
	return gw_checksum_of(sum) == 0;
}

#ifndef GW_BPF
/* Adds a backend's outer source to those known, of GW_PATH_MTU_SOURCES. */
GW_INLINE void gw_tunnel_source_add(
	struct gw_tunnel_source *sources, const struct gw_backend *backend)
{
	struct gw_tunnel_source source = {.address = backend->outer_source,
		.family = backend->family,
		.bits = backend->source_bits};

	if (backend->state == GW_BACKEND_FREE || backend->encap == GW_ENCAP_L2)
		return;
	for (int i = 0; i < GW_PATH_MTU_SOURCES; i++) {
		if (!sources[i].family)
			sources[i] = source;
		if (!__builtin_memcmp(&sources[i], &source, sizeof(source)))
			return;
	}
}
#endif
