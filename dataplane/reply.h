/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that become our own answer and leave by the port they came in on (verdict REPLY).
 */
#pragma once

#include "pipeline.h"

#include <rte_ip.h>

/*
 * Makes the first `bytes` of the frame at place i one run of bytes that may be written. NULL: it
 * cannot be done; the verdict is then a drop, no_headroom.
 */
uint8_t *gw_reply_open(struct gw_burst *burst, uint8_t i, uint32_t bytes);

/* Gives the frame this length: cuts its end, or adds a few bytes to it. False: no room. */
bool gw_reply_resize(struct gw_burst *burst, uint8_t i, uint32_t length);

/* The frame is the answer. A tag that the NIC took off goes back on. Sets the verdict. */
void gw_reply_send(struct gw_burst *burst, uint8_t i);

/*
 * The sum of `length` bytes from `offset` on, folded, as 16-bit words in network order; 0 when
 * there are not so many.
 */
static inline uint16_t gw_frame_sum(const struct rte_mbuf *mbuf, uint32_t offset, uint32_t length)
{
	uint16_t sum = 0;

	if (rte_raw_cksum_mbuf(mbuf, offset, length, &sum) != 0)
		return 0;
	return GW_NTOHS(sum);
}
