/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * From a service address, a protocol and a port to the service (design.md, "Service match"). The
 * spans of one address and protocol are sorted and disjoint, so a binary search finds the only
 * answer. The datapaths differ in how they reach a span; each passes its own accessor, which
 * inlines.
 */
#pragma once

#include "abi/objects.h"

/* Steps that halve GW_MAX_SPANS down to nothing. */
#define GW_SPAN_STEPS 18
_Static_assert(GW_MAX_SPANS < 1u << GW_SPAN_STEPS, "the search reaches every span");

/* The run of spans for a protocol that has ports; NULL for one that has none. */
GW_INLINE const struct gw_span_run *gw_vip_run(const struct gw_vip *vip, uint8_t protocol)
{
	return protocol == GW_PROTO_TCP	   ? &vip->tcp
	       : protocol == GW_PROTO_UDP  ? &vip->udp
	       : protocol == GW_PROTO_SCTP ? &vip->sctp
					   : NULL;
}

/*
 * The service for this protocol and destination port (host order) at a service address, or GW_NONE.
 * span_at(path, index) returns the span, or NULL when there is none of this index.
 */
GW_INLINE uint32_t gw_service_match(const struct gw_vip *vip, uint8_t protocol, uint16_t port,
	const void *path, const struct gw_span *(*span_at)(const void *path, uint32_t index))
{
	const struct gw_span_run *run = gw_vip_run(vip, protocol);
	uint32_t low, high;

	if (!run)
		return vip->any_service;
	low = run->first;
	high = run->first + run->count;
	for (int step = 0; step < GW_SPAN_STEPS && low < high; step++) {
		uint32_t middle = low + (high - low) / 2;
		const struct gw_span *span = span_at(path, middle);

		if (!span)
			break;
		if (port < span->first)
			high = middle;
		else if (port > span->last)
			low = middle + 1;
		else
			return span->service;
	}
	return vip->any_service;
}
