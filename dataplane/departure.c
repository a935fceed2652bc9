/* SPDX-License-Identifier: BSD-2-Clause */
#include "departure.h"

#include "abi/encap.h"
#include "engine.h"

#include <string.h>

/* Of the kinds in a straight line nothing varies by flow but GUE's port, and nothing is summed. */
static uint8_t kind_of(const struct gw_backend *backend)
{
	bool ipv4 = backend->family == GW_IPV4;

	if (backend->flags & GW_BACKEND_FLOW_LABEL || backend->source_bits ||
		gw_encap_wants_sum(backend) ||
		backend->overhead != gw_encap_overhead_of(backend->encap, backend->family))
		return GW_DEPART_OTHER;
	if (backend->encap == GW_ENCAP_IPIP)
		return ipv4 ? GW_DEPART_IPIP4 : GW_DEPART_IPIP6;
	if (backend->encap == GW_ENCAP_GUE)
		return ipv4 ? GW_DEPART_GUE4 : GW_DEPART_GUE6;
	return GW_DEPART_OTHER;
}

static void take_record(struct gw_departure *departure, const struct gw_backend *backend)
{
	departure->pool = (uint32_t)backend->pool << GW_SERVICE_WORD_POOL;
	departure->gue_port = backend->gue_port;
	memcpy(&departure->source, backend->outer_source.bytes + 12, sizeof(departure->source));
	memcpy(&departure->destination, backend->outer_destination.bytes + 12,
		sizeof(departure->destination));
	departure->keeps = 0;
	if (gw_backend_keeps_flow(backend, backend->pool, false))
		departure->keeps |= GW_DEPART_KEEPS;
	if (gw_backend_keeps_flow(backend, backend->pool, true))
		departure->keeps |= GW_DEPART_KEEPS_SYN;
}

/* A way that is not plain, or of which an ICMP error has told something, is not a straight one. */
static void take_hop(struct gw_departure *departure, const struct gw_backend *backend,
	const struct gw_live_hop *hop)
{
	struct gw_link link = gw_link_load(&hop->link);
	uint32_t mtu = gw_mtu_lower(backend->mtu, __atomic_load_n(&hop->mtu, __ATOMIC_RELAXED));

	memcpy(departure->link, &link, sizeof(departure->link));
	departure->most = mtu ? mtu : UINT32_MAX;
	departure->kind = GW_DEPART_OTHER;
	if (link.flags == GW_LINK_RESOLVED && link.port < GW_PORTS_MAX &&
		!__atomic_load_n(&hop->path_mtu, __ATOMIC_RELAXED))
		departure->kind = kind_of(backend);
}

void gw_departure_make(struct gw_worker *worker, uint32_t backend)
{
	const struct gw_view *view = worker->view;
	struct gw_departure *departure = &worker->departure[backend];

	departure->epoch = worker->departure_epoch;
	if (backend >= view->backend_count) {
		departure->keeps = 0;
		departure->kind = GW_DEPART_OTHER;
		return;
	}
	take_record(departure, &view->backend[backend]);
	take_hop(departure, &view->backend[backend],
		&worker->engine->hops.live[view->backend[backend].next_hop]);
}

void gw_departures_check(struct gw_worker *worker)
{
	uint32_t changes = __atomic_load_n(&worker->engine->hops.changes, __ATOMIC_ACQUIRE);

	if (likely(changes == worker->departure_changes &&
		    worker->view->backends_version == worker->departure_version))
		return;
	worker->departure_changes = changes;
	worker->departure_version = worker->view->backends_version;
	worker->departure_epoch++;
}
