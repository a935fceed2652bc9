/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Maglev behind the library's operations: the table is maglev_fill's, slot = hash mod size. The
 * preference order of a key is that of the slots from its own on, around the table.
 *
 * The remainder is exact and costs no division: the size is fixed for a view, so the quotient comes
 * from a multiplication by a 65-bit reciprocal (Granlund and Montgomery, PLDI 1994, figure 4.1).
 */
#include "chash/maglev_fill.h"
#include "chash/view.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct maglev {
	uint64_t reciprocal; /* of the size, without its leading one */
	uint32_t size;
	uint32_t shift;
	uint16_t *u16; /* slots, in one of the two widths */
	uint32_t *u32;
};

static void reciprocal_set(struct maglev *maglev, uint32_t size)
{
	unsigned int bits = 32 - (unsigned int)__builtin_clz(size - 1);

	maglev->size = size;
	maglev->shift = bits - 1;
	maglev->reciprocal =
		(uint64_t)((((unsigned __int128)1 << 64) * ((1ull << bits) - size)) / size + 1);
}

static inline uint32_t slot_of(const struct maglev *maglev, uint64_t hash)
{
	uint64_t high = (uint64_t)((unsigned __int128)maglev->reciprocal * hash >> 64);
	uint64_t quotient = (high + ((hash - high) >> 1)) >> maglev->shift;

	return (uint32_t)(hash - quotient * maglev->size);
}

static inline uint32_t slot_owner(const struct maglev *maglev, uint32_t slot)
{
	return maglev->u16 ? maglev->u16[slot] : maglev->u32[slot];
}

static struct maglev_turn *turns_make(const struct gw_chash_view *view)
{
	struct maglev_turn *turns = malloc((view->live + 1) * sizeof(*turns));
	uint32_t next = 0;

	for (uint32_t i = 0; turns && i < view->count; i++) {
		const struct gw_chash_member *member = &view->members[i];

		if (!member->weight)
			continue;
		maglev_turn_init(
			&turns[next], member->id, strlen(member->id), (uint32_t)view->options.size);
		turns[next].member = i;
		turns[next++].weight = member->weight;
	}
	return turns;
}

static int maglev_build(struct gw_chash_view *view, struct chash_past *past)
{
	struct maglev *maglev = calloc(1, sizeof(*maglev));
	struct maglev_turn *turns;
	int status = GW_CHASH_ERR_MEMORY;

	if (!maglev)
		return GW_CHASH_ERR_MEMORY;
	view->state = maglev;
	reciprocal_set(maglev, (uint32_t)view->options.size);
	if (view->live > maglev->size)
		return GW_CHASH_ERR_SLOTS;
	if (!view->live)
		return 0;
	if (view->count <= UINT16_MAX)
		maglev->u16 = malloc(maglev->size * sizeof(*maglev->u16));
	else
		maglev->u32 = malloc(maglev->size * sizeof(*maglev->u32));
	turns = turns_make(view);
	if (turns && (maglev->u16 || maglev->u32))
		status = maglev_fill(turns, view->live,
			&(struct maglev_slots){maglev->u16, maglev->u32, maglev->size});
	free(turns);
	return status;
}

static void maglev_free(struct gw_chash_view *view)
{
	struct maglev *maglev = view->state;

	if (!maglev)
		return;
	free(maglev->u16);
	free(maglev->u32);
	free(maglev);
}

static uint32_t maglev_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	const struct maglev *maglev = view->state;

	return slot_owner(maglev, slot_of(maglev, first));
}

static void maglev_find_many(
	const struct gw_chash_view *view, const uint64_t *keys, size_t count, uint32_t *members)
{
	enum { BATCH = 32 };
	const struct maglev *maglev = view->state;

	for (size_t from = 0; from < count; from += BATCH) {
		size_t to = from + BATCH < count ? from + BATCH : count;

		for (size_t i = from; i < to; i++) {
			members[i] = slot_of(maglev, keys[i]);
			__builtin_prefetch(maglev->u16 ? (void *)&maglev->u16[members[i]]
						       : (void *)&maglev->u32[members[i]]);
		}
		for (size_t i = from; i < to; i++)
			members[i] = slot_owner(maglev, members[i]);
	}
}

static int maglev_walk(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	bool (*visit)(void *context, uint32_t member), void *context)
{
	const struct maglev *maglev = view->state;
	uint32_t slot = slot_of(maglev, first);

	for (uint32_t i = 0; i < maglev->size; i++) {
		if (!visit(context, slot_owner(maglev, slot)))
			break;
		slot = slot + 1 < maglev->size ? slot + 1 : 0;
	}
	return 0;
}

static int maglev_check(const struct gw_chash_options *options)
{
	return gw_chash_table_size_check(options->size);
}

static size_t maglev_memory(const struct gw_chash_view *view)
{
	const struct maglev *maglev = view->state;

	return sizeof(*maglev) + (maglev->u16	       ? 2ull
					 : maglev->u32 ? 4ull
						       : 0) *
					 (size_t)maglev->size;
}

static void maglev_dump(const struct gw_chash_view *view, struct chash_sink *sink)
{
	const struct maglev *maglev = view->state;

	for (uint32_t slot = 0; view->live && slot < maglev->size; slot++) {
		uint32_t owner = htole32(slot_owner(maglev, slot));

		sink->put(sink, &owner, sizeof(owner));
	}
}

int gw_chash_view_slots(const struct gw_chash_view *view, struct gw_chash_slots *slots)
{
	const struct maglev *maglev = view->state;
	int status = view_ready(view);

	if (view->ops != &chash_maglev)
		return GW_CHASH_ERR_UNSUPPORTED;
	if (status < 0)
		return status;
	*slots = (struct gw_chash_slots){maglev->u16, maglev->u32, maglev->size};
	return 0;
}

const struct chash_ops chash_maglev = {
	.traits = {.name = "maglev", .title = "Maglev"},
	.hash = GW_CHASH_XXH3,
	.check = maglev_check,
	.build = maglev_build,
	.free = maglev_free,
	.find = maglev_find,
	.find_many = maglev_find_many,
	.walk = maglev_walk,
	.memory = maglev_memory,
	.dump = maglev_dump,
};
