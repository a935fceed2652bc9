/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame as the parser wants it: one run of bytes. Nearly every frame is one segment and is read
 * in place; one that came in pieces (jumbo frames, header split) is copied to the worker's scratch.
 */
#pragma once

#include "pipeline.h"

struct gw_frame {
	const uint8_t *start;
	const uint8_t *end;
};

/* Valid until the next call. False when the frame is longer than any IP packet. */
static inline bool gw_frame_open(
	struct gw_worker *worker, const struct rte_mbuf *mbuf, struct gw_frame *frame)
{
	if (likely(mbuf->nb_segs == 1)) {
		frame->start = rte_pktmbuf_mtod(mbuf, const uint8_t *);
		frame->end = frame->start + mbuf->data_len;
		return true;
	}
	if (mbuf->pkt_len > GW_SCRATCH_SIZE)
		return false;
	frame->start = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, worker->scratch);
	if (!frame->start)
		return false;
	frame->end = frame->start + mbuf->pkt_len;
	return true;
}
