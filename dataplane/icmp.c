/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ICMP and ICMPv6 to a service address (abi/icmp.h): echo requests are answered in the buffer they
 * came in; errors go to the backend of the flow that they quote. The flow table is only read.
 */
#include "abi/icmp.h"

#include "abi/table_slot.h"
#include "engine.h"
#include "frame.h"
#include "reply.h"
#include "service.h"
#include "unclaimed.h"

static void answer_echo(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	const struct gw_packet *packet = &burst->packet[i];
	struct gw_result *result = &burst->result[i];
	uint32_t payload = packet->l4_offset + GW_ICMP_HEADER;
	uint32_t length = packet->l3_offset + packet->l3_length;
	struct gw_frame frame;
	uint8_t *start;
	bool zeroes;

	if (__atomic_load_n(&worker->engine->withdrawn, __ATOMIC_RELAXED) ||
		burst->vip[i]->flags & GW_VIP_NO_ECHO ||
		!gw_frame_open(worker, burst->mbuf[i], &frame) ||
		!gw_icmp_echo_allowed(frame.start, frame.end, packet)) {
		gw_result_drop(result, GW_DROP_ICMP_OTHER);
		return;
	}
	zeroes = gw_icmp_echo_ambiguous(frame.start + packet->l4_offset, packet) &&
		 !gw_frame_sum(burst->mbuf[i], payload, length - payload);
	start = gw_reply_open(burst, i, payload);
	if (!start)
		return;
	if (gw_reply_resize(burst, i, length) &&
		gw_icmp_echo_answer(start, start + burst->mbuf[i]->data_len, packet, zeroes))
		gw_reply_send(burst, i);
	else
		gw_result_drop(result, GW_DROP_MALFORMED);
}

/* The tracked flow's backend, or GW_NONE. */
static uint32_t find_tracked(
	const struct gw_worker *worker, const struct gw_flow_key *key, uint32_t pool)
{
	const struct gw_flow_table *flows = &worker->engine->flows;
	const struct gw_view *view = worker->view;
	uint64_t word;

	if (gw_flow_lookup(flows, gw_flow_table_place(flows, key), &word) == GW_FLOW_NOWHERE ||
		gw_flow_expired(word, worker->now, &view->timeouts) ||
		!gw_view_keeps_flow(view, word, pool, GW_FLOW_PACKET))
		return GW_NONE;
	return gw_flow_backend(word);
}

/* The backend of the flow `key`, of result->service. False: there is none. */
static bool choose(struct gw_worker *worker, struct gw_result *result, struct gw_flow_key *key)
{
	const struct gw_view *view = worker->view;
	const struct gw_service *service = &view->service[result->service];
	const struct gw_view_pool *pool = &view->pool[service->pool];
	uint32_t tracked = service->flags & GW_SERVICE_UNTRACKED
				   ? GW_NONE
				   : find_tracked(worker, key, service->pool);

	gw_flow_key_reduce(key, service->affinity);
	gw_result_hash(result, gw_flow_hash(key, view->hash_seed));
	if (tracked != GW_NONE) {
		result->backend = tracked;
		result->flow = GW_TRACE_HIT;
		return true;
	}
	if (!pool->slot) {
		gw_result_drop(result, GW_DROP_NO_BACKEND);
		return false;
	}
	result->slot = gw_table_slot(result->hash, pool->table_size);
	result->backend = pool->member[pool->slot[result->slot]];
	return true;
}

static bool deliver_error(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	const struct gw_packet *packet = &burst->packet[i];
	struct gw_result *result = &burst->result[i];
	struct gw_flow_key key = packet->key;
	struct gw_frame frame;

	if (!gw_frame_open(worker, burst->mbuf[i], &frame) ||
		!gw_icmp_quoted_flow(frame.start + packet->l4_offset + GW_ICMP_HEADER,
			gw_icmp_quote_length(packet), packet->family, &key)) {
		gw_result_drop(result, GW_DROP_ICMP_OTHER);
		return false;
	}
	result->service = gw_vip_service(
		worker->view, burst->vip[i], key.protocol, GW_NTOHS(key.destination_port));
	if (result->service != GW_NONE)
		return choose(worker, result, &key);
	if (burst->vip[i]->flags & GW_VIP_NO_SERVICE_HOST)
		result->verdict = GW_VERDICT_HOST;
	else
		gw_result_drop(result, GW_DROP_ICMP_OTHER);
	return false;
}

bool gw_icmp(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	const struct gw_packet *packet = &burst->packet[i];
	struct gw_result *result = &burst->result[i];
	uint8_t room[1];
	const uint8_t *type = rte_pktmbuf_read(burst->mbuf[i], packet->l4_offset, 1, room);

	switch (gw_icmp_kind(packet->family, *type)) {
	case GW_ICMP_KIND_ECHO:
		answer_echo(worker, burst, i);
		return false;
	case GW_ICMP_KIND_ERROR:
		return deliver_error(worker, burst, i);
	case GW_ICMP_KIND_SOLICITATION:
		result->verdict = GW_VERDICT_HOST;
		gw_unclaimed(worker, burst, i);
		return false;
	default:
		gw_result_drop(result, GW_DROP_ICMP_OTHER);
		return false;
	}
}
