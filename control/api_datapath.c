/* SPDX-License-Identifier: BSD-2-Clause */
/* What the datapath does with packets: tables, drops, flows, lookups. */
#include "api_routes.h"
#include "control/lookup.h"
#include "control/plan.h"

#include <string.h>

void api_tables(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	json_t *list = json_array();

	for (size_t p = 0; p < daemon->build->pool_count; p++)
		json_array_append_new(
			list, gw_table_json(daemon->build, &daemon->build->pools[p], false));
	reply->json = list;
}

void api_table(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const struct gw_build_pool *pool = gw_build_pool_find(daemon->build, call->words[0]);

	if (!pool) {
		api_error(reply, 404, "no pool \"%s\"", call->words[0]);
		return;
	}
	reply->json = gw_table_json(daemon->build, pool, api_flag(call, "full"));
}

static void datapath_missing(const struct gw_daemon *daemon, struct gw_http_reply *reply)
{
	const char *detail = daemon->datapath.detail;

	api_error(reply, 503, "no datapath (%s)%s%s", daemon->publisher->ops->name,
		detail[0] ? ": " : "", detail);
}

static json_t *drops_json(const struct gw_counters *counters)
{
	static const char *const names[GW_DROP_COUNT] = {
#define GW_DROP_NAME(NAME, name, text) name,
		GW_DROP_REASONS(GW_DROP_NAME)
#undef GW_DROP_NAME
	};
	json_t *object = json_object();

	for (size_t i = 0; i < GW_DROP_COUNT; i++)
		json_object_set_new(object, names[i], json_integer((json_int_t)counters->drops[i]));
	return object;
}

void api_drops(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_publisher_stats stats;
	const struct gw_counters *c = &stats.counters;

	if (!api_stats(daemon, &stats)) {
		datapath_missing(daemon, reply);
		return;
	}
	reply->json = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I}",
		"path", daemon->publisher->ops->name, "rx", (json_int_t)c->rx, "tx",
		(json_int_t)c->tx, "to_host", (json_int_t)c->to_host, "replied",
		(json_int_t)c->replied, "consumed", (json_int_t)c->consumed, "held",
		(json_int_t)c->held, "drops", drops_json(c), "untracked", (json_int_t)c->untracked,
		"tx_full", (json_int_t)c->tx_full, "xmit_failed", (json_int_t)c->xmit_failed,
		"flows_new", (json_int_t)c->flows_new, "flows_moved", (json_int_t)c->flows_moved);
}

/* The flow of query argument `name`; false after an error was answered. */
static bool flow_argument(const struct api_call *call, const char *name, struct gw_flow_key *key,
	struct gw_http_reply *reply)
{
	const char *text = gw_http_argument(call->request, name);
	char error[GW_LOOKUP_ERROR];

	if (!text || !text[0]) {
		api_error(reply, 400, "\"%s\" is missing: 'tcp 198.51.100.7:40000 203.0.113.10:80'",
			name);
		return false;
	}
	if (gw_flow_parse(text, key, error)) {
		api_error(reply, 400, "%s", error);
		return false;
	}
	return true;
}

/* The XDP program has none: the CPUs that take the interrupts run it. */
void api_workers(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_publisher_stats stats;
	json_t *list;

	if (!api_stats(daemon, &stats)) {
		datapath_missing(daemon, reply);
		return;
	}
	list = json_array();
	for (size_t i = 0; i < stats.worker_count; i++) {
		const struct gw_worker_stats *worker = &stats.workers[i];

		json_array_append_new(list,
			json_pack("{s:I, s:I, s:I, s:I, s:b}", "cpu", (json_int_t)worker->cpu, "rx",
				(json_int_t)worker->counters.rx, "busy_cycles",
				(json_int_t)worker->busy_cycles, "total_cycles",
				(json_int_t)worker->total_cycles, "asleep", worker->asleep != 0));
	}
	reply->json = json_pack("{s:o}", "workers", list);
}

json_t *api_flow_json(const struct gw_build *build, const struct gw_flow_key *key,
	const struct gw_flow_answer *answer)
{
	static const char *const states[] = {"free", "new", "established", "closing"};
	const struct gw_build_pool *pool = NULL;
	const struct gw_build_backend *backend = gw_build_backend_at(build, answer->backend, &pool);
	char text[GW_FLOW_TEXT];

	return json_pack("{s:s, s:s?, s:s?, s:I, s:s, s:I}", "flow", gw_flow_format(key, text),
		"pool", backend ? pool->name : NULL, "backend", backend ? backend->name : NULL,
		"backend_id", (json_int_t)answer->backend, "state", states[answer->state & 3],
		"age", (json_int_t)answer->age);
}

void api_flow(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_flow_answer answer = {0};
	struct gw_lookup where;
	char text[GW_FLOW_TEXT];
	struct gw_flow_key key;

	if (!flow_argument(call, "tuple", &key, reply))
		return;
	gw_lookup_flow(daemon->build, &key, &where);
	if (where.service && !where.service->track_flows) {
		api_error(reply, 404,
			"service %s does not track flows: lookup says where the table sends %s",
			where.service->base, gw_flow_format(&key, text));
		return;
	}
	if (daemon->publisher->ops->flow(daemon->publisher, &key, &answer)) {
		datapath_missing(daemon, reply);
		return;
	}
	if (answer.found)
		reply->json = api_flow_json(daemon->build, &key, &answer);
	else
		api_error(reply, 404, "no entry in the flow table: %s", gw_flow_format(&key, text));
}

void api_flows(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const struct gw_build *build = daemon->build;
	struct gw_publisher_stats stats;
	json_t *list;

	if (!api_stats(daemon, &stats)) {
		datapath_missing(daemon, reply);
		return;
	}
	list = json_array();
	for (size_t p = 0; p < build->pool_count; p++)
		for (size_t b = 0; b < build->pools[p].backend_count; b++) {
			const struct gw_build_backend *backend = &build->pools[p].backends[b];
			uint32_t flows = stats.backend_flows && backend->id < stats.backend_count
						 ? stats.backend_flows[backend->id]
						 : 0;

			json_array_append_new(list,
				json_pack("{s:s, s:s, s:I}", "pool", build->pools[p].name, "name",
					backend->name, "active_flows", (json_int_t)flows));
		}
	reply->json = json_pack("{s:I, s:I, s:o}", "active", (json_int_t)stats.flows_active,
		"capacity", (json_int_t)stats.flow_capacity, "backends", list);
}

void api_lookup(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_flow_answer answer = {0};
	struct gw_lookup result;
	struct gw_flow_key key;

	if (!flow_argument(call, "flow", &key, reply))
		return;
	gw_lookup_flow(daemon->build, &key, &result);
	if (result.service && !api_flag(call, "table") &&
		!daemon->publisher->ops->flow(daemon->publisher, &key, &answer))
		gw_lookup_track(daemon->build, &answer, &result);
	reply->json = gw_lookup_json(daemon->build, &key, &result);
}
