/* SPDX-License-Identifier: BSD-2-Clause */
#include "unclaimed.h"

#include "abi/announce.h"
#include "abi/path_mtu.h"
#include "engine.h"
#include "frame.h"
#include "reply.h"
#include "service.h"

#include <string.h>

/* ---- announced addresses */

/* Is it for us to answer who has this address? */
static bool announces(const struct gw_worker *worker, const struct gw_address *address)
{
	const struct gw_vip *vip;

	if (__atomic_load_n(&worker->engine->withdrawn, __ATOMIC_RELAXED))
		return false;
	vip = gw_vip_find(worker->view, address);
	return vip && vip->flags & GW_VIP_ANNOUNCE_L2;
}

static void answer_arp(
	struct gw_worker *worker, struct gw_burst *burst, uint8_t i, const struct gw_frame *asked)
{
	uint16_t l3_offset = burst->packet[i].l3_offset;
	uint32_t length = l3_offset + GW_ARP_BYTES;
	const uint8_t *mac = worker->engine->port[burst->port].mac.addr_bytes;
	struct gw_address target;
	uint8_t *frame;

	if ((uint32_t)(asked->end - asked->start) < length || asked->start[6] & 1 ||
		!gw_arp_asks(asked->start + l3_offset, &target) || !announces(worker, &target))
		return;
	frame = gw_reply_open(burst, i, length);
	if (!frame || !gw_reply_resize(burst, i, length))
		return;
	gw_arp_answer(frame + l3_offset, mac);
	gw_announce_link(frame, mac, false);
	gw_reply_send(burst, i);
}

static void answer_solicitation(
	struct gw_worker *worker, struct gw_burst *burst, uint8_t i, const struct gw_frame *asked)
{
	uint16_t l3_offset = burst->packet[i].l3_offset;
	const uint8_t *ip = asked->start + l3_offset;
	const uint8_t *mac = worker->engine->port[burst->port].mac.addr_bytes;
	uint32_t length = l3_offset + GW_ND_ADVERTISEMENT, payload;
	struct gw_address target;
	uint8_t *frame;

	if (asked->start[6] & 1 || !gw_nd_asks(ip, asked->end, (uint32_t)(asked->end - ip)))
		return;
	memcpy(target.bytes, ip + GW_IPV6_HEADER + 8, sizeof(target.bytes));
	payload = gw_wire_load16(ip + 4);
	if (!gw_nd_sum_right(ip, payload,
		    gw_frame_sum(burst->mbuf[i], l3_offset + GW_IPV6_HEADER, payload)) ||
		!announces(worker, &target))
		return;
	frame = gw_reply_open(burst, i, l3_offset + GW_ND_SOLICITATION);
	if (!frame || !gw_reply_resize(burst, i, length))
		return;
	frame = gw_reply_open(burst, i, length);
	if (!frame)
		return;
	gw_announce_link(frame, mac, gw_nd_answer(frame + l3_offset, mac));
	gw_reply_send(burst, i);
}

/* ---- path MTUs */

static bool is_tunnel_source(const struct gw_view *view, const struct gw_address *address)
{
	for (int s = 0; s < GW_PATH_MTU_SOURCES; s++)
		if (gw_tunnel_source_has(&view->source[s], address))
			return true;
	return false;
}

/* Notes what a report says about the way to its destination; false when it teaches nothing. */
static bool learn_report(
	struct gw_worker *worker, const struct gw_path_report *report, uint8_t family)
{
	const struct gw_view *view = worker->view;
	const struct gw_endpoint *endpoint = gw_view_endpoint(view, &report->destination);
	const struct gw_backend *backend;
	const struct gw_live_hop *hop;
	uint64_t old, word;
	uint32_t mtu;

	if (!endpoint || !gw_path_report_fits(report, endpoint->modes) ||
		!is_tunnel_source(view, &report->source))
		return false;
	backend = &view->backend[endpoint->backend];
	hop = &worker->engine->hops.live[backend->next_hop];
	mtu = gw_mtu_lower(backend->mtu, hop->mtu);
	old = __atomic_load_n(&hop->path_mtu, __ATOMIC_RELAXED);
	word = gw_path_mtu_learn(old, worker->now, report->mtu, mtu ? mtu : GW_DEFAULT_MTU, family);
	if (!word)
		return false;
	gw_next_hop_learn(&worker->engine->hops, backend->next_hop, word);
	return true;
}

static void learn(
	struct gw_worker *worker, struct gw_burst *burst, uint8_t i, const struct gw_frame *frame)
{
	struct gw_packet *packet = &burst->packet[i];
	struct gw_path_report report;
	uint32_t length;

	if (gw_parse_transport(frame->start, frame->end, (uint32_t)(frame->end - frame->start),
		    packet) != GW_PARSE_ICMP)
		return;
	length = packet->l3_offset + packet->l3_length - packet->l4_offset;
	if (gw_path_report_read(frame->start + packet->l4_offset, length, packet->family,
		    &packet->key.destination, &report) &&
		gw_icmp_sum_right(
			packet, gw_frame_sum(burst->mbuf[i], packet->l4_offset, length), length) &&
		learn_report(worker, &report, packet->family))
		burst->result[i].verdict = GW_VERDICT_CONSUMED;
}

void gw_unclaimed(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	const struct gw_packet *packet = &burst->packet[i];
	struct gw_frame frame;
	const uint8_t *ip;

	if (!gw_frame_open(worker, burst->mbuf[i], &frame))
		return;
	ip = frame.start + packet->l3_offset;
	if (frame.end - frame.start < packet->l3_offset + GW_IPV4_HEADER)
		return;
	if (packet->family == GW_IPV4) {
		if (ip[9] == GW_PROTO_ICMP)
			learn(worker, burst, i, &frame);
	} else if (packet->family == GW_IPV6) {
		if (ip[6] != GW_PROTO_ICMPV6 || ip + GW_IPV6_HEADER + GW_ICMP_HEADER > frame.end)
			return;
		if (ip[GW_IPV6_HEADER] == GW_ICMPV6_SOLICITATION)
			answer_solicitation(worker, burst, i, &frame);
		else if (ip[GW_IPV6_HEADER] == GW_ICMPV6_TOO_BIG)
			learn(worker, burst, i, &frame);
	} else if (gw_wire_load16(ip - 2) == GW_ETHERTYPE_ARP) {
		answer_arp(worker, burst, i, &frame);
	}
}
