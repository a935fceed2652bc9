/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/frames/frames.h"
#include "generator.h"

#include <string.h>

#define TCP_NUMBER     GENERATOR_NUMBER
#define TCP_COMPLEMENT 8
#define TCP_FLAGS      13
#define TCP_CHECKSUM   16
#define TCP_ACK	       0x10
#define GUE_HEADER     8
#define GRE_HEADER     4
#define ROOM	       (BENCH_FRAME_MAX + 64)

static const uint8_t our_mac[6] = BENCH_OUR_MAC;

/* One's complement: takes a word out of the sum that a checksum stands for, and puts one in. */
static void checksum_change(uint8_t *tcp, uint16_t out, uint16_t in)
{
	uint32_t sum = (uint32_t)(uint16_t)~frame_get16(tcp + TCP_CHECKSUM) + (uint16_t)~out + in;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	frame_put16(tcp + TCP_CHECKSUM, (uint16_t)~sum);
}

void generator_number_detach(const struct generator *generator, uint8_t *frame)
{
	uint8_t *tcp = frame + generator->tcp;

	for (int word = TCP_NUMBER; word < TCP_NUMBER + 8; word += 2)
		checksum_change(tcp, frame_get16(tcp + word), 0);
}

void generator_flags_set(const struct generator *generator, uint8_t *frame, uint8_t flags)
{
	uint8_t *tcp = frame + generator->tcp;
	uint16_t before = frame_get16(tcp + TCP_FLAGS - 1);

	tcp[TCP_FLAGS] = flags;
	checksum_change(tcp, before, frame_get16(tcp + TCP_FLAGS - 1));
}

/* As bench_frame_write has it: 1, and 1 more for an acknowledgement. */
static void number_restore(uint8_t *tcp)
{
	uint32_t acknowledged = tcp[TCP_FLAGS] & TCP_ACK ? 1 : 0;

	frame_put32(tcp + TCP_NUMBER, 1);
	frame_put32(tcp + TCP_COMPLEMENT, acknowledged);
	checksum_change(tcp, 0, (uint16_t)(1 + acknowledged));
}

uint32_t generator_shift(const struct generator *generator, enum bench_subject subject)
{
	const struct bench_case *what = generator->frames.what;

	if (subject == BENCH_BOUND || !strcmp(what->encap, "l2"))
		return 0;
	if (!strcmp(what->encap, "gue"))
		return frame_ip_header(what) + GUE_HEADER;
	return frame_ip_header(what) + (!strcmp(what->encap, "gre") ? GRE_HEADER : 0);
}

/* The bound sends the frame back to where it came from, and changes nothing else. */
static bool forwarded_right(const struct generator *generator, uint8_t *frame, uint32_t length)
{
	struct bench_case what = *generator->frames.what;
	struct bench_frames frames = {.what = &what};
	uint32_t backend = BENCH_BACKEND_IPV4 & 0xffff;

	if (memcmp(frame, generator->frames.source_mac, 6) != 0 ||
		memcmp(frame + 6, generator->frames.destination_mac, 6) != 0)
		return false;
	/* Then it is what layer-2 forwarding makes of it, but for these. */
	what.encap = "l2";
	if (what.family == BENCH_IPV6)
		backend = 0;
	frame_put32(frame, 0x02000100);
	frame_put16(frame + 4, (uint16_t)backend);
	memcpy(frame + 6, our_mac, sizeof(our_mac));
	return bench_frame_judge(&frames, frame, length, NULL);
}

bool generator_frame_right(const struct generator *generator, enum bench_subject subject,
	const uint8_t *frame, uint32_t length)
{
	uint8_t copy[ROOM];

	if (length > sizeof(copy))
		return false;
	memcpy(copy, frame, length);
	/* Another's balancer has another MAC than the one that the judge expects. */
	if (subject == BENCH_BALANCER) {
		if (memcmp(copy + 6, generator->frames.destination_mac, 6) != 0)
			return false;
		memcpy(copy + 6, our_mac, sizeof(our_mac));
	}
	number_restore(copy + generator->tcp + generator_shift(generator, subject));
	if (subject == BENCH_BOUND)
		return forwarded_right(generator, copy, length);
	return bench_frame_judge(&generator->frames, copy, length, NULL);
}
