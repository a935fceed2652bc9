/* SPDX-License-Identifier: BSD-2-Clause */
#include "reply.h"

#include <rte_ether.h>

uint8_t *gw_reply_open(struct gw_burst *burst, uint8_t i, uint32_t bytes)
{
	struct rte_mbuf *mbuf = burst->mbuf[i];

	if (rte_mbuf_refcnt_read(mbuf) == 1 &&
		(mbuf->data_len >= bytes || rte_pktmbuf_linearize(mbuf) == 0) &&
		mbuf->data_len >= bytes)
		return rte_pktmbuf_mtod(mbuf, uint8_t *);
	gw_result_drop(&burst->result[i], GW_DROP_NO_HEADROOM);
	return NULL;
}

/* Cuts a chain behind its first `length` bytes; the segments behind go back to their pool. */
static void cut(struct rte_mbuf *mbuf, uint32_t length)
{
	struct rte_mbuf *last = mbuf;
	uint32_t left = length;
	uint16_t segments = 1;

	while (left > last->data_len && last->next) {
		left -= last->data_len;
		last = last->next;
		segments++;
	}
	last->data_len = (uint16_t)left;
	rte_pktmbuf_free(last->next);
	last->next = NULL;
	mbuf->nb_segs = segments;
	mbuf->pkt_len = length;
}

bool gw_reply_resize(struct gw_burst *burst, uint8_t i, uint32_t length)
{
	struct rte_mbuf *mbuf = burst->mbuf[i];

	if (mbuf->pkt_len < length)
		return rte_pktmbuf_append(mbuf, (uint16_t)(length - mbuf->pkt_len)) != NULL;
	if (mbuf->pkt_len > length)
		cut(mbuf, length);
	return true;
}

void gw_reply_send(struct gw_burst *burst, uint8_t i)
{
	struct rte_mbuf *mbuf = burst->mbuf[i];
	struct gw_result *result = &burst->result[i];

	if (mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED && rte_vlan_insert(&mbuf) != 0) {
		gw_result_drop(result, GW_DROP_NO_HEADROOM);
		return;
	}
	mbuf->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	mbuf->tx_offload = 0;
	mbuf->packet_type = 0;
	mbuf->vlan_tci = 0;
	result->verdict = GW_VERDICT_REPLY;
	result->egress = burst->port;
}
