/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools as a whole: backends against the node's own addresses, members and weights against the
 * table, and what a health check needs to know that the file left out.
 */
#include "config_check.h"

#include <inttypes.h>
#include <string.h>

#define TIMEOUT_DEFAULT_MS 1000u

/* reported: a source that is missing was named already, by family; once is enough. */
static void backend_check(struct config_walk *walk, const struct gw_config_pool *pool,
	const struct gw_config_backend *backend, bool reported[static 2])
{
	const struct gw_config_node *node = &walk->config->node;
	struct gw_address mapped;
	bool ipv4, has_source;
	char path[CONFIG_PATH_MAX], text[GW_ADDRESS_TEXT];

	if (!backend->address_place.file)
		return;
	memcpy(mapped.bytes, backend->address, sizeof(mapped.bytes));
	ipv4 = gw_address_is_ipv4(&mapped);
	has_source = ipv4 ? node->has_source_ipv4 : node->has_source_ipv6;
	gw_address_format(backend->address, text);
	config_backend_path(walk, pool, backend, ".address", path);
	if (!has_source && !reported[ipv4])
		config_bad_at(walk, &backend->address_place, path,
			"%s is reached by an IPv%d tunnel, but the node has no source_ipv%d to "
			"send it from",
			text, ipv4 ? 4 : 6, ipv4 ? 4 : 6);
	else if (has_source &&
		 !memcmp(backend->address, ipv4 ? node->source_ipv4 : node->source_ipv6, 16))
		config_bad_at(walk, &backend->address_place, path,
			"%s is the balancer's own address", text);
	reported[ipv4] |= !has_source;
}

static void table_check(struct config_walk *walk, const struct gw_config_pool *pool)
{
	const struct gw_place *place =
		pool->table_size_place.file ? &pool->table_size_place : &pool->place;
	uint64_t weights = 0;
	char path[CONFIG_PATH_MAX];

	for (size_t i = 0; i < pool->backend_count; i++)
		weights += pool->backends[i].weight;
	if (pool->backend_count > GW_MAX_POOL_MEMBERS)
		config_bad_at(walk, &pool->place, config_pool_path(walk, pool, ".backends", path),
			"%zu backends are more than the %u that a pool can have",
			pool->backend_count, GW_MAX_POOL_MEMBERS);
	else if (pool->backend_count > pool->table_size)
		config_bad_at(walk, place, config_pool_path(walk, pool, ".table_size", path),
			"%u slots are fewer than the pool's %zu backends", pool->table_size,
			pool->backend_count);
	if (weights > UINT32_MAX)
		config_bad_at(walk, &pool->place, config_pool_path(walk, pool, ".backends", path),
			"the weights add up to %" PRIu64 ", more than %" PRIu32, weights,
			UINT32_MAX);
}

/* The first port of the first service that uses the pool; 0: nobody says one. */
static uint16_t port_of_service(const struct gw_config *config, const struct gw_config_pool *pool)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct gw_config_service *service = &config->services[i];

		if (service->pool == pool && service->port_count && service->ports[0].range.low)
			return service->ports[0].range.low;
	}
	return 0;
}

static void fill_http(struct config_walk *walk, struct gw_config_check *check)
{
	if (!check->path)
		check->path = "/";
	if (check->expect_count)
		return;
	check->expect = config_alloc(walk, 1, sizeof(*check->expect));
	if (check->expect) {
		check->expect[0] = (struct gw_config_range){.low = 200, .high = 299};
		check->expect_count = 1;
	}
}

static void health_check(struct config_walk *walk, struct gw_config_pool *pool)
{
	struct gw_config_check *check = &pool->check;
	char path[CONFIG_PATH_MAX];

	if (check->type != GW_CONFIG_CHECK_HTTP) { /* the defaults may be of another type */
		check->path = check->host = NULL;
		check->expect = NULL;
		check->expect_count = 0;
	}
	if (check->type == GW_CONFIG_CHECK_NONE)
		return;
	if (!check->timeout_ms)
		check->timeout_ms = check->interval_ms < TIMEOUT_DEFAULT_MS ? check->interval_ms
									    : TIMEOUT_DEFAULT_MS;
	if (check->timeout_ms > check->interval_ms)
		config_bad_at(walk,
			check->timeout_place.file ? &check->timeout_place : &check->place,
			config_pool_path(walk, pool, ".healthcheck.timeout", path),
			"%u ms is longer than the interval of %u ms: probes would overtake each "
			"other",
			check->timeout_ms, check->interval_ms);
	if (check->type == GW_CONFIG_CHECK_HTTP)
		fill_http(walk, check);
	if (!check->port)
		check->port = port_of_service(walk->config, pool);
	if (!check->port && !check->port_bad && pool->backend_count &&
		walk->flags & GW_CONFIG_DAEMON)
		config_bad_at(walk, check->place.file ? &check->place : &pool->place,
			config_pool_path(walk, pool, ".healthcheck.port", path),
			"is missing, and no service that uses the pool names a port to probe "
			"instead");
}

void config_pools_check(struct config_walk *walk)
{
	bool reported[2] = {false};

	for (size_t i = 0; i < walk->config->pool_count && !walk->status; i++) {
		struct gw_config_pool *pool = &walk->config->pools[i];

		for (size_t b = 0; b < pool->backend_count; b++)
			backend_check(walk, pool, &pool->backends[b], reported);
		table_check(walk, pool);
		health_check(walk, pool);
	}
}
