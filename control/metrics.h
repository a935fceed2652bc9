/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Metrics in Prometheus' text format (docs/metrics.md), on a listener of their own. Numbers come
 * from the newest build and from what the datapath counts; the text is made at once and kept for a
 * moment, so that many who ask cost no more than one.
 *
 * Identity: a series is named by what the configuration names (service, pool, backend), never by a
 * number. Datapaths count by number, and a number belongs to one identity until long after it left
 * (ids.h); what the datapath counted for a number's earlier owner is not the new owner's
 * (abi/dataplane_socket.h, xdp_tables.h). When a datapath is not there its series are absent
 * instead of zero, and when it starts anew its counters do so too, as Prometheus expects.
 */
#pragma once

#include "control/http_server.h"

struct gw_metrics_cache {
	char *text;
	size_t length;
	int64_t made_ms; /* wall clock */
	double took_s;	 /* to make it */
	uint64_t scrapes;
};

/* For struct gw_http_handler; the owner is a struct gw_api_entry (api.h). */
size_t gw_metrics_body_limit(void *owner, const struct gw_http_request *request);
void gw_metrics_answer(
	void *owner, const struct gw_http_request *request, struct gw_http_reply *reply);

void gw_metrics_cache_free(struct gw_metrics_cache *cache);
