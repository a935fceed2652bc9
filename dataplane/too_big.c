/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Packets that, once encapsulated, exceed the egress MTU: the client is told what fits
 * (abi/too_big.h). The packet becomes its own quote: cut at its end, headers put in front.
 */
#include "abi/too_big.h"

#include "abi/limit.h"
#include "engine.h"
#include "reply.h"

static bool write_answer(struct gw_burst *burst, uint8_t i, uint32_t mtu)
{
	const struct gw_packet *packet = &burst->packet[i];
	uint32_t quote = gw_too_big_quote(packet->family, packet->l3_length);
	uint32_t headers = gw_too_big_headers(packet->family);
	uint32_t ip_header = headers - GW_ICMP_HEADER;
	uint16_t sum;
	uint8_t *frame;

	if (!gw_reply_open(burst, i, packet->l3_offset + ip_header) ||
		!gw_reply_resize(burst, i, packet->l3_offset + quote))
		return false;
	sum = gw_frame_sum(burst->mbuf[i], packet->l3_offset, quote);
	frame = (uint8_t *)rte_pktmbuf_prepend(burst->mbuf[i], (uint16_t)headers);
	if (!frame)
		return false;
	gw_icmp_link(frame, frame + headers, packet->l3_offset);
	if (packet->family == GW_IPV4)
		gw_too_big_ipv4(frame + packet->l3_offset, quote, mtu, sum);
	else
		gw_too_big_ipv6(frame + packet->l3_offset, quote, mtu, sum);
	return true;
}

void gw_too_big(struct gw_worker *worker, struct gw_burst *burst, uint8_t i, uint32_t mtu)
{
	struct gw_result *result = &burst->result[i];
	uint32_t overhead = worker->view->backend[result->backend].overhead;

	if (!gw_too_big_answers(&burst->packet[i]))
		gw_result_drop(result, GW_DROP_TOO_BIG);
	else if (!gw_limit_take(&worker->engine->too_big_limit, worker->now_ns))
		gw_result_drop(result, GW_DROP_PTB_LIMITED);
	else if (write_answer(burst, i, mtu - overhead))
		gw_reply_send(burst, i);
	else
		gw_result_drop(result, GW_DROP_NO_HEADROOM);
}
