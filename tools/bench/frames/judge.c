/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must come out. Written from the documents (docs/architecture.md, RFC 2003, 2473, 2784, GUE's
 * variant 1) and not from the balancer's own encapsulation, which it judges.
 */
#include "bench/core/bench.h"
#include "frames.h"

#include <netinet/in.h>
#include <string.h>

#define FRAME_UDP     8u
#define FRAME_GRE     4u
#define GUE_PORT      6080
#define GUE_SOURCE    0xc000 /* the lowest: 14 bits of the hash vary it */
#define OUTER_TTL     64
#define IPV4_DF	      0x4000
#define PROTOCOL_GRE  47
#define PROTOCOL_IPV4 4
#define PROTOCOL_IPV6 41

static const uint8_t our_mac[6] = BENCH_OUR_MAC;
static const uint8_t next_hop_mac[6] = {2, 0, 0, 0, 0, 1};
static const uint8_t l2_mac_prefix[4] = {2, 0, 1, 0};
static const uint8_t balancer_ipv6[16] = {0xfd, 0x82, [15] = 0x11};
static const uint8_t backend_prefix_ipv6[14] = {0xfd, 0x82, [13] = 1};

/* The whole is right when the sum over it, checksum included, is all ones (RFC 1071). */
static bool sum_right(const uint8_t *bytes, uint32_t length, uint32_t sum)
{
	for (uint32_t i = 0; i + 1 < length; i += 2)
		sum += frame_get16(bytes + i);
	if (length & 1)
		sum += (uint32_t)bytes[length - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static uint32_t tunnel_header(const struct bench_case *what)
{
	if (!strcmp(what->encap, "gue"))
		return FRAME_UDP;
	return !strcmp(what->encap, "gre") ? FRAME_GRE : 0;
}

static uint8_t tunnel_protocol(const struct bench_case *what)
{
	if (!strcmp(what->encap, "gue"))
		return IPPROTO_UDP;
	if (!strcmp(what->encap, "gre"))
		return PROTOCOL_GRE;
	return what->family == BENCH_IPV6 ? PROTOCOL_IPV6 : PROTOCOL_IPV4;
}

/* Bytes in front of the inner packet; l2 leaves the packet where it is. */
static uint32_t inner_offset(const struct bench_case *what)
{
	if (!strcmp(what->encap, "l2"))
		return FRAME_ETH;
	return FRAME_ETH + frame_ip_header(what) + tunnel_header(what);
}

static bool outer_ipv4_right(const struct bench_case *what, const uint8_t *ip, uint32_t length)
{
	return frame_get16(ip) == 0x4500 && frame_get16(ip + 2) == length &&
	       frame_get32(ip + 4) == IPV4_DF && ip[8] == OUTER_TTL &&
	       ip[9] == tunnel_protocol(what) && sum_right(ip, FRAME_IPV4, 0) &&
	       frame_get32(ip + 12) == BENCH_BALANCER_IPV4 &&
	       frame_get32(ip + 16) - BENCH_BACKEND_IPV4 < what->backends;
}

static bool outer_ipv6_right(const struct bench_case *what, const uint8_t *ip, uint32_t length)
{
	return frame_get32(ip) == 0x60000000 && frame_get16(ip + 4) == length - FRAME_IPV6 &&
	       ip[6] == tunnel_protocol(what) && ip[7] == OUTER_TTL &&
	       !memcmp(ip + 8, balancer_ipv6, sizeof(balancer_ipv6)) &&
	       !memcmp(ip + 24, backend_prefix_ipv6, sizeof(backend_prefix_ipv6)) &&
	       frame_get16(ip + 38) < what->backends;
}

/* Over IPv4 the checksum is 0 (none); over IPv6 it is there and right. */
static bool udp_right(
	const struct bench_case *what, const uint8_t *ip, const uint8_t *udp, uint32_t length)
{
	uint32_t sum = IPPROTO_UDP + length;

	if (frame_get16(udp) < GUE_SOURCE || frame_get16(udp + 2) != GUE_PORT ||
		frame_get16(udp + 4) != length)
		return false;
	if (what->family == BENCH_IPV4)
		return !frame_get16(udp + 6);
	for (uint32_t i = 8; i < FRAME_IPV6; i += 2)
		sum += frame_get16(ip + i);
	return frame_get16(udp + 6) && sum_right(udp, length, sum);
}

static bool tunnel_right(
	const struct bench_case *what, const uint8_t *ip, const uint8_t *tunnel, uint32_t length)
{
	if (!strcmp(what->encap, "gue"))
		return udp_right(what, ip, tunnel, length);
	if (!strcmp(what->encap, "gre"))
		return !frame_get16(tunnel) &&
		       frame_get16(tunnel + 2) ==
			       (what->family == BENCH_IPV6 ? FRAME_TYPE_IPV6 : FRAME_TYPE_IPV4);
	return true;
}

/* Our MAC, and the next hop's: with l2 that of the backend itself. */
static bool ethernet_right(const struct bench_case *what, const uint8_t *out)
{
	uint16_t type = what->family == BENCH_IPV6 ? FRAME_TYPE_IPV6 : FRAME_TYPE_IPV4;
	uint32_t first = what->family == BENCH_IPV6 ? 0 : BENCH_BACKEND_IPV4 & 0xffff;

	if (memcmp(out + 6, our_mac, sizeof(our_mac)) || frame_get16(out + 12) != type)
		return false;
	if (strcmp(what->encap, "l2"))
		return !memcmp(out, next_hop_mac, sizeof(next_hop_mac));
	return !memcmp(out, l2_mac_prefix, sizeof(l2_mac_prefix)) &&
	       frame_get16(out + 4) - first < what->backends;
}

static bool outer_right(const struct bench_case *what, const uint8_t *out, uint32_t length)
{
	const uint8_t *ip = out + FRAME_ETH;
	uint32_t ip_length = length - FRAME_ETH;
	uint32_t header = frame_ip_header(what);

	if (what->family == BENCH_IPV6 ? !outer_ipv6_right(what, ip, ip_length)
				       : !outer_ipv4_right(what, ip, ip_length))
		return false;
	return tunnel_right(what, ip, ip + header, ip_length - header);
}

bool bench_frame_right(const struct bench_frames *frames, uint64_t flow, uint64_t number,
	uint8_t tcp_flags, const uint8_t *out, uint32_t length)
{
	const struct bench_case *what = frames->what;
	uint32_t offset = inner_offset(what);
	uint8_t in[BENCH_FRAME_MAX];
	uint32_t inner = bench_frame_write(frames, flow, number, tcp_flags, in) - FRAME_ETH;

	if (length != offset + inner || !ethernet_right(what, out))
		return false;
	if (offset > FRAME_ETH && !outer_right(what, out, length))
		return false;
	return !memcmp(out + offset, in + FRAME_ETH, inner);
}

/* The flow that an inner packet says it is of; false when no flow of the case can be. */
static bool inner_flow(const struct bench_case *what, const uint8_t *ip, uint64_t *flow)
{
	bool ipv6 = what->family == BENCH_IPV6;
	uint32_t client = frame_get32(ip + (ipv6 ? 20 : 12)) - (ipv6 ? 0 : BENCH_SOURCE_IPV4);
	uint16_t port = frame_get16(ip + frame_ip_header(what));

	if (client >> BENCH_SOURCE_BITS || port < BENCH_SOURCE_PORT)
		return false;
	*flow = (uint64_t)(port - BENCH_SOURCE_PORT) << BENCH_SOURCE_BITS | client;
	return true;
}

bool bench_frame_judge(
	const struct bench_frames *frames, const uint8_t *out, uint32_t length, uint64_t *flow)
{
	const struct bench_case *what = frames->what;
	uint32_t offset = inner_offset(what);
	uint32_t header = frame_ip_header(what);
	uint32_t inner = length - offset;
	uint64_t of, number = 0;

	if (length < offset + header + FRAME_TCP || !inner_flow(what, out + offset, &of))
		return false;
	while (number < FRAME_IMIX_CYCLE && bench_frame_length(frames, number) - FRAME_ETH != inner)
		number++;
	/* Only the TCP flags are the packet's own word. */
	if (!bench_frame_right(frames, of, number, out[offset + header + 13], out, length))
		return false;
	if (flow)
		*flow = of;
	return true;
}
