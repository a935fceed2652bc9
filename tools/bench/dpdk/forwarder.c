/* SPDX-License-Identifier: BSD-2-Clause */
#include "forwarder.h"

#include "dataplane/pipeline.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include <string.h>

#define BURST 32 /* as the workers' */

/* Two loads and two stores: a bound must not be slowed down by how it was written. */
static __rte_always_inline void swap_macs(struct rte_mbuf *mbuf)
{
	uint8_t *head = rte_pktmbuf_mtod(mbuf, uint8_t *);
	uint64_t first, source, destination;
	uint32_t last;

	memcpy(&first, head, sizeof(first));
	memcpy(&last, head + sizeof(first), sizeof(last));
	first = rte_le_to_cpu_64(first);
	last = rte_le_to_cpu_32(last);
	destination = first & 0xffffffffffffu;
	source = first >> 48 | (uint64_t)last << 16;
	first = rte_cpu_to_le_64(source | destination << 48);
	last = rte_cpu_to_le_32((uint32_t)(destination >> 16));
	memcpy(head, &first, sizeof(first));
	memcpy(head + sizeof(first), &last, sizeof(last));
}

static uint16_t forward(struct forwarder *forwarder, uint16_t burst)
{
	struct rte_mbuf *mbufs[GW_BURST_MAX];
	uint16_t count = rte_eth_rx_burst(forwarder->ethdev, forwarder->queue, mbufs, burst);
	uint16_t sent;

	if (!count)
		return 0;
	if (!forwarder->io)
		for (uint16_t i = 0; i < count; i++)
			swap_macs(mbufs[i]);
	sent = rte_eth_tx_burst(forwarder->ethdev, forwarder->queue, mbufs, count);
	if (sent < count)
		rte_pktmbuf_free_bulk(mbufs + sent, count - sent);
	forwarder->received += count;
	forwarder->sent += sent;
	return count;
}

int forwarder_run(void *arg)
{
	struct forwarder *forwarder = arg;
	uint16_t burst = forwarder->burst ? forwarder->burst : BURST;
	uint64_t last = rte_rdtsc();

	while (!__atomic_load_n(&forwarder->stop, __ATOMIC_RELAXED)) {
		uint16_t count = forward(forwarder, burst);
		uint64_t now = rte_rdtsc();

		forwarder->total_cycles += now - last;
		if (count)
			forwarder->busy_cycles += now - last;
		last = now;
	}
	return 0;
}
