/* SPDX-License-Identifier: BSD-2-Clause */
/* Lookups on a view: one owner, many owners, preference lists, bounded loads. */
#include "chash/hash.h"
#include "chash/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static inline void key_hash(const struct gw_chash_view *view, const void *key, size_t length,
	uint64_t *first, uint64_t *second)
{
	*second = 0;
	if (view->ops->hash_key)
		view->ops->hash_key(view, key, length, first, second);
	else
		*first = view->hash(key, length, view->options.seed);
}

int gw_chash_get_node(
	const struct gw_chash_view *view, const void *key, size_t length, uint32_t *member)
{
	uint64_t first, second;
	int status = view_ready(view);

	if (status < 0)
		return status;
	key_hash(view, key, length, &first, &second);
	*member = view->ops->find(view, first, second);
	return 0;
}

int gw_chash_get_node_u64(const struct gw_chash_view *view, uint64_t key, uint32_t *member)
{
	int status = view_ready(view);

	if (status < 0)
		return status;
	*member = view->ops->find(view, key, 0);
	return 0;
}

int gw_chash_get_bucket_u64(const struct gw_chash_view *view, uint64_t key, uint32_t *bucket)
{
	int status = view_ready(view);

	if (!view->ops->bucket)
		return GW_CHASH_ERR_UNSUPPORTED;
	if (status < 0)
		return status;
	*bucket = view->ops->bucket(view, key);
	return 0;
}

int gw_chash_get_node_bulk(
	const struct gw_chash_view *view, const uint64_t *keys, size_t count, uint32_t *members)
{
	int status = view_ready(view);

	if (status < 0)
		return status;
	if (view->ops->find_many) {
		view->ops->find_many(view, keys, count, members);
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		members[i] = view->ops->find(view, keys[i], 0);
	return 0;
}

int gw_chash_get_id(struct gw_chash *handle, const void *key, size_t length, char *id, size_t size)
{
	struct gw_chash_view *view = gw_chash_snapshot(handle);
	uint32_t member;
	int status = gw_chash_get_node(view, key, length, &member);

	if (!status) {
		size_t needed = strlen(view->members[member].id) + 1;

		if (needed > size)
			status = GW_CHASH_ERR_ID;
		else
			memcpy(id, view->members[member].id, needed);
	}
	gw_chash_view_unref(view);
	return status;
}

/* ---- preference lists -------------------------------------------------------------------- */

struct few {
	uint32_t *members;
	uint32_t found, wanted;
};

static bool few_visit(void *context, uint32_t member)
{
	struct few *few = context;

	for (uint32_t i = 0; i < few->found; i++)
		if (few->members[i] == member)
			return true;
	few->members[few->found++] = member;
	return few->found < few->wanted;
}

/* Distinct members in the order met, until enough of them and enough zones were. */
struct gathering {
	const struct gw_chash_view *view;
	uint64_t *seen;	      /* a bit for each member */
	uint64_t *zones_seen; /* a bit for each zone; NULL when zones do not count */
	uint32_t *order;
	uint32_t found, wanted;
	uint32_t zones, zones_wanted;
};

/* Sets the bit; true when it was not set before. */
static bool bit_claim(uint64_t *bits, uint32_t number)
{
	uint64_t bit = 1ull << (number % 64);
	bool fresh = !(bits[number / 64] & bit);

	bits[number / 64] |= bit;
	return fresh;
}

static uint32_t zone_of(const struct gw_chash_view *view, uint32_t member)
{
	return view->zone_of ? view->zone_of[member] : 0;
}

static bool gathering_visit(void *context, uint32_t member)
{
	struct gathering *gathering = context;

	if (!bit_claim(gathering->seen, member))
		return true;
	gathering->order[gathering->found++] = member;
	if (gathering->zones_seen)
		gathering->zones +=
			bit_claim(gathering->zones_seen, zone_of(gathering->view, member));
	return gathering->found < gathering->wanted || gathering->zones < gathering->zones_wanted;
}

/* The first of each zone, then the others, both in the order gathered. */
static void zones_first(struct gathering *gathering, uint32_t *members, uint32_t wanted)
{
	size_t words = gathering->view->count / 64 + 1;
	uint32_t taken = 0;

	memset(gathering->zones_seen, 0, words * sizeof(uint64_t));
	memset(gathering->seen, 0, words * sizeof(uint64_t));
	for (uint32_t i = 0; i < gathering->found && taken < wanted; i++) {
		uint32_t member = gathering->order[i];

		if (!bit_claim(gathering->zones_seen, zone_of(gathering->view, member)))
			continue;
		bit_claim(gathering->seen, member);
		members[taken++] = member;
	}
	for (uint32_t i = 0; i < gathering->found && taken < wanted; i++)
		if (bit_claim(gathering->seen, gathering->order[i]))
			members[taken++] = gathering->order[i];
}

static int many_find(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	uint32_t wanted, bool spread, uint32_t *members)
{
	size_t words = view->count / 64 + 1;
	struct gathering gathering = {.view = view, .wanted = wanted};
	int status = GW_CHASH_ERR_MEMORY;

	gathering.seen = calloc(words, sizeof(*gathering.seen));
	gathering.order = malloc(view->live * sizeof(*gathering.order));
	if (spread) {
		gathering.zones_seen = calloc(words, sizeof(*gathering.zones_seen));
		gathering.zones_wanted = wanted < view->zones ? wanted : view->zones;
	}
	if (gathering.seen && gathering.order && (gathering.zones_seen || !spread))
		status = view->ops->walk(view, first, second, gathering_visit, &gathering);
	if (!status && spread)
		zones_first(&gathering, members, wanted);
	else if (!status)
		memcpy(members, gathering.order, wanted * sizeof(*members));
	free(gathering.zones_seen);
	free(gathering.order);
	free(gathering.seen);
	return status;
}

/* Up to this many members are compared with each other, without allocation. */
#define FEW 32

static int nodes_find(const struct gw_chash_view *view, uint64_t first, uint64_t second, uint32_t n,
	bool spread, uint32_t *members, uint32_t *found)
{
	uint32_t wanted = n < view->live ? n : view->live;
	struct few few = {members, 0, wanted};
	int status = 0;

	if (!wanted) {
		*found = 0;
		return 0;
	}
	if ((spread && view->zones > 1) || wanted > FEW)
		status = many_find(view, first, second, wanted, spread, members);
	else if (wanted == 1)
		members[0] = view->ops->find(view, first, second);
	else
		status = view->ops->walk(view, first, second, few_visit, &few);
	if (!status)
		*found = wanted;
	return status;
}

int gw_chash_get_nodes(const struct gw_chash_view *view, const void *key, size_t length, uint32_t n,
	bool spread_zones, uint32_t *members, uint32_t *found)
{
	uint64_t first, second;
	int status = view_ready(view);

	if (status < 0)
		return status;
	key_hash(view, key, length, &first, &second);
	return nodes_find(view, first, second, n, spread_zones, members, found);
}

int gw_chash_get_nodes_u64(const struct gw_chash_view *view, uint64_t key, uint32_t n,
	bool spread_zones, uint32_t *members, uint32_t *found)
{
	int status = view_ready(view);

	return status < 0 ? status : nodes_find(view, key, 0, n, spread_zones, members, found);
}

/* ---- bounded loads ----------------------------------------------------------------------- */

struct bound {
	const struct gw_chash_view *view;
	const uint64_t *loads;
	double unit; /* what a member may hold for each unit of its weight, before rounding up */
	uint32_t member;
};

static bool bound_full(const struct bound *bound, uint32_t member)
{
	double limit = ceil(bound->unit * bound->view->members[member].weight);

	return (double)bound->loads[member] >= limit;
}

static bool bound_visit(void *context, uint32_t member)
{
	struct bound *bound = context;

	if (bound_full(bound, member))
		return true;
	bound->member = member;
	return false;
}

static int bounded_find(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	const uint64_t *loads, uint64_t total, double factor, uint32_t *member)
{
	struct bound bound = {view, loads, 0, GW_CHASH_NONE};
	uint32_t owner;
	int status;

	bound.unit = factor * ((double)total + 1) / (double)view->weights;
	owner = view->ops->find(view, first, second);
	if (!bound_full(&bound, owner)) {
		*member = owner;
		return 0;
	}
	status = view->ops->walk(view, first, second, bound_visit, &bound);
	if (status < 0)
		return status;
	if (bound.member == GW_CHASH_NONE)
		return GW_CHASH_ERR_FULL;
	*member = bound.member;
	return 0;
}

static int bounded_check(const struct gw_chash_view *view, const uint64_t *loads, double factor)
{
	if (!loads)
		return GW_CHASH_ERR_ARGUMENT;
	if (!isfinite(factor) || factor <= 1)
		return GW_CHASH_ERR_FACTOR;
	return view_ready(view);
}

int gw_chash_get_node_bounded(const struct gw_chash_view *view, const void *key, size_t length,
	const uint64_t *loads, uint64_t total, double factor, uint32_t *member)
{
	uint64_t first, second;
	int status = bounded_check(view, loads, factor);

	if (status < 0)
		return status;
	key_hash(view, key, length, &first, &second);
	return bounded_find(view, first, second, loads, total, factor, member);
}

int gw_chash_get_node_bounded_u64(const struct gw_chash_view *view, uint64_t key,
	const uint64_t *loads, uint64_t total, double factor, uint32_t *member)
{
	int status = bounded_check(view, loads, factor);

	return status < 0 ? status : bounded_find(view, key, 0, loads, total, factor, member);
}
