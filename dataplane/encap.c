/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fifth stage: the outer headers and the frame for the next hop (abi/encap.h). The frame's own
 * link-layer header and padding go, the inner packet stays byte for byte; what the receiving port
 * left in the mbuf's offload fields goes too, for this stage asks the sending port for nothing.
 */
#include "abi/encap.h"

#include "engine.h"
#include "pipeline.h"

/* Cuts what lies behind the IP packet: Ethernet's padding, in the last segments. */
static bool trim(struct rte_mbuf *mbuf, uint32_t frame_length)
{
	uint32_t excess = mbuf->pkt_len - frame_length;

	if (likely(!excess))
		return true;
	if (likely(excess < rte_pktmbuf_lastseg(mbuf)->data_len))
		return rte_pktmbuf_trim(mbuf, (uint16_t)excess) == 0;
	/* Padding over several segments: a frame so odd may be copied together. */
	return rte_pktmbuf_linearize(mbuf) == 0 && excess < mbuf->data_len &&
	       rte_pktmbuf_trim(mbuf, (uint16_t)excess) == 0;
}

/* Puts the frame's start where the outer headers begin. NULL: no room. */
static uint8_t *make_room(struct rte_mbuf *mbuf, const struct gw_packet *packet, uint32_t outer)
{
	if (unlikely(mbuf->data_len < packet->l3_offset) && rte_pktmbuf_linearize(mbuf) != 0)
		return NULL;
	if (unlikely(rte_mbuf_refcnt_read(mbuf) != 1))
		return NULL;
	if (unlikely(!trim(mbuf, packet->l3_offset + packet->l3_length)))
		return NULL;
	return (uint8_t *)rte_pktmbuf_prepend(
		mbuf, (uint16_t)(GW_ETH_HEADER + outer - packet->l3_offset));
}

static void clear_offloads(struct rte_mbuf *mbuf)
{
	mbuf->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	mbuf->tx_offload = 0;
	mbuf->packet_type = 0;
	mbuf->vlan_tci = 0;
}

/* What the packet may measure outside: the least of the pool's, the route's and the port's word. */
static uint32_t egress_mtu(const struct gw_engine *engine, const struct gw_backend *backend,
	const struct gw_live_hop *hop, const struct gw_link *link)
{
	uint32_t mtu = gw_mtu_lower(backend->mtu, hop->mtu);

	return link->port < engine->port_count ? gw_mtu_lower(mtu, engine->port[link->port].mtu)
					       : mtu;
}

/* The verdict of one packet, and its frame as it leaves. The order of the drops is XDP's too. */
static void encap_one(struct gw_worker *worker, struct rte_mbuf *mbuf,
	const struct gw_packet *packet, struct gw_result *result)
{
	const struct gw_engine *engine = worker->engine;
	const struct gw_backend *backend = &worker->view->backend[result->backend];
	const struct gw_live_hop *hop = &engine->hops.live[backend->next_hop];
	const struct gw_link link = gw_link_load(&hop->link);
	uint8_t *frame;

	if (unlikely(gw_encap_too_big(packet, backend, egress_mtu(engine, backend, hop, &link)))) {
		gw_result_drop(result, GW_DROP_TOO_BIG);
		return;
	}
	if (unlikely(!(link.flags & GW_LINK_RESOLVED) || link.port >= engine->port_count)) {
		gw_result_drop(result, GW_DROP_NO_NEIGHBOUR);
		return;
	}
	frame = make_room(mbuf, packet, gw_encap_overhead(backend));
	if (unlikely(!frame)) {
		gw_result_drop(result, GW_DROP_NO_HEADROOM);
		return;
	}
	gw_encap_ethernet(frame, &link, backend->family);
	if (backend->family == GW_IPV4)
		gw_encap_ipv4(frame + GW_ETH_HEADER, backend, packet, result->hash);
	else
		gw_encap_ipv6(frame + GW_ETH_HEADER, backend, packet);
	clear_offloads(mbuf);
	result->verdict = GW_VERDICT_TX;
	result->egress = link.port;
}

void gw_stage_encap(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_backend *backend = worker->view->backend;

	for (uint16_t k = 0; k < burst->live_count; k++)
		rte_prefetch0(
			&worker->engine->hops
				 .live[backend[burst->result[burst->live[k]].backend].next_hop]);
	for (uint16_t k = 0; k < burst->live_count; k++) {
		uint8_t i = burst->live[k];

		encap_one(worker, burst->mbuf[i], &burst->packet[i], &burst->result[i]);
	}
}
