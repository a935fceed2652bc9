/* SPDX-License-Identifier: BSD-2-Clause */
/* Last stage: one buffer per port and worker, sent when full and at the end of each burst. */
#include "pipeline.h"

#include <rte_ethdev.h>

void gw_tx_send(struct gw_worker *worker, struct gw_tx_buffer *buffer)
{
	uint16_t sent =
		rte_eth_tx_burst(buffer->ethdev, buffer->queue, buffer->mbuf, buffer->count);

	if (unlikely(sent < buffer->count)) {
		/* Virtual ports take a burst in parts; a second try that gets nowhere is the end.
		 */
		sent += rte_eth_tx_burst(buffer->ethdev, buffer->queue, buffer->mbuf + sent,
			(uint16_t)(buffer->count - sent));
	}
	if (unlikely(sent < buffer->count)) {
		uint16_t refused = (uint16_t)(buffer->count - sent);

		rte_pktmbuf_free_bulk(buffer->mbuf + sent, refused);
		gw_count(&worker->stats.counters.tx_full, refused);
	}
	buffer->count = 0;
}

void gw_tx_flush(struct gw_worker *worker)
{
	while (worker->tx_pending) {
		uint32_t port = (uint32_t)__builtin_ctz(worker->tx_pending);

		worker->tx_pending &= worker->tx_pending - 1;
		if (worker->tx[port].count)
			gw_tx_send(worker, &worker->tx[port]);
	}
}
