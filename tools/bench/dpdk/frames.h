/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames of frames.c, written fast enough for a source of tens of millions a second: a copy of
 * the first bytes of a template, into which the flow's addresses, port and checksums go. What lies
 * behind them is the same in every frame of a case, and stands in the buffers from the beginning.
 *
 * A template is flow 0's frame. Its checksums less the fields that differ (RFC 1624) are the start
 * of every other flow's, so nothing here knows how frames.c makes the rest.
 */
#pragma once

#include "bench/frames/frames.h"

#include <rte_byteorder.h>

#include <string.h>

#define FRAMES_HEAD                                                                                \
	80 /* bytes written a packet at most, whole vectors: TCP over IPv6 ends at 74              \
	    */
#define FRAMES_FLOWS (UINT64_C(1) << 32) /* flow numbers lie below; 2^15 source ports */

enum frames_kind {
	FRAMES_ACK,
	FRAMES_SYN,
	FRAMES_KINDS,
};

struct frames_template {
	uint8_t head[FRAMES_HEAD] __attribute__((aligned(16)));
	uint32_t ip_sum, tcp_sum; /* to which a flow's own fields are added */
	uint16_t length;
};

struct frames_writer {
	struct frames_template template[FRAMES_KINDS][FRAME_IMIX_CYCLE];
	uint64_t reciprocal; /* of `services`, for flow % services (Lemire, Kaser, Kurz 2019) */
	uint32_t services;
	uint32_t sizes; /* that come in turn: 1, or an IMIX's */
	bool ipv6;
};

void frames_writer_init(struct frames_writer *writer, const struct bench_frames *frames);

/* The whole of the longest frame, for a buffer that will only get heads. Returns its length. */
uint32_t frames_writer_body(const struct bench_frames *frames, uint8_t body[BENCH_FRAME_MAX]);

static inline uint16_t frames_fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return rte_cpu_to_be_16((uint16_t)~sum);
}

static inline uint32_t frames_halves(uint32_t word)
{
	return (word >> 16) + (word & 0xffff);
}

static inline void frames_store32(uint8_t *to, uint32_t value)
{
	uint32_t swapped = rte_cpu_to_be_32(value);

	memcpy(to, &swapped, sizeof(swapped));
}

static inline void frames_store16(uint8_t *to, uint16_t stored)
{
	memcpy(to, &stored, sizeof(stored));
}

/* The head of `flow`'s frame, below FRAMES_FLOWS. FRAMES_HEAD bytes of `frame` may be written. */
static __rte_always_inline void frames_write(const struct frames_writer *writer,
	const struct frames_template *template, bool ipv6, uint32_t flow, uint8_t *frame)
{
	const uint32_t source_at = FRAME_ETH + (ipv6 ? 20 : 12);
	const uint32_t service_at = FRAME_ETH + (ipv6 ? 36 : 16);
	const uint32_t tcp_at = FRAME_ETH + (ipv6 ? FRAME_IPV6 : FRAME_IPV4);
	uint64_t fraction = writer->reciprocal * flow;
	uint32_t service = (uint32_t)((unsigned __int128)fraction * writer->services >> 64);
	uint32_t source = flow & ((1u << BENCH_SOURCE_BITS) - 1);
	uint32_t port = BENCH_SOURCE_PORT + (flow >> BENCH_SOURCE_BITS);
	uint32_t addresses;

	source += ipv6 ? 0 : BENCH_SOURCE_IPV4;
	service += ipv6 ? 1 : BENCH_SERVICE_IPV4;
	addresses = frames_halves(source) + frames_halves(service);
	memcpy(frame, template->head, ipv6 ? FRAMES_HEAD : 64);
	if (!ipv6)
		frames_store16(frame + FRAME_ETH + 10, frames_fold(template->ip_sum + addresses));
	frames_store32(frame + source_at, source);
	frames_store32(frame + service_at, service);
	frames_store16(frame + tcp_at, rte_cpu_to_be_16((uint16_t)port));
	frames_store16(frame + tcp_at + 16, frames_fold(template->tcp_sum + addresses + port));
}
