/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services against each other. Two that would answer for the same packet with equal rank are an
 * error: which one wins must never depend on an order. Rank is: longest prefix; exact protocol
 * before any; exact port before the narrowest range before any. So only entries of one prefix, one
 * protocol and one width of ports can clash. And what they say against what their pools say.
 */
#include "config_check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One address on one entry of ports. */
struct claim {
	const struct gw_prefix *prefix;
	const struct gw_config_service *service;
	const struct gw_config_service_address *address;
	const struct gw_config_service_ports *ports;
	uint32_t width; /* high - low */
	size_t order;	/* in the file */
};

static int compare_prefix(const struct gw_prefix *a, const struct gw_prefix *b)
{
	int order = memcmp(a->address, b->address, sizeof(a->address));

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_kind(const struct claim *a, const struct claim *b)
{
	int order = compare_prefix(a->prefix, b->prefix);

	if (!order)
		order = (a->service->protocol > b->service->protocol) -
			(a->service->protocol < b->service->protocol);
	return order ? order : (a->width > b->width) - (a->width < b->width);
}

static int compare_claims(const void *x, const void *y)
{
	const struct claim *a = x, *b = y;
	int order = compare_kind(a, b);

	if (!order)
		order = (a->ports->range.low > b->ports->range.low) -
			(a->ports->range.low < b->ports->range.low);
	return order ? order : (a->order > b->order) - (a->order < b->order);
}

static char *format_ports(const struct gw_config_service_ports *ports, char text[static 16])
{
	const struct gw_config_range *range = &ports->range;

	if (!range->low && range->high == UINT16_MAX)
		snprintf(text, 16, "any");
	else if (range->low == range->high)
		snprintf(text, 16, "%u", range->low);
	else
		snprintf(text, 16, "%u-%u", range->low, range->high);
	return text;
}

/*
 * A service that clashes with itself does so once for every port or every address that it has: it
 * is told once.
 */
static bool clash_is_repeated(const struct claim *first, const struct claim *second)
{
	const struct gw_config_service *service = second->service;

	if (first->service != service)
		return false;
	return first->address == second->address ? second->address != service->addresses
						 : second->ports != service->ports;
}

static void report_clash(struct config_walk *walk, const struct claim *a, const struct claim *b)
{
	const struct claim *first = a->order < b->order ? a : b, *second = first == a ? b : a;
	char path[CONFIG_PATH_MAX], where[CONFIG_PLACE_TEXT], prefix[GW_PREFIX_TEXT];
	char ports[16], other[16];

	if (clash_is_repeated(first, second))
		return;
	gw_prefix_format(second->prefix, prefix);
	format_ports(second->ports, ports);
	if (first->service == second->service && first->address != second->address)
		config_bad_at(walk, &second->address->place,
			config_service_path(walk, second->service, ".addresses", path),
			"%s is given twice", prefix);
	else if (first->service == second->service)
		config_bad_at(walk, &second->ports->place,
			config_service_path(walk, second->service, ".ports", path),
			"%s overlaps %s, which is as wide", ports,
			format_ports(first->ports, other));
	else
		config_bad_at(walk, &second->address->place,
			config_service_path(walk, second->service, ".addresses", path),
			"%s %s ports %s is claimed with equal rank by service %s (%s)", prefix,
			gw_config_protocol_name(second->service->protocol), ports,
			first->service->name ? first->service->name : "?",
			config_place_text(&first->service->place, &second->service->place, where));
}

static size_t claim_total(const struct gw_config *config)
{
	size_t total = 0;

	for (size_t i = 0; i < config->service_count; i++)
		total += config->services[i].address_count * config->services[i].port_count;
	return total;
}

static size_t collect(const struct gw_config *config, struct claim *claims)
{
	size_t count = 0;

	for (size_t i = 0; i < config->service_count; i++) {
		const struct gw_config_service *service = &config->services[i];

		for (size_t k = 0; k < service->address_count * service->port_count; k++) {
			const struct gw_config_service_address *address =
				&service->addresses[k / service->port_count];
			const struct gw_config_service_ports *ports =
				&service->ports[k % service->port_count];

			claims[count] = (struct claim){.prefix = &address->prefix,
				.service = service,
				.address = address,
				.ports = ports,
				.width = (uint32_t)(ports->range.high - ports->range.low),
				.order = count};
			count++;
		}
	}
	return count;
}

/* Sorted, an entry clashes when it begins before the furthest end of those of its kind. */
static void overlaps_check(struct config_walk *walk, struct claim *claims, size_t count)
{
	const struct claim *furthest = NULL;

	qsort(claims, count, sizeof(*claims), compare_claims);
	for (size_t i = 0; i < count && !walk->status; i++) {
		if (furthest && !compare_kind(furthest, &claims[i]) &&
			claims[i].ports->range.low <= furthest->ports->range.high)
			report_clash(walk, furthest, &claims[i]);
		if (!furthest || compare_kind(furthest, &claims[i]) ||
			claims[i].ports->range.high >= furthest->ports->range.high)
			furthest = &claims[i];
	}
}

/* A key of a service that belongs to the address: an enum, and where it is written. */
struct address_key {
	const char *path;
	size_t value;
	size_t place;
};

static const struct address_key address_keys[] = {
	{".no_service", offsetof(struct gw_config_service, no_service),
		offsetof(struct gw_config_service, no_service_place)},
	{".echo", offsetof(struct gw_config_service, echo),
		offsetof(struct gw_config_service, echo_place)},
};

static int *key_value(const struct address_key *key, const struct gw_config_service *service)
{
	return (int *)((char *)(uintptr_t)service + key->value);
}

static const struct gw_place *key_place(
	const struct address_key *key, const struct gw_config_service *service)
{
	return (const void *)((const char *)service + key->place);
}

/* Who says it says it for all services at the address. */
static void address_key_check(struct config_walk *walk, const struct address_key *key,
	const struct claim *claims, size_t count)
{
	for (size_t start = 0, end; start < count; start = end) {
		const struct gw_config_service *said = NULL;

		for (end = start;
			end < count && !compare_prefix(claims[start].prefix, claims[end].prefix);
			end++) {
			const struct gw_config_service *service = claims[end].service;
			char path[CONFIG_PATH_MAX], where[CONFIG_PLACE_TEXT];

			if (!key_place(key, service)->file)
				continue;
			if (said && *key_value(key, said) != *key_value(key, service))
				config_bad_at(walk, key_place(key, service),
					config_service_path(walk, service, key->path, path),
					"differs from that of service %s (%s), which has the same "
					"address",
					said->name ? said->name : "?",
					config_place_text(&said->place, &service->place, where));
			said = said ? said : service;
		}
		for (size_t i = start; said && i < end; i++)
			*key_value(key, claims[i].service) = *key_value(key, said);
	}
}

static int compare_addresses(const void *a, const void *b)
{
	return memcmp(a, b, 16);
}

/* The addresses that packets are sent to or from, sorted; NULL without memory. */
static uint8_t (*underlay_collect(struct config_walk *walk, size_t *count))[16]
{
	const struct gw_config *config = walk->config;
	const struct gw_config_node *node = &config->node;
	uint8_t(*list)[16];
	size_t total = 2, at = 0;

	for (size_t i = 0; i < config->pool_count; i++)
		total += config->pools[i].backend_count;
	list = config_alloc(walk, total, sizeof(*list));
	if (!list)
		return NULL;
	for (size_t i = 0; i < config->pool_count; i++) {
		const struct gw_config_pool *pool = &config->pools[i];

		for (size_t b = 0; b < pool->backend_count; b++) {
			if (pool->backends[b].address_place.file)
				memcpy(list[at++], pool->backends[b].address, sizeof(*list));
		}
	}
	if (node->has_source_ipv4)
		memcpy(list[at++], node->source_ipv4, sizeof(*list));
	if (node->has_source_ipv6)
		memcpy(list[at++], node->source_ipv6, sizeof(*list));
	qsort(list, at, sizeof(*list), compare_addresses);
	*count = at;
	return list;
}

static void underlay_search(struct config_walk *walk, const struct gw_config_service *service,
	const uint8_t (*underlay)[16], size_t count)
{
	for (size_t i = 0; i < service->address_count; i++) {
		const struct gw_prefix *prefix = &service->addresses[i].prefix;
		char path[CONFIG_PATH_MAX], text[GW_PREFIX_TEXT];

		if (prefix->length != 128 || !bsearch(prefix->address, underlay, count,
						     sizeof(*underlay), compare_addresses))
			continue;
		config_bad_at(walk, &service->addresses[i].place,
			config_service_path(walk, service, ".addresses", path),
			"%s is also the address of a backend or of the node: packets would go "
			"round in circles",
			gw_prefix_format(prefix, text));
	}
}

/* A packet for a service address would be sent to that address again, and again. */
static void underlay_check(struct config_walk *walk)
{
	const struct gw_config *config = walk->config;
	size_t count = 0;
	uint8_t(*underlay)[16] = underlay_collect(walk, &count);

	for (size_t i = 0; underlay && i < config->service_count; i++)
		underlay_search(walk, &config->services[i], underlay, count);
}

/* What is kept on a backend that is down are tracked flows: where none are, nothing would be. */
static void keep_check(struct config_walk *walk, const struct gw_config_pool *pool)
{
	const struct gw_config *config = walk->config;
	const struct gw_config_service *untracked = NULL;
	char path[CONFIG_PATH_MAX], where[CONFIG_PLACE_TEXT];

	for (size_t i = 0; i < config->service_count; i++) {
		if (config->services[i].pool != pool)
			continue;
		if (config->services[i].track_flows)
			return;
		untracked = untracked ? untracked : &config->services[i];
	}
	if (untracked)
		config_bad_at(walk, &pool->on_down_place,
			config_pool_path(walk, pool, ".on_down", path),
			"keep has no meaning: service %s (%s) and whoever else uses the pool have "
			"track_flows: false, so there is no flow to keep",
			untracked->name,
			config_place_text(
				&untracked->track_flows_place, &pool->on_down_place, where));
}

void config_services_check(struct config_walk *walk)
{
	struct gw_place start = {.file = walk->sources.list[0]->name, .line = 1, .column = 1};
	size_t total = claim_total(walk->config);
	struct claim *claims;
	size_t count;

	if (total > GW_MAX_SPANS) {
		config_bad_at(walk, &start, "services",
			"addresses times ports of all services are %zu, more than the %u that fit",
			total, GW_MAX_SPANS);
		return;
	}
	claims = config_alloc(walk, total, sizeof(*claims));
	if (!claims)
		return;
	count = collect(walk->config, claims);
	overlaps_check(walk, claims, count);
	if (!walk->status)
		for (size_t i = 0; i < sizeof(address_keys) / sizeof(*address_keys); i++)
			address_key_check(walk, &address_keys[i], claims, count);
	if (!walk->status)
		underlay_check(walk);
	for (size_t i = 0; i < walk->config->pool_count && !walk->status; i++)
		if (walk->config->pools[i].keep_on_down)
			keep_check(walk, &walk->config->pools[i]);
}
