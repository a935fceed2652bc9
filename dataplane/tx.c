/* SPDX-License-Identifier: BSD-2-Clause */
/* Last stage: one buffer per port and worker, sent when full and at the end of each burst. */
#include "pipeline.h"

#include <rte_ethdev.h>

#include <string.h>

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

void gw_tx_push_all(
	struct gw_worker *worker, uint16_t port, struct rte_mbuf **mbufs, uint16_t count)
{
	struct gw_tx_buffer *buffer = &worker->tx[port];

	if (unlikely(buffer->count + count > GW_BURST_MAX))
		gw_tx_send(worker, buffer);
	memcpy(&buffer->mbuf[buffer->count], mbufs, count * sizeof(mbufs[0]));
	buffer->count = (uint16_t)(buffer->count + count);
	worker->tx_pending |= 1u << port;
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
