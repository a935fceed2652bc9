/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every section is first proved to lie inside the image, then its records are read one by one, in
 * an order in which each record only points to sections already proved. The first thing that is
 * wrong ends the check.
 */
#include "abi/encap.h"
#include "snapshot.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
	const uint8_t *data;
	size_t size;
	const struct gw_snapshot_header *header;
	const struct gw_pool *pools;
	const struct gw_service *services;
	const struct gw_vip *vips;
	const struct gw_span *spans;
	const struct gw_backend *backends;
	const uint32_t *members;
	const struct gw_next_hop *next_hops;
	const struct gw_pool *pool_by_id[GW_MAX_POOLS];
	uint32_t *breaks;     /* see check_spans */
	uint64_t table_bytes; /* of the tables seen so far */
	char *text;
};

static int __attribute__((format(printf, 2, 3)))
refuse(struct check *check, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(check->text, GW_SNAPSHOT_TEXT, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static int check_header(struct check *check)
{
	const struct gw_snapshot_header *header = check->header;

	if (check->size < sizeof(*header))
		return refuse(check, "header: the image has %zu bytes, the header needs %zu",
			check->size, sizeof(*header));
	if (check->size > GW_SNAPSHOT_MAX_SIZE)
		return refuse(check, "header: the image has %zu bytes, at most %llu are allowed",
			check->size, GW_SNAPSHOT_MAX_SIZE);
	if (header->magic != GW_SNAPSHOT_MAGIC)
		return refuse(check, "header: magic %#llx is not a snapshot's",
			(unsigned long long)header->magic);
	if (header->abi_version != GW_SNAPSHOT_ABI_VERSION)
		return refuse(check, "header: ABI version %u, this dataplane speaks %u",
			header->abi_version, GW_SNAPSHOT_ABI_VERSION);
	if (header->header_size != sizeof(*header))
		return refuse(check, "header: header_size %u, expected %zu", header->header_size,
			sizeof(*header));
	if (header->total_size != check->size)
		return refuse(check, "header: total_size %llu, but the image has %zu bytes",
			(unsigned long long)header->total_size, check->size);
	if (!header->version)
		return refuse(check, "header: version 0 is not a snapshot's");
	return 0;
}

static int check_timeouts(struct check *check)
{
	for (int class = 0; class < GW_CLASS_COUNT; class ++) {
		const uint16_t *seconds = check->header->timeouts.seconds[class];

		if (seconds[GW_FLOW_FREE])
			return refuse(check, "timeouts: class %d has %u s for free words, not 0",
				class, seconds[GW_FLOW_FREE]);
		for (int state = GW_FLOW_NEW; state <= GW_FLOW_CLOSING; state++)
			if (seconds[state] > GW_FLOW_TIMEOUT_MAX)
				return refuse(check,
					"timeouts: class %d state %d has %u s, more than %d", class,
					state, seconds[state], GW_FLOW_TIMEOUT_MAX);
	}
	return 0;
}

struct section_rule {
	const char *name;
	size_t header_offset;
	size_t record_size;
	uint64_t count_max;
};

#define RULE(name, record, max)                                                                    \
	{                                                                                          \
#		name, offsetof(struct gw_snapshot_header, name), record, max                      \
	}

static const struct section_rule rules[] = {
	RULE(pools, sizeof(struct gw_pool), GW_MAX_POOLS),
	RULE(services, sizeof(struct gw_service), GW_MAX_SERVICES),
	RULE(vips, sizeof(struct gw_vip), GW_MAX_VIPS),
	RULE(spans, sizeof(struct gw_span), GW_MAX_SPANS),
	RULE(backends, sizeof(struct gw_backend), GW_MAX_BACKENDS),
	RULE(members, sizeof(uint32_t), (uint64_t)GW_MAX_POOLS *GW_MAX_POOL_MEMBERS),
	RULE(next_hops, sizeof(struct gw_next_hop), GW_MAX_BACKENDS),
	RULE(tables, 1, GW_SNAPSHOT_MAX_SIZE),
};

#define SECTIONS (sizeof(rules) / sizeof(rules[0]))

static struct gw_section section_of(const struct check *check, size_t i)
{
	struct gw_section section;

	memcpy(&section, check->data + rules[i].header_offset, sizeof(section));
	return section;
}

static int check_section(struct check *check, size_t i)
{
	const struct section_rule *rule = &rules[i];
	struct gw_section section = section_of(check, i);

	if (!section.count)
		return section.offset ? refuse(check, "%s: empty, but at offset %llu", rule->name,
						(unsigned long long)section.offset)
				      : 0;
	if (section.count > rule->count_max)
		return refuse(check, "%s: %llu records, at most %llu are allowed", rule->name,
			(unsigned long long)section.count, (unsigned long long)rule->count_max);
	if (section.offset % GW_CACHE_LINE || section.offset < sizeof(struct gw_snapshot_header))
		return refuse(check, "%s: offset %llu is not a multiple of %d behind the header",
			rule->name, (unsigned long long)section.offset, GW_CACHE_LINE);
	if (section.offset > check->size ||
		section.count > (check->size - section.offset) / rule->record_size)
		return refuse(check,
			"%s: %llu records at offset %llu reach beyond the image's %zu bytes",
			rule->name, (unsigned long long)section.count,
			(unsigned long long)section.offset, check->size);
	return 0;
}

static int check_sections(struct check *check)
{
	for (size_t i = 0; i < SECTIONS; i++) {
		int error = check_section(check, i);

		if (error)
			return error;
	}
	for (size_t i = 0; i < SECTIONS; i++) {
		for (size_t j = i + 1; j < SECTIONS; j++) {
			struct gw_section a = section_of(check, i);
			struct gw_section b = section_of(check, j);

			if (a.count && b.count &&
				a.offset < b.offset + b.count * rules[j].record_size &&
				b.offset < a.offset + a.count * rules[i].record_size)
				return refuse(
					check, "%s: overlaps %s", rules[j].name, rules[i].name);
		}
	}
	return 0;
}

/* Sections have been proved to lie inside the image; only now may there be pointers to them. */
static void find_sections(struct check *check)
{
	const struct gw_snapshot_header *header = check->header;

	check->pools = (const void *)(check->data + header->pools.offset);
	check->services = (const void *)(check->data + header->services.offset);
	check->vips = (const void *)(check->data + header->vips.offset);
	check->spans = (const void *)(check->data + header->spans.offset);
	check->backends = (const void *)(check->data + header->backends.offset);
	check->members = (const void *)(check->data + header->members.offset);
	check->next_hops = (const void *)(check->data + header->next_hops.offset);
}

static int check_next_hops(struct check *check)
{
	for (uint64_t i = 0; i < check->header->next_hops.count; i++) {
		const struct gw_next_hop *hop = &check->next_hops[i];
		uint8_t family = gw_address_is_ipv4(&hop->address) ? GW_IPV4 : GW_IPV6;

		if (hop->family != family)
			return refuse(check, "next_hops[%llu]: family %u, but its address is IPv%u",
				(unsigned long long)i, hop->family, family);
		if (hop->flags & ~GW_HOP_ON_LINK)
			return refuse(check, "next_hops[%llu]: flags %#x are none of those known",
				(unsigned long long)i, hop->flags);
		if (hop->mtu && (hop->mtu < 68 || hop->mtu > 65535))
			return refuse(check, "next_hops[%llu]: mtu %u is not within 68 to 65535",
				(unsigned long long)i, hop->mtu);
	}
	return 0;
}

/* First half: the pool itself. Its members are checked when the backends are known to be sound. */
static int check_pool(struct check *check, uint64_t i)
{
	const struct gw_pool *pool = &check->pools[i];
	const struct gw_section *tables = &check->header->tables;
	unsigned long long n = i;
	uint64_t bytes = (uint64_t)pool->table_size * sizeof(uint16_t);

	if (pool->id >= GW_MAX_POOLS)
		return refuse(check, "pools[%llu]: id %u, the highest allowed is %u", n, pool->id,
			GW_MAX_POOLS - 1);
	if (check->pool_by_id[pool->id])
		return refuse(check, "pools[%llu]: id %u occurs twice", n, pool->id);
	if (pool->table_size < 2 || pool->table_size > GW_MAX_TABLE_SIZE)
		return refuse(check, "pools[%llu]: table_size %u is not within 2 to %u", n,
			pool->table_size, GW_MAX_TABLE_SIZE);
	if (pool->member_count > GW_MAX_POOL_MEMBERS || pool->member_count > pool->table_size)
		return refuse(check, "pools[%llu]: %u members, at most %u and the table's %u slots",
			n, pool->member_count, GW_MAX_POOL_MEMBERS, pool->table_size);
	if (pool->member_first > check->header->members.count ||
		pool->member_count > check->header->members.count - pool->member_first)
		return refuse(check,
			"pools[%llu]: members %u to %llu, but the members section has %llu", n,
			pool->member_first,
			(unsigned long long)pool->member_first + pool->member_count,
			(unsigned long long)check->header->members.count);
	if (pool->table_offset && !pool->member_count)
		return refuse(check, "pools[%llu]: a table, but no members", n);
	if (pool->table_offset &&
		(pool->table_offset % sizeof(uint16_t) || pool->table_offset < tables->offset ||
			pool->table_offset - tables->offset > tables->count ||
			bytes > tables->count - (pool->table_offset - tables->offset)))
		return refuse(check,
			"pools[%llu]: table of %llu bytes at offset %llu is not in the tables "
			"section",
			n, (unsigned long long)bytes, (unsigned long long)pool->table_offset);
	if (pool->table_offset)
		check->table_bytes += bytes;
	if (check->table_bytes > tables->count)
		return refuse(check, "pools[%llu]: its table shares bytes with another pool's", n);
	check->pool_by_id[pool->id] = pool;
	return 0;
}

static int check_backend(struct check *check, uint64_t i)
{
	const struct gw_backend *backend = &check->backends[i];
	unsigned long long n = i;
	bool ipv4 = backend->family == GW_IPV4;

	if (backend->state == GW_BACKEND_FREE)
		return 0;
	if (backend->state > GW_BACKEND_DISABLED)
		return refuse(check, "backends[%llu]: state %u is none of those known", n,
			backend->state);
	if (backend->pool >= GW_MAX_POOLS || !check->pool_by_id[backend->pool])
		return refuse(check, "backends[%llu]: pool %u is not in the pools section", n,
			backend->pool);
	if (backend->encap > GW_ENCAP_L2)
		return refuse(check, "backends[%llu]: encapsulation %u is none of those known", n,
			backend->encap);
	if (backend->family != GW_IPV4 && backend->family != GW_IPV6)
		return refuse(
			check, "backends[%llu]: family %u is neither 4 nor 6", n, backend->family);
	if (gw_address_is_ipv4(&backend->outer_source) != ipv4 ||
		gw_address_is_ipv4(&backend->outer_destination) != ipv4)
		return refuse(check, "backends[%llu]: an outer address is not of the family IPv%u",
			n, backend->family);
	if (backend->overhead != gw_encap_overhead_of(backend->encap, backend->family))
		return refuse(check,
			"backends[%llu]: an overhead of %u bytes is not its encapsulation's", n,
			backend->overhead);
	if (backend->source_bits > 32)
		return refuse(check, "backends[%llu]: %u bits of outer source, but 32 may vary", n,
			backend->source_bits);
	if (backend->next_hop != GW_NONE && backend->next_hop >= check->header->next_hops.count)
		return refuse(check,
			"backends[%llu]: next hop %u, but the next_hops section has %llu", n,
			backend->next_hop, (unsigned long long)check->header->next_hops.count);
	return 0;
}

static int check_members(struct check *check, const struct gw_pool *pool)
{
	for (uint32_t i = 0; i < pool->member_count; i++) {
		uint32_t id = check->members[pool->member_first + i];

		if (id >= check->header->backends.count)
			return refuse(check,
				"members[%u]: backend %u, but the backends section has %llu",
				pool->member_first + i, id,
				(unsigned long long)check->header->backends.count);
		if (check->backends[id].state == GW_BACKEND_FREE)
			return refuse(check, "members[%u]: backend %u is a free id",
				pool->member_first + i, id);
		if (check->backends[id].pool != pool->id)
			return refuse(check, "members[%u]: backend %u is of pool %u, not of %u",
				pool->member_first + i, id, check->backends[id].pool, pool->id);
	}
	return 0;
}

static int check_table(struct check *check, const struct gw_pool *pool)
{
	const uint16_t *slot = (const void *)(check->data + pool->table_offset);
	uint16_t most = 0;

	if (!pool->table_offset)
		return 0;
	/* The largest of many is found many at a time; which slot is bad is only asked if one is.
	 */
	for (uint32_t i = 0; i < pool->table_size; i++)
		most = slot[i] > most ? slot[i] : most;
	if (most < pool->member_count)
		return 0;
	for (uint32_t i = 0; i < pool->table_size; i++)
		if (slot[i] >= pool->member_count)
			return refuse(check, "tables: pool %u slot %u names member %u of %u",
				pool->id, i, slot[i], pool->member_count);
	return 0;
}

static int check_services(struct check *check)
{
	for (uint64_t i = 0; i < check->header->services.count; i++) {
		const struct gw_service *service = &check->services[i];
		unsigned long long n = i;

		if (service->pool == GW_NONE)
			continue;
		if (service->pool >= GW_MAX_POOLS || !check->pool_by_id[service->pool])
			return refuse(check, "services[%llu]: pool %u is not in the pools section",
				n, service->pool);
		if (service->affinity > GW_AFFINITY_SOURCE_IP_SERVICE)
			return refuse(check, "services[%llu]: affinity %u is none of those known",
				n, service->affinity);
		if (service->flags & ~GW_SERVICE_UNTRACKED)
			return refuse(check, "services[%llu]: flags 0x%x are not all known", n,
				service->flags);
	}
	return 0;
}

static bool service_exists(const struct check *check, uint32_t id)
{
	return id < check->header->services.count && check->services[id].pool != GW_NONE;
}

/*
 * Spans one by one, and in breaks[i] how many of the first i+1 do not stand above the one before
 * them: a run is in order when the count does not rise within it. Runs may share spans, so that
 * reading each run through could take hours.
 */
static int check_spans(struct check *check)
{
	uint32_t broken = 0;

	for (uint32_t i = 0; i < check->header->spans.count; i++) {
		const struct gw_span *span = &check->spans[i];

		if (span->first > span->last)
			return refuse(check, "spans[%u]: ports %u to %u go backwards", i,
				span->first, span->last);
		if (!service_exists(check, span->service))
			return refuse(check, "spans[%u]: service %u is not in the services section",
				i, span->service);
		if (i && span->first <= check->spans[i - 1].last)
			broken++;
		check->breaks[i] = broken;
	}
	return 0;
}

static int check_run(
	struct check *check, uint64_t vip, const char *protocol, struct gw_span_run run)
{
	unsigned long long n = vip;
	unsigned long long end = (unsigned long long)run.first + run.count;

	if (end > check->header->spans.count)
		return refuse(check,
			"vips[%llu]: %s spans %u to %llu, but the spans section has %llu", n,
			protocol, run.first, end, (unsigned long long)check->header->spans.count);
	if (run.count && check->breaks[end - 1] != check->breaks[run.first])
		return refuse(check,
			"spans[%u] to spans[%llu], which are vips[%llu]'s for %s, are not in order",
			run.first, end - 1, n, protocol);
	return 0;
}

/* Bits behind the prefix must be zero, or the prefix could never be found. */
static bool vip_has_host_bits(const struct gw_vip *vip)
{
	for (uint32_t bit = vip->prefix_length; bit < 128; bit++)
		if (vip->address.bytes[bit / 8] & (0x80u >> bit % 8))
			return true;
	return false;
}

static int check_vip(struct check *check, uint64_t i)
{
	const struct gw_vip *vip = &check->vips[i];
	unsigned long long n = i;
	int error;

	if (vip->prefix_length > 128)
		return refuse(
			check, "vips[%llu]: prefix length %u is above 128", n, vip->prefix_length);
	if (vip_has_host_bits(vip))
		return refuse(check, "vips[%llu]: address bits behind the prefix length %u", n,
			vip->prefix_length);
	if (vip->any_service != GW_NONE && !service_exists(check, vip->any_service))
		return refuse(check, "vips[%llu]: service %u is not in the services section", n,
			vip->any_service);
	error = check_run(check, i, "tcp", vip->tcp);
	if (!error)
		error = check_run(check, i, "udp", vip->udp);
	if (!error)
		error = check_run(check, i, "sctp", vip->sctp);
	return error;
}

static int vip_order(const void *a, const void *b)
{
	const struct gw_vip *left = *(const struct gw_vip *const *)a;
	const struct gw_vip *right = *(const struct gw_vip *const *)b;

	if (left->prefix_length != right->prefix_length)
		return left->prefix_length < right->prefix_length ? -1 : 1;
	return memcmp(&left->address, &right->address, sizeof(left->address));
}

static int check_vips_differ(struct check *check)
{
	uint64_t count = check->header->vips.count;
	const struct gw_vip **sorted;
	int error = 0;

	if (count < 2)
		return 0;
	sorted = malloc(count * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++)
		sorted[i] = &check->vips[i];
	qsort(sorted, count, sizeof(*sorted), vip_order);
	for (uint64_t i = 1; i < count && !error; i++)
		if (vip_order(&sorted[i - 1], &sorted[i]) == 0)
			error = refuse(check, "vips[%lld]: the same address as vips[%lld]",
				(long long)(sorted[i] - check->vips),
				(long long)(sorted[i - 1] - check->vips));
	free(sorted);
	return error;
}

static int check_records(struct check *check)
{
	const struct gw_snapshot_header *header = check->header;
	int error = check_next_hops(check);

	for (uint64_t i = 0; i < header->pools.count && !error; i++)
		error = check_pool(check, i);
	for (uint64_t i = 0; i < header->backends.count && !error; i++)
		error = check_backend(check, i);
	for (uint64_t i = 0; i < header->pools.count && !error; i++)
		error = check_members(check, &check->pools[i]);
	for (uint64_t i = 0; i < header->pools.count && !error; i++)
		error = check_table(check, &check->pools[i]);
	if (!error)
		error = check_services(check);
	if (!error)
		error = check_spans(check);
	for (uint64_t i = 0; i < header->vips.count && !error; i++)
		error = check_vip(check, i);
	return error ? error : check_vips_differ(check);
}

int gw_snapshot_check(const void *data, size_t size, char text[GW_SNAPSHOT_TEXT])
{
	struct check *check = calloc(1, sizeof(*check));
	int error;

	if (!check)
		return -ENOMEM;
	check->data = data;
	check->size = size;
	check->header = data;
	check->text = text;
	error = check_header(check);
	if (!error)
		error = check_timeouts(check);
	if (!error)
		error = check_sections(check);
	if (!error) {
		find_sections(check);
		check->breaks = calloc(check->header->spans.count + 1, sizeof(*check->breaks));
		error = check->breaks ? check_records(check) : -ENOMEM;
		free(check->breaks);
	}
	free(check);
	return error;
}
