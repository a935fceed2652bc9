/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First stage: whose frame is it? Decides by the MAC addresses and reads as far as the destination
 * address (abi/parse.h). What is no IP, or goes to another host's MAC, is the host's.
 */
#include "abi/parse.h"

#include "engine.h"
#include "frame.h"
#include "pipeline.h"
#include "unclaimed.h"

#include <string.h>

static bool same_mac(const uint8_t *a, const struct rte_ether_addr *b)
{
	return memcmp(a, b->addr_bytes, RTE_ETHER_ADDR_LEN) == 0;
}

/* What the link layer says about the frame: TX stands for "not decided". */
static enum gw_verdict judge_macs(const struct gw_port *port, const uint8_t *frame)
{
	if (port->any_mac)
		return GW_VERDICT_TX;
	/* AF_PACKET also shows what this host sends. */
	if (unlikely(same_mac(frame + RTE_ETHER_ADDR_LEN, &port->mac)))
		return GW_VERDICT_CONSUMED;
	if (unlikely(!same_mac(frame, &port->mac) && !(frame[0] & 1)))
		return GW_VERDICT_HOST;
	return GW_VERDICT_TX;
}

/* True when the packet goes on to the next stage. */
static bool parse_one(
	struct gw_worker *worker, const struct gw_port *port, struct gw_burst *burst, uint8_t i)
{
	struct gw_result *result = &burst->result[i];
	struct gw_frame frame;
	int parsed;

	if (unlikely(!gw_frame_open(worker, burst->mbuf[i], &frame))) {
		result->verdict = GW_VERDICT_HOST;
		return false;
	}
	if (likely(frame.end - frame.start >= GW_ETH_HEADER)) {
		result->verdict = judge_macs(port, frame.start);
		if (result->verdict != GW_VERDICT_TX)
			return false;
	}
	parsed = gw_parse_destination(frame.start, frame.end, &burst->packet[i]);
	if (gw_result_parsed(result, parsed))
		return true;
	if (parsed == GW_PARSE_HOST && worker->view)
		gw_unclaimed(worker, burst, i);
	return false;
}

void gw_stage_parse(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_port *port = &worker->engine->port[burst->port];
	uint16_t kept = 0;

	for (uint16_t k = 0; k < burst->live_count; k++) {
		uint8_t i = burst->live[k];

		if (parse_one(worker, port, burst, i))
			burst->live[kept++] = i;
	}
	burst->live_count = kept;
}
