/* SPDX-License-Identifier: BSD-2-Clause */
#include "frames.h"

#define TCP_SYN 0x02

/* What a one's complement sum over frame[at … at + 3] is taken out by (RFC 1624: ~m). */
static uint32_t take_out32(const uint8_t *frame, uint32_t at)
{
	return (uint32_t)(uint16_t)~frame_get16(frame + at) +
	       (uint16_t)~frame_get16(frame + at + 2);
}

static void template_init(struct frames_template *template, const struct bench_frames *frames,
	uint32_t number, enum frames_kind kind)
{
	bool ipv6 = frames->what->family == BENCH_IPV6;
	uint32_t tcp_at = FRAME_ETH + frame_ip_header(frames->what);
	uint8_t frame[BENCH_FRAME_MAX] = {0};
	uint32_t addresses;

	/* Longer frames of an IMIX pass through the same buffers: their payload must stay. */
	frames_writer_body(frames, frame);
	template->length = (uint16_t)bench_frame_write(
		frames, 0, number, kind == FRAMES_SYN ? TCP_SYN : 0, frame);
	memcpy(template->head, frame, FRAMES_HEAD);
	addresses = take_out32(frame, FRAME_ETH + (ipv6 ? 20 : 12)) +
		    take_out32(frame, FRAME_ETH + (ipv6 ? 36 : 16));
	template->ip_sum = (uint16_t)~frame_get16(frame + FRAME_ETH + 10) + addresses;
	template->tcp_sum = (uint16_t)~frame_get16(frame + tcp_at + 16) + addresses +
			    (uint16_t)~frame_get16(frame + tcp_at);
}

void frames_writer_init(struct frames_writer *writer, const struct bench_frames *frames)
{
	const struct bench_case *what = frames->what;

	writer->services = what->services;
	writer->reciprocal = UINT64_MAX / what->services + 1;
	writer->sizes = what->packet_size == BENCH_SIZE_IMIX ? FRAME_IMIX_CYCLE : 1;
	writer->ipv6 = what->family == BENCH_IPV6;
	for (int kind = 0; kind < FRAMES_KINDS; kind++)
		for (uint32_t i = 0; i < writer->sizes; i++)
			template_init(&writer->template[kind][i], frames, i, kind);
}

uint32_t frames_writer_body(const struct bench_frames *frames, uint8_t body[BENCH_FRAME_MAX])
{
	uint32_t longest = 0;

	for (uint32_t i = 1; i < FRAME_IMIX_CYCLE; i++)
		if (bench_frame_length(frames, i) > bench_frame_length(frames, longest))
			longest = i;
	return bench_frame_write(frames, 0, longest, 0, body);
}
