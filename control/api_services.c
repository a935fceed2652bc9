/* SPDX-License-Identifier: BSD-2-Clause */
#include "api_routes.h"
#include "base/address.h"

#include <stdio.h>
#include <string.h>

static json_t *addresses_json(const struct gw_config_service *service)
{
	json_t *list = json_array();
	char text[GW_PREFIX_TEXT];

	for (size_t i = 0; i < service->address_count; i++)
		json_array_append_new(
			list, json_string(gw_prefix_format(&service->addresses[i].prefix, text)));
	return list;
}

/* Numbers, "low-high" and "any", as the file has them. */
static json_t *ports_json(const struct gw_config_service *service)
{
	json_t *list = json_array();

	for (size_t i = 0; i < service->port_count; i++) {
		const struct gw_config_range *range = &service->ports[i].range;
		char text[16];

		if (range->low == 0 && range->high == UINT16_MAX)
			json_array_append_new(list, json_string("any"));
		else if (range->low == range->high)
			json_array_append_new(list, json_integer(range->low));
		else {
			snprintf(text, sizeof(text), "%u-%u", range->low, range->high);
			json_array_append_new(list, json_string(text));
		}
	}
	return list;
}

static json_t *service_json(struct gw_daemon *daemon, const struct gw_build_service *service,
	const struct gw_publisher_stats *stats)
{
	const struct gw_config_service *config =
		gw_config_service_find(daemon->config, service->name);
	const struct gw_build_pool *pool = &daemon->build->pools[service->pool];
	bool counted = stats->services && service->id < stats->service_count;
	json_t *object = json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:I, s:I, s:I}", "name",
		service->name, "pool", pool->name, "backends", (json_int_t)pool->backend_count,
		"healthy", (json_int_t)pool->effect.healthy, "members",
		(json_int_t)pool->member_count, "panic", pool->effect.panic, "packets",
		counted ? (json_int_t)stats->services[service->id].packets : 0, "bytes",
		counted ? (json_int_t)stats->services[service->id].bytes : 0, "id",
		(json_int_t)service->id);

	if (!config)
		return object;
	json_object_set_new(object, "addresses", addresses_json(config));
	json_object_set_new(
		object, "protocol", json_string(gw_config_protocol_name(config->protocol)));
	json_object_set_new(object, "ports", ports_json(config));
	json_object_set_new(
		object, "affinity", json_string(gw_config_affinity_name(config->affinity)));
	json_object_set_new(object, "track_flows", json_boolean(service->track_flows));
	json_object_set_new(
		object, "encap", json_string(gw_config_encap_name(config->pool->encap)));
	return object;
}

void api_services(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_publisher_stats stats;
	json_t *list = json_array();

	api_stats(daemon, &stats);
	for (size_t i = 0; i < daemon->build->service_count; i++)
		json_array_append_new(
			list, service_json(daemon, &daemon->build->services[i], &stats));
	reply->json = list;
}

void api_service(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const struct gw_build_service *service =
		gw_build_service_find(daemon->build, call->words[0]);
	struct gw_publisher_stats stats;
	const struct gw_build_pool *pool;
	json_t *list;

	if (!service) {
		api_error(reply, 404, "no service \"%s\"", call->words[0]);
		return;
	}
	api_stats(daemon, &stats);
	pool = &daemon->build->pools[service->pool];
	list = json_array();
	for (size_t b = 0; b < pool->backend_count; b++)
		json_array_append_new(
			list, api_backend_json(daemon, pool, &pool->backends[b], &stats));
	reply->json = service_json(daemon, service, &stats);
	json_object_set_new(reply->json, "pool_backends", list);
}
