/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What goes in: the frames of a case (bench.h). Quick enough to be made per packet: everything but
 * the addresses, the source port and the checksums is the same in all flows.
 */
#include "frames.h"

#include "bench/core/bench.h"

#include <netinet/in.h>
#include <string.h>

#define FRAME_FCS     4u
#define TCP_SYN	      0x02
#define TCP_ACK	      0x10
#define WINDOW	      8192
#define INNER_TTL     63 /* another than the outer header's 64 */
#define PAYLOAD_BYTE  0x5a
#define PAYLOAD_WORD  0x5a5au
#define IPV4_DF	      0x4000
#define SERVICE_IPV6  1u
#define SIZE_SHORTEST 64u

/* Seven of 64, four of 594, one of 1518, as evenly mixed as twelve can be. */
static const uint16_t imix[FRAME_IMIX_CYCLE] = {
	64, 594, 64, 64, 594, 64, 594, 64, 64, 594, 64, 1518};

static const uint8_t source_prefix_ipv6[6] = {0x20, 0x01, 0x00, 0x02, 0x00, 0x00};
static const uint8_t service_prefix_ipv6[8] = {0x20, 0x01, 0x0d, 0xb8, 0x01, 0x13, 0x00, 0x00};

static uint16_t sum_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* One's complement sum of `length` bytes, an even number. */
static uint32_t sum_words(const uint8_t *bytes, uint32_t length)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < length; i += 2)
		sum += frame_get16(bytes + i);
	return sum;
}

uint32_t bench_frame_length(const struct bench_frames *frames, uint64_t number)
{
	uint32_t size = frames->what->packet_size;
	uint32_t shortest = FRAME_ETH + frame_ip_header(frames->what) + FRAME_TCP;
	uint32_t length;

	if (size == BENCH_SIZE_IMIX)
		size = imix[number % FRAME_IMIX_CYCLE];
	if (size < SIZE_SHORTEST)
		size = SIZE_SHORTEST;
	length = size - FRAME_FCS;
	if (length < shortest)
		return shortest;
	return length < BENCH_FRAME_MAX ? length : BENCH_FRAME_MAX;
}

/* The header in front of TCP, and the part of its checksum that the addresses make. */
static uint32_t write_ipv4(uint8_t *ip, uint32_t client, uint32_t service, uint32_t length)
{
	frame_put16(ip, 0x4500);
	frame_put16(ip + 2, (uint16_t)length);
	frame_put32(ip + 4, IPV4_DF);
	frame_put16(ip + 8, INNER_TTL << 8 | IPPROTO_TCP);
	frame_put16(ip + 10, 0);
	frame_put32(ip + 12, BENCH_SOURCE_IPV4 + client);
	frame_put32(ip + 16, BENCH_SERVICE_IPV4 + service);
	frame_put16(ip + 10, sum_fold(sum_words(ip, FRAME_IPV4)));
	return sum_words(ip + 12, 8);
}

static uint32_t write_ipv6(uint8_t *ip, uint32_t client, uint32_t service, uint32_t length)
{
	frame_put32(ip, 0x60000000);
	frame_put16(ip + 4, (uint16_t)(length - FRAME_IPV6));
	ip[6] = IPPROTO_TCP;
	ip[7] = INNER_TTL;
	memset(ip + 8, 0, 32);
	memcpy(ip + 8, source_prefix_ipv6, sizeof(source_prefix_ipv6));
	frame_put32(ip + 20, client);
	memcpy(ip + 24, service_prefix_ipv6, sizeof(service_prefix_ipv6));
	frame_put32(ip + 36, SERVICE_IPV6 + service);
	return sum_words(ip + 8, 32);
}

static void write_tcp(
	uint8_t *tcp, uint16_t port, uint8_t flags, uint32_t length, uint32_t address_sum)
{
	uint32_t payload = length - FRAME_TCP;
	uint32_t sum;

	frame_put16(tcp, port);
	frame_put16(tcp + 2, BENCH_SERVICE_PORT);
	frame_put32(tcp + 4, 1);
	frame_put32(tcp + 8, flags & TCP_ACK ? 1 : 0);
	frame_put16(tcp + 12, (uint16_t)(5 << 12 | flags));
	frame_put16(tcp + 14, WINDOW);
	frame_put32(tcp + 16, 0);
	memset(tcp + FRAME_TCP, PAYLOAD_BYTE, payload);
	sum = address_sum + IPPROTO_TCP + length + sum_words(tcp, FRAME_TCP) +
	      payload / 2 * PAYLOAD_WORD;
	if (payload & 1)
		sum += PAYLOAD_BYTE << 8;
	frame_put16(tcp + 16, sum_fold(sum));
}

uint32_t bench_frame_write(const struct bench_frames *frames, uint64_t flow, uint64_t number,
	uint8_t tcp_flags, uint8_t frame[BENCH_FRAME_MAX])
{
	uint32_t length = bench_frame_length(frames, number);
	uint32_t ip_length = length - FRAME_ETH;
	uint32_t header = frame_ip_header(frames->what);
	uint32_t client = (uint32_t)(flow & ((1u << BENCH_SOURCE_BITS) - 1));
	uint32_t service = (uint32_t)(flow % frames->what->services);
	uint16_t port =
		(uint16_t)(BENCH_SOURCE_PORT + (flow >> BENCH_SOURCE_BITS) % BENCH_SOURCE_PORTS);
	uint8_t *ip = frame + FRAME_ETH;
	uint32_t sum;

	memcpy(frame, frames->destination_mac, 6);
	memcpy(frame + 6, frames->source_mac, 6);
	if (frames->what->family == BENCH_IPV6) {
		frame_put16(frame + 12, FRAME_TYPE_IPV6);
		sum = write_ipv6(ip, client, service, ip_length);
	} else {
		frame_put16(frame + 12, FRAME_TYPE_IPV4);
		sum = write_ipv4(ip, client, service, ip_length);
	}
	write_tcp(ip + header, port, tcp_flags ? tcp_flags : TCP_ACK, ip_length - header, sum);
	return length;
}
