/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `flow list`: the sample of flows that the datapath keeps with their addresses
 * (abi/flow_sample.h), newest first, each asked of the flow table once more, which is exact.
 */
#include "abi/flow_sample.h"
#include "api_routes.h"
#include "control/lookup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIMIT_DEFAULT 100u
#define LIMIT_MOST    GW_FLOW_SAMPLES
#define PATIENCE_NS   200000000u /* a DPDK flow is a question to another process */

struct listing {
	struct gw_daemon *daemon;
	const char *pool; /* NULL: any */
	const char *backend;
	size_t limit;
	size_t asked;
	size_t seen;
	bool whole; /* nothing was left out for want of time or room */
	json_t *flows;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int newer(const void *left, const void *right)
{
	const struct gw_flow_sample *a = left, *b = right;

	return a->second < b->second ? 1 : a->second > b->second ? -1 : 0;
}

/* A copy of what is written at all, newest first: the datapath goes on writing. */
static struct gw_flow_sample *copy_sorted(
	const struct gw_flow_sample *samples, size_t count, size_t *kept)
{
	struct gw_flow_sample *copy = calloc(count + 1, sizeof(*copy));

	*kept = 0;
	for (size_t i = 0; copy && i < count; i++) {
		copy[*kept] = samples[i];
		*kept += copy[*kept].key.protocol != 0;
	}
	if (copy)
		qsort(copy, *kept, sizeof(*copy), newer);
	return copy;
}

static bool wanted(const struct listing *listing, const char *pool, const char *backend)
{
	return (!listing->pool || !strcmp(listing->pool, pool)) &&
	       (!listing->backend || !strcmp(listing->backend, backend));
}

static void flow_add(struct listing *listing, const struct gw_flow_sample *sample,
	const struct gw_flow_answer *answer, uint32_t now)
{
	const struct gw_build *build = listing->daemon->build;
	const struct gw_build_pool *pool = NULL;
	const struct gw_build_backend *backend = gw_build_backend_at(build, answer->backend, &pool);
	struct gw_lookup where;
	json_t *flow;

	gw_lookup_flow(build, &sample->key, &where);
	if (where.service && !where.service->track_flows)
		return; /* what is left of the time when it did */
	if (!backend || !wanted(listing, pool->name, backend->name) ||
		listing->seen++ >= listing->limit)
		return;
	flow = api_flow_json(build, &sample->key, answer);
	json_object_set_new(
		flow, "since", json_integer(now > sample->second ? now - sample->second : 0));
	json_array_append_new(listing->flows, flow);
}

static void listing_fill(
	struct listing *listing, const struct gw_flow_sample *samples, size_t count)
{
	const struct gw_publisher_ops *ops = listing->daemon->publisher->ops;
	uint64_t begun = clock_ns();
	uint32_t now = (uint32_t)(begun / 1000000000u);

	for (; listing->asked < count && listing->seen <= listing->limit; listing->asked++) {
		const struct gw_flow_sample *sample = &samples[listing->asked];
		struct gw_flow_answer answer;

		if (clock_ns() - begun > PATIENCE_NS)
			break;
		if (!ops->flow(listing->daemon->publisher, &sample->key, &answer) && answer.found)
			flow_add(listing, sample, &answer, now);
	}
	listing->whole = listing->asked == count && listing->seen <= listing->limit;
}

static bool limit_read(const struct api_call *call, struct gw_http_reply *reply, size_t *limit)
{
	const char *text = gw_http_argument(call->request, "limit");
	unsigned long value;
	char *end;

	*limit = LIMIT_DEFAULT;
	if (!text)
		return true;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || text[0] < '0' || text[0] > '9' || !value || value > LIMIT_MOST) {
		api_error(reply, 400, "\"limit\" takes a number from 1 to %u, not \"%.40s\"",
			LIMIT_MOST, text);
		return false;
	}
	*limit = value;
	return true;
}

/* A name that no pool has is a mistake of the caller, not a backend without flows. */
static bool filter_known(const struct listing *listing, struct gw_http_reply *reply)
{
	const struct gw_build *build = listing->daemon->build;

	if (listing->pool && !gw_build_pool_find(build, listing->pool)) {
		api_error(reply, 404, "no pool \"%.80s\"", listing->pool);
		return false;
	}
	if (!listing->backend)
		return true;
	for (size_t p = 0; p < build->pool_count; p++)
		for (size_t b = 0; b < build->pools[p].backend_count; b++)
			if (wanted(listing, build->pools[p].name, build->pools[p].backends[b].name))
				return true;
	api_error(reply, 404, "no backend \"%.80s\"%s%.80s", listing->backend,
		listing->pool ? " in pool " : "", listing->pool ? listing->pool : "");
	return false;
}

void api_flow_list(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct listing listing = {.daemon = daemon,
		.pool = gw_http_argument(call->request, "pool"),
		.backend = gw_http_argument(call->request, "backend")};
	const struct gw_publisher_ops *ops = daemon->publisher->ops;
	const struct gw_flow_sample *samples;
	struct gw_publisher_stats stats;
	struct gw_flow_sample *copy;
	size_t count, kept;

	if (!limit_read(call, reply, &listing.limit) || !filter_known(&listing, reply))
		return;
	if (ops->samples(daemon->publisher, &samples, &count)) {
		api_error(reply, 503, "no datapath (%s)", ops->name);
		return;
	}
	copy = copy_sorted(samples, count, &kept);
	if (!copy) {
		api_error(reply, 500, "out of memory");
		return;
	}
	listing.flows = json_array();
	listing_fill(&listing, copy, kept);
	free(copy);
	api_stats(daemon, &stats);
	reply->json = json_pack("{s:b, s:I, s:I, s:b, s:o}", "sample", 1, "places",
		(json_int_t)GW_FLOW_SAMPLES, "active", (json_int_t)stats.flows_active, "whole",
		listing.whole, "flows", listing.flows);
}
