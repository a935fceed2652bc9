/* SPDX-License-Identifier: BSD-2-Clause */
/* What frames.c, which writes frames, and frames/judge.c, which looks at them, both know. */
#pragma once

#include "bench/core/bench.h"

#include <stdint.h>

#define FRAME_ETH	 14u
#define FRAME_IPV4	 20u
#define FRAME_IPV6	 40u
#define FRAME_TCP	 20u
#define FRAME_IMIX_CYCLE 12u /* frames, then sizes come again */
#define FRAME_TYPE_IPV4	 0x0800
#define FRAME_TYPE_IPV6	 0x86dd

static inline void frame_put16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)(value >> 8);
	to[1] = (uint8_t)value;
}

static inline void frame_put32(uint8_t *to, uint32_t value)
{
	frame_put16(to, (uint16_t)(value >> 16));
	frame_put16(to + 2, (uint16_t)value);
}

static inline uint16_t frame_get16(const uint8_t *from)
{
	return (uint16_t)(from[0] << 8 | from[1]);
}

static inline uint32_t frame_get32(const uint8_t *from)
{
	return (uint32_t)frame_get16(from) << 16 | frame_get16(from + 2);
}

static inline uint32_t frame_ip_header(const struct bench_case *what)
{
	return what->family == BENCH_IPV6 ? FRAME_IPV6 : FRAME_IPV4;
}
