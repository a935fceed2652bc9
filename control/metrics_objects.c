/* SPDX-License-Identifier: BSD-2-Clause */
#include "metrics_families.h"

#include <inttypes.h>
#include <stdio.h>

/* Which number of a backend a family shows. */
enum backend_value {
	BACKEND_UP,
	BACKEND_SLOTS,
	BACKEND_PACKETS,
	BACKEND_BYTES,
	BACKEND_FLOWS_NEW,
	BACKEND_FLOWS,
};

struct backend_family {
	const char *name;
	enum metrics_type type;
	const char *help;
	enum backend_value value;
	bool counted; /* by the datapath */
};

static const struct backend_family backend_families[] = {
	{"guideway_backend_up", METRICS_GAUGE,
		"Whether the backend is healthy; one that is not checked counts as healthy.",
		BACKEND_UP, false},
	{"guideway_backend_table_slots", METRICS_GAUGE,
		"Slots of its pool's table that are the backend's.", BACKEND_SLOTS, false},
	{"guideway_backend_packets_total", METRICS_COUNTER,
		"Packets that were sent to the backend.", BACKEND_PACKETS, true},
	{"guideway_backend_bytes_total", METRICS_COUNTER,
		"Bytes of the packets that were sent to the backend, from the IP header on, "
		"without encapsulation.",
		BACKEND_BYTES, true},
	{"guideway_backend_flows_new_total", METRICS_COUNTER,
		"Flows that came to the backend and are tracked.", BACKEND_FLOWS_NEW, true},
	{"guideway_backend_active_flows", METRICS_GAUGE,
		"Flows of the backend in the flow table, as of the last sweep.", BACKEND_FLOWS,
		true},
};

static const struct gw_traffic *traffic_of(const struct gw_traffic *list, size_t count, uint32_t id)
{
	static const struct gw_traffic none;

	return list && id < count ? &list[id] : &none;
}

static uint64_t backend_count(const struct gw_build_backend *backend, enum backend_value value,
	const struct gw_publisher_stats *stats)
{
	switch (value) {
	case BACKEND_UP:
		return backend->effect.health == GW_HEALTH_UP;
	case BACKEND_SLOTS:
		return backend->slots;
	case BACKEND_PACKETS:
		return traffic_of(stats->backends, stats->backend_count, backend->id)->packets;
	case BACKEND_BYTES:
		return traffic_of(stats->backends, stats->backend_count, backend->id)->bytes;
	case BACKEND_FLOWS_NEW:
		return traffic_of(stats->backends, stats->backend_count, backend->id)->flows_new;
	case BACKEND_FLOWS:
		return stats->backend_flows && backend->id < stats->backend_count
			       ? stats->backend_flows[backend->id]
			       : 0;
	}
	return 0;
}

static void backend_family_write(struct metrics_text *text, const struct backend_family *family,
	const struct gw_build *build, const struct gw_publisher_stats *stats)
{
	metrics_family(text, family->name, family->type, family->help);
	for (size_t p = 0; p < build->pool_count; p++)
		for (size_t b = 0; b < build->pools[p].backend_count; b++) {
			const struct gw_build_backend *backend = &build->pools[p].backends[b];
			const struct metrics_label labels[] = {
				{"pool", build->pools[p].name}, {"backend", backend->name}};

			metrics_sample(text, labels, 2);
			metrics_count(text, backend_count(backend, family->value, stats));
		}
}

/* A state set: exactly one of a backend's states is 1. */
static void states_write(struct metrics_text *text, const struct gw_build *build)
{
	static const enum gw_backend_state states[] = {
		GW_BACKEND_ACTIVE, GW_BACKEND_DRAIN, GW_BACKEND_DOWN, GW_BACKEND_DISABLED};

	metrics_family(text, "guideway_backend_state", METRICS_GAUGE,
		"1 for the state that the backend is in, 0 for the others.");
	for (size_t p = 0; p < build->pool_count; p++)
		for (size_t b = 0; b < build->pools[p].backend_count; b++) {
			const struct gw_build_backend *backend = &build->pools[p].backends[b];

			for (size_t s = 0; s < sizeof(states) / sizeof(states[0]); s++) {
				const struct metrics_label labels[] = {
					{"pool", build->pools[p].name}, {"backend", backend->name},
					{"state", gw_backend_state_name(states[s])}};

				metrics_sample(text, labels, 3);
				metrics_count(text, backend->effect.state == states[s]);
			}
		}
}

static double share_of(const struct gw_build_pool *pool, const struct gw_build_backend *backend)
{
	return pool->member_count ? (double)backend->slots / pool->table_size : 0.0;
}

/* A fraction of the configured weight while it rises (slow_start). */
static double weight_of(const struct gw_build_pool *pool, const struct gw_build_backend *backend)
{
	return (double)backend->effect.weight / pool->effect.scale;
}

static void reals_write(struct metrics_text *text, const struct gw_build *build,
	double (*value)(const struct gw_build_pool *, const struct gw_build_backend *))
{
	for (size_t p = 0; p < build->pool_count; p++) {
		const struct gw_build_pool *pool = &build->pools[p];

		for (size_t b = 0; b < pool->backend_count; b++) {
			const struct metrics_label labels[] = {
				{"pool", pool->name}, {"backend", pool->backends[b].name}};

			metrics_sample(text, labels, 2);
			metrics_real(text, value(pool, &pool->backends[b]));
		}
	}
}

static void shares_write(struct metrics_text *text, const struct gw_build *build)
{
	metrics_family(text, "guideway_backend_table_share_ratio", METRICS_GAUGE,
		"The backend's share of its pool's table, 0 to 1.");
	reals_write(text, build, share_of);
	metrics_family(text, "guideway_backend_weight", METRICS_GAUGE,
		"The weight that counts in the table; 0 when the backend is not in it.");
	reals_write(text, build, weight_of);
}

/* Which number of a pool a family shows. */
enum pool_value {
	POOL_BACKENDS,
	POOL_HEALTHY,
	POOL_MEMBERS,
	POOL_PANIC,
	POOL_SIZE,
	POOL_VERSION,
};

static uint64_t pool_count(const struct gw_build_pool *pool, enum pool_value value)
{
	switch (value) {
	case POOL_BACKENDS:
		return pool->backend_count;
	case POOL_HEALTHY:
		return pool->effect.healthy;
	case POOL_MEMBERS:
		return pool->member_count;
	case POOL_PANIC:
		return pool->effect.panic;
	case POOL_SIZE:
		return pool->table_size;
	case POOL_VERSION:
		return pool->table_version;
	}
	return 0;
}

static void pools_write(struct metrics_text *text, const struct gw_build *build)
{
	static const struct {
		const char *name;
		const char *help;
		enum pool_value value;
	} families[] = {
		{"guideway_pool_backends", "Backends of the pool.", POOL_BACKENDS},
		{"guideway_pool_healthy_backends", "Backends of the pool that are healthy.",
			POOL_HEALTHY},
		{"guideway_pool_members", "Backends in the pool's table.", POOL_MEMBERS},
		{"guideway_pool_panic",
			"Whether so few backends are healthy that all that are not disabled are "
			"used.",
			POOL_PANIC},
		{"guideway_pool_table_slots", "Size of the pool's table.", POOL_SIZE},
		{"guideway_pool_table_version",
			"Snapshot version with which the pool's table last changed.", POOL_VERSION},
	};

	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		metrics_family(text, families[f].name, METRICS_GAUGE, families[f].help);
		for (size_t p = 0; p < build->pool_count; p++) {
			metrics_sample(
				text, &(struct metrics_label){"pool", build->pools[p].name}, 1);
			metrics_count(text, pool_count(&build->pools[p], families[f].value));
		}
	}
}

static void tables_write(struct metrics_text *text, const struct gw_build *build)
{
	metrics_family(text, "guideway_pool_table_info", METRICS_GAUGE,
		"The digest of the pool's table, the same on every node with the same members; "
		"always 1.");
	for (size_t p = 0; p < build->pool_count; p++) {
		char digest[33];
		const struct metrics_label labels[] = {{"pool", build->pools[p].name},
			{"digest", gw_digest_format(&build->pools[p].digest, digest)}};

		metrics_sample(text, labels, 2);
		metrics_count(text, 1);
	}
	metrics_family(text, "guideway_pool_table_build_seconds", METRICS_GAUGE,
		"How long the pool's table took to make.");
	for (size_t p = 0; p < build->pool_count; p++) {
		metrics_sample(text, &(struct metrics_label){"pool", build->pools[p].name}, 1);
		metrics_real(text, (double)build->pools[p].build_ns / 1e9);
	}
}

/* Gauges may be summed here; counters may not: the sum would fall when a backend leaves. */
static void pool_flows_write(struct metrics_text *text, const struct gw_build *build,
	const struct gw_publisher_stats *stats)
{
	metrics_family(text, "guideway_pool_active_flows", METRICS_GAUGE,
		"Flows of the pool's backends in the flow table, as of the last sweep.");
	for (size_t p = 0; p < build->pool_count; p++) {
		const struct gw_build_pool *pool = &build->pools[p];
		uint64_t sum = 0;

		for (size_t b = 0; b < pool->backend_count; b++)
			sum += backend_count(&pool->backends[b], BACKEND_FLOWS, stats);
		metrics_sample(text, &(struct metrics_label){"pool", pool->name}, 1);
		metrics_count(text, sum);
	}
}

static void services_write(struct metrics_text *text, const struct gw_build *build)
{
	metrics_family(text, "guideway_service_info", METRICS_GAUGE,
		"The pool behind the service and its protocol; always 1.");
	for (size_t i = 0; i < build->service_count; i++) {
		const struct gw_build_service *service = &build->services[i];
		const struct metrics_label labels[] = {{"service", service->name},
			{"pool", build->pools[service->pool].name},
			{"protocol", gw_config_protocol_name(service->protocol)}};

		metrics_sample(text, labels, 3);
		metrics_count(text, 1);
	}
}

static void service_traffic_write(struct metrics_text *text, const struct gw_build *build,
	const struct gw_publisher_stats *stats)
{
	static const struct {
		const char *name;
		const char *help;
		size_t offset;
	} families[] = {
		{"guideway_service_packets_total", "Packets of the service that were sent on.",
			offsetof(struct gw_traffic, packets)},
		{"guideway_service_bytes_total",
			"Bytes of the service's packets that were sent on, from the IP header on.",
			offsetof(struct gw_traffic, bytes)},
		{"guideway_service_flows_new_total",
			"Flows that came to the service and are tracked.",
			offsetof(struct gw_traffic, flows_new)},
	};

	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++) {
		metrics_family(text, families[f].name, METRICS_COUNTER, families[f].help);
		for (size_t i = 0; i < build->service_count; i++) {
			const struct gw_traffic *traffic = traffic_of(
				stats->services, stats->service_count, build->services[i].id);

			metrics_sample(text,
				&(struct metrics_label){"service", build->services[i].name}, 1);
			metrics_count(text,
				*(const uint64_t *)((const char *)traffic + families[f].offset));
		}
	}
}

void metrics_objects(struct metrics_text *text, const struct gw_build *build,
	const struct gw_publisher_stats *stats)
{
	services_write(text, build);
	if (stats)
		service_traffic_write(text, build, stats);
	pools_write(text, build);
	tables_write(text, build);
	if (stats)
		pool_flows_write(text, build, stats);
	states_write(text, build);
	shares_write(text, build);
	for (size_t f = 0; f < sizeof(backend_families) / sizeof(backend_families[0]); f++)
		if (stats || !backend_families[f].counted)
			backend_family_write(text, &backend_families[f], build, stats);
}
