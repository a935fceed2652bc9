/* SPDX-License-Identifier: BSD-2-Clause */
#include "feed.h"

#include "bench/frames/frames.h"

#include <string.h>

#define TCP_SYN 0x02
#define TCP_ACK 0x10

uint8_t xdp_feed_flags(uint32_t kind)
{
	return kind == BENCH_FEED_SYN ? TCP_SYN : TCP_ACK;
}

uint32_t xdp_feed_sizes(const struct bench_frames *frames, struct xdp_feed_size *sizes)
{
	uint32_t count = 0;

	if (frames->what->packet_size != BENCH_SIZE_IMIX) {
		sizes[0] = (struct xdp_feed_size){.number = 0, .weight = 1};
		return 1;
	}
	for (uint64_t number = 0; number < FRAME_IMIX_CYCLE; number++) {
		uint32_t i = 0;

		while (i < count && bench_frame_length(frames, sizes[i].number) !=
					    bench_frame_length(frames, number))
			i++;
		if (i == count)
			sizes[count++] = (struct xdp_feed_size){.number = number};
		sizes[i].weight++;
	}
	return count;
}

static uint32_t sum32(uint32_t value)
{
	return (value >> 16) + (value & 0xffff);
}

static uint32_t sum_folded(uint32_t sum)
{
	while (sum >> 16)
		sum = sum32(sum);
	return sum;
}

/* What a checksum sums up, less some of it: in one's complement a difference is a sum as well. */
static uint32_t sum_without(uint16_t checksum, uint32_t part)
{
	return (uint16_t)~checksum + (0xffff - sum_folded(part));
}

static void fill_head(struct bench_feed_head *head, const struct bench_feed *feed,
	const struct bench_frames *frames, const uint8_t *frame)
{
	uint32_t header = frame_ip_header(frames->what);
	uint32_t addresses = sum32(feed->source) + sum32(feed->service);

	memset(head, 0, sizeof(*head));
	memcpy(head->bytes, frame, FRAME_ETH + header + FRAME_TCP);
	head->tcp_sum =
		sum_without(frame_get16(frame + FRAME_ETH + header + 16), addresses + feed->port);
	if (frames->what->family == BENCH_IPV4)
		head->ip_sum = sum_without(frame_get16(frame + FRAME_ETH + 10), addresses);
}

void xdp_feed_shape(struct bench_feed *feed, const struct bench_frames *frames, uint64_t number)
{
	const struct bench_case *what = frames->what;
	uint8_t frame[BENCH_FRAME_MAX];
	const uint8_t *ip = frame + FRAME_ETH;
	bool ipv6 = what->family == BENCH_IPV6;

	feed->services = what->services;
	feed->source_bits = BENCH_SOURCE_BITS;
	feed->ports = BENCH_SOURCE_PORTS;
	for (uint32_t kind = 0; kind < BENCH_FEED_KINDS; kind++) {
		feed->frame_length =
			bench_frame_write(frames, 0, number, xdp_feed_flags(kind), frame);
		feed->source = frame_get32(ip + (ipv6 ? 20 : 12));
		feed->service = frame_get32(ip + (ipv6 ? 36 : 16));
		feed->port = frame_get16(ip + frame_ip_header(what));
		fill_head(&feed->head[kind], feed, frames, frame);
	}
}

void xdp_feed_in_turn(struct bench_feed *feed, uint64_t first, uint64_t flows)
{
	feed->first = first;
	feed->flows = flows;
	feed->next = 0;
	feed->in_turn = 1;
	feed->fresh_share = 0;
}

void xdp_feed_at_random(struct bench_feed *feed, const struct bench_case *what)
{
	feed->first = 0;
	feed->flows = what->flows;
	feed->in_turn = 0;
	feed->fresh_share = (uint32_t)(what->new_share * BENCH_FEED_WHOLE);
	if (feed->fresh < what->flows)
		feed->fresh = what->flows;
}
