/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames written down byte by byte for the tests of both datapaths: a TCP SYN over IPv4 (IP packet
 * of 45 bytes, id 0x1234, TOS 0xb9) and a UDP datagram over IPv6 (51 bytes, traffic class 0x5a,
 * flow label 0x12345), each in an untagged Ethernet frame. Checksums are right.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define FRAME_ETH 14
#define FRAME_V4  (FRAME_ETH + 45)
#define FRAME_V6  (FRAME_ETH + 51)

static const uint8_t frame_ipv4_tcp[FRAME_V4] = {0x02, 0, 0, 0, 0, 0x0b, 0x02, 0, 0, 0, 0, 0x0a,
	0x08, 0x00,
	/* 198.51.100.7 > 203.0.113.10, TTL 55 */
	0x45, 0xb9, 0x00, 0x2d, 0x12, 0x34, 0x00, 0x00, 0x37, 0x06, 0x0a, 0x99, 0xc6, 0x33, 0x64,
	0x07, 0xcb, 0x00, 0x71, 0x0a,
	/* 40000 > 80, SYN, "hello" */
	0x9c, 0x40, 0x00, 0x50, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x02, 0x20,
	0x00, 0x49, 0x35, 0x00, 0x00, 0x68, 0x65, 0x6c, 0x6c, 0x6f};

static const uint8_t frame_ipv6_udp[FRAME_V6] = {0x02, 0, 0, 0, 0, 0x0b, 0x02, 0, 0, 0, 0, 0x0a,
	0x86, 0xdd,
	/* 2001:db8:51::7 > 2001:db8:113::10 */
	0x65, 0xa1, 0x23, 0x45, 0x00, 0x0b, 0x11, 0x40, 0x20, 0x01, 0x0d, 0xb8, 0x00, 0x51, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0x07, 0x20, 0x01, 0x0d, 0xb8, 0x01, 0x13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
	/* 5353 > 443, "abc" */
	0x14, 0xe9, 0x01, 0xbb, 0x00, 0x0b, 0xc7, 0xe4, 0x61, 0x62, 0x63};

/* A frame being changed. `length` is the whole frame's. */
struct frame {
	uint8_t bytes[2048];
	size_t length;
};

static inline struct frame frame_v4(void)
{
	struct frame frame = {.length = FRAME_V4};

	memcpy(frame.bytes, frame_ipv4_tcp, FRAME_V4);
	return frame;
}

static inline struct frame frame_v6(void)
{
	struct frame frame = {.length = FRAME_V6};

	memcpy(frame.bytes, frame_ipv6_udp, FRAME_V6);
	return frame;
}

/* Puts `count` bytes in at `offset`, moving what follows. */
static inline void frame_insert(struct frame *frame, size_t offset, const void *bytes, size_t count)
{
	memmove(frame->bytes + offset + count, frame->bytes + offset, frame->length - offset);
	memcpy(frame->bytes + offset, bytes, count);
	frame->length += count;
}

static inline void frame_put16(struct frame *frame, size_t offset, uint16_t value)
{
	frame->bytes[offset] = (uint8_t)(value >> 8);
	frame->bytes[offset + 1] = (uint8_t)value;
}

/*
 * Puts an IPv6 extension header of `count` bytes in front of what follows the fixed header and adds
 * it to the payload length; byte 0 (next header) is filled in here.
 */
static inline void frame_insert_exthdr(
	struct frame *frame, uint8_t type, const uint8_t *header, size_t count)
{
	size_t payload = (size_t)frame->bytes[FRAME_ETH + 4] << 8 | frame->bytes[FRAME_ETH + 5];

	frame_insert(frame, FRAME_ETH + 40, header, count);
	frame->bytes[FRAME_ETH + 40] = frame->bytes[FRAME_ETH + 6];
	frame->bytes[FRAME_ETH + 6] = type;
	frame_put16(frame, FRAME_ETH + 4, (uint16_t)(payload + count));
}
