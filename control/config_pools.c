/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools as a whole: backends against the node's own addresses, members and weights against the
 * table, and what a health check needs to know that the file left out.
 */
#include "config_check.h"
#include "config_healthcheck.h"
#include "config_rules.h"

#include <inttypes.h>
#include <string.h>

/* What an outer header is to be sent from must be there, by family; once reported is enough. */
static void source_check(struct config_walk *walk, const struct gw_config_pool *pool,
	const struct gw_config_backend *backend, bool ipv4, bool reported[static 2])
{
	const struct gw_config_node *node = &walk->config->node;
	char path[CONFIG_PATH_MAX], text[GW_ADDRESS_TEXT];

	if (pool->encap == GW_ENCAP_L2 || reported[ipv4] ||
		(ipv4 ? node->has_source_ipv4 : node->has_source_ipv6))
		return;
	reported[ipv4] = true;
	config_bad_at(walk, &backend->address_place,
		config_backend_path(walk, pool, backend, ".address", path),
		"%s is reached by an IPv%d tunnel, but the node has no source_ipv%d to send it "
		"from",
		gw_address_format(backend->address, text), ipv4 ? 4 : 6, ipv4 ? 4 : 6);
}

static void backend_check(struct config_walk *walk, const struct gw_config_pool *pool,
	const struct gw_config_backend *backend, bool reported[static 2])
{
	const struct gw_config_node *node = &walk->config->node;
	struct gw_address mapped;
	bool ipv4;
	char path[CONFIG_PATH_MAX], text[GW_ADDRESS_TEXT];

	if (!backend->address_place.file)
		return;
	memcpy(mapped.bytes, backend->address, sizeof(mapped.bytes));
	ipv4 = gw_address_is_ipv4(&mapped);
	source_check(walk, pool, backend, ipv4, reported);
	if ((ipv4 ? node->has_source_ipv4 : node->has_source_ipv6) &&
		!memcmp(backend->address, ipv4 ? node->source_ipv4 : node->source_ipv6, 16))
		config_bad_at(walk, &backend->address_place,
			config_backend_path(walk, pool, backend, ".address", path),
			"%s is the balancer's own address",
			gw_address_format(backend->address, text));
}

/* Entropy needs a prefix of the family of each backend; one message a pool and family. */
static void entropy_check(struct config_walk *walk, const struct gw_config_pool *pool)
{
	const struct gw_config_node *node = &walk->config->node;
	bool has[2] = {node->has_source_prefix_ipv6, node->has_source_prefix_ipv4};
	char path[CONFIG_PATH_MAX];

	if (!pool->entropy || pool->encap == GW_ENCAP_L2)
		return;
	for (size_t i = 0; i < pool->backend_count; i++) {
		const struct gw_config_backend *backend = &pool->backends[i];
		struct gw_address mapped;
		bool ipv4;

		if (!backend->address_place.file)
			continue;
		memcpy(mapped.bytes, backend->address, sizeof(mapped.bytes));
		ipv4 = gw_address_is_ipv4(&mapped);
		if (!has[ipv4])
			config_bad_at(walk, &pool->entropy_place,
				config_pool_path(walk, pool, ".entropy", path),
				"backend %s is reached over IPv%d, but the node has no "
				"source_prefix_ipv%d to vary the outer source within",
				backend->name ? backend->name : "without a name", ipv4 ? 4 : 6,
				ipv4 ? 4 : 6);
		has[ipv4] = true;
	}
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

void config_pools_check(struct config_walk *walk)
{
	bool reported[2] = {false};

	for (size_t i = 0; i < walk->config->pool_count && !walk->status; i++) {
		struct gw_config_pool *pool = &walk->config->pools[i];

		for (size_t b = 0; b < pool->backend_count; b++)
			backend_check(walk, pool, &pool->backends[b], reported);
		entropy_check(walk, pool);
		table_check(walk, pool);
		config_healthcheck_check(walk, pool);
		config_rules_check(walk, pool);
	}
}
