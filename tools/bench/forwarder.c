/* SPDX-License-Identifier: BSD-2-Clause */
#include "forwarder.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#define BURST 32 /* as the workers' */

static void swap_macs(struct rte_mbuf *mbuf)
{
	struct rte_ether_hdr *head = rte_pktmbuf_mtod(mbuf, struct rte_ether_hdr *);
	struct rte_ether_addr source = head->src_addr;

	head->src_addr = head->dst_addr;
	head->dst_addr = source;
}

static uint16_t forward(struct forwarder *forwarder)
{
	struct rte_mbuf *mbufs[BURST];
	uint16_t count = rte_eth_rx_burst(forwarder->ethdev, forwarder->queue, mbufs, BURST);
	uint16_t sent;

	if (!count)
		return 0;
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
	uint64_t last = rte_rdtsc();

	while (!__atomic_load_n(&forwarder->stop, __ATOMIC_RELAXED)) {
		uint16_t count = forward(forwarder);
		uint64_t now = rte_rdtsc();

		forwarder->total_cycles += now - last;
		if (count)
			forwarder->busy_cycles += now - last;
		last = now;
	}
	return 0;
}
