/* SPDX-License-Identifier: BSD-2-Clause */
#include "flow_table.h"

#include "memory.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/random.h>

/* How often a lost race is run again before the packet goes on without an entry. */
#define RETRIES 4

int gw_flow_table_init(struct gw_flow_table *table, uint64_t flows, int socket)
{
	struct gw_flow_table made = {.socket = socket};

	if (!flows || flows > GW_FLOW_FLOWS_MAX)
		return -EINVAL;
	if (getrandom(&made.seed, sizeof(made.seed), 0) != sizeof(made.seed))
		return -EIO;
	made.buckets = gw_flow_buckets_for(flows);
	made.size = made.buckets * sizeof(struct gw_flow_bucket);
	made.bucket = gw_memory_alloc(made.size, socket);
	if (!made.bucket)
		return -ENOMEM;
	*table = made;
	return 0;
}

void gw_flow_table_fini(struct gw_flow_table *table)
{
	gw_memory_free(table->bucket, table->size);
	table->bucket = NULL;
}

static uint64_t *slot_word(const struct gw_flow_table *table, uint32_t slot)
{
	return &table->bucket[slot / GW_FLOW_BUCKET_WORDS].word[slot % GW_FLOW_BUCKET_WORDS];
}

void gw_flow_advance(struct gw_flow_table *table, uint32_t slot, uint64_t word, uint64_t next,
	enum gw_flow_event event, uint32_t now)
{
	uint64_t *at = slot_word(table, slot);

	for (int i = 0; i < RETRIES && next != word; i++) {
		uint64_t seen = __sync_val_compare_and_swap(at, word, next);

		/* Another worker's packet of the same flow: its change and ours both count. */
		if (seen == word || gw_flow_tag(seen) != gw_flow_tag(word) ||
			gw_flow_backend(seen) != gw_flow_backend(word) ||
			gw_flow_state(seen) == GW_FLOW_FREE)
			return;
		word = seen;
		next = gw_flow_next(word, event, now);
	}
}

/*
 * The word that a new flow takes, whose slot is returned, or GW_FLOW_NOWHERE; *word is what stands
 * there. The first bucket's when it has one that costs nobody his place, else the better of both
 * buckets'. Of free words retired ones go first: as long as a bucket keeps an empty word, it is the
 * only one that is looked at.
 */
static inline __attribute__((always_inline)) uint32_t choose_victim(
	const struct gw_flow_table *table, struct gw_flow_place place, uint32_t now,
	const struct gw_flow_timeouts *timeouts, uint64_t *word)
{
	const struct gw_flow_bucket *at = &table->bucket[place.bucket];
	uint32_t free = gw_flow_frees(at), empty = gw_flow_empties(at);
	uint32_t bucket = place.bucket, other;
	struct gw_flow_victim best, second;

	if (likely(free)) {
		best.index = (uint32_t)__builtin_ctz(free & ~empty ? free & ~empty : free);
		*word = __atomic_load_n(&at->word[best.index], __ATOMIC_RELAXED);
		if (likely(gw_flow_state(*word) == GW_FLOW_FREE))
			return bucket * GW_FLOW_BUCKET_WORDS + best.index;
	}
	best = gw_flow_scan_victim(at, now, timeouts);
	if (best.rank < GW_FLOW_RANK_EMPTY) {
		other = gw_flow_other_bucket(bucket, place.tag, table->buckets);
		second = gw_flow_scan_victim(&table->bucket[other], now, timeouts);
		if (second.rank > best.rank) {
			best = second;
			bucket = other;
		}
	}
	*word = best.word;
	return best.index == GW_FLOW_BUCKET_WORDS ? GW_FLOW_NOWHERE
						  : bucket * GW_FLOW_BUCKET_WORDS + best.index;
}

enum gw_flow_outcome gw_flow_insert(struct gw_flow_table *table, struct gw_flow_place place,
	uint32_t backend, uint32_t now, const struct gw_flow_timeouts *timeouts, uint32_t *slot,
	uint64_t *word)
{
	uint64_t new_word = gw_flow_word(place.tag, backend, GW_FLOW_NEW, now);

	for (int i = 0; i < RETRIES; i++) {
		uint64_t found;
		uint32_t at = gw_flow_lookup(table, place, &found);

		if (at != GW_FLOW_NOWHERE && !gw_flow_expired(found, now, timeouts)) {
			*slot = at;
			*word = found;
			return GW_FLOW_FOUND;
		}
		/* An expired word of this tag is taken over in its place: a second one elsewhere
		 * would be hidden behind it. */
		if (at == GW_FLOW_NOWHERE)
			at = choose_victim(table, place, now, timeouts, &found);
		if (at == GW_FLOW_NOWHERE)
			return GW_FLOW_FULL;
		if (gw_flow_swap(slot_word(table, at), found, new_word)) {
			*slot = at;
			*word = new_word;
			return GW_FLOW_INSERTED;
		}
	}
	return GW_FLOW_FULL;
}

bool gw_flow_replace(
	struct gw_flow_table *table, uint32_t slot, uint64_t word, uint32_t backend, uint32_t now)
{
	return gw_flow_swap(slot_word(table, slot), word,
		gw_flow_word(gw_flow_tag(word), backend, GW_FLOW_NEW, now));
}
