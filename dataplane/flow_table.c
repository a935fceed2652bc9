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

static uint64_t word_load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static uint64_t *slot_word(const struct gw_flow_table *table, uint32_t slot)
{
	return &table->bucket[slot / GW_FLOW_BUCKET_WORDS].word[slot % GW_FLOW_BUCKET_WORDS];
}

/* The word may change between finding and reading it: then the caller finds again. */
static uint32_t bucket_lookup(
	const struct gw_flow_table *table, uint32_t bucket, uint32_t tag, uint64_t *word)
{
	uint32_t index = gw_flow_find(&table->bucket[bucket], tag);
	uint64_t found;

	if (index == GW_FLOW_BUCKET_WORDS)
		return GW_FLOW_NOWHERE;
	found = word_load(&table->bucket[bucket].word[index]);
	if (gw_flow_tag(found) != tag || gw_flow_state(found) == GW_FLOW_FREE)
		return GW_FLOW_NOWHERE;
	*word = found;
	return bucket * GW_FLOW_BUCKET_WORDS + index;
}

uint32_t gw_flow_lookup(
	const struct gw_flow_table *table, struct gw_flow_place place, uint64_t *word)
{
	uint32_t slot = bucket_lookup(table, place.bucket, place.tag, word);

	if (slot != GW_FLOW_NOWHERE || gw_flow_bucket_has_empty(&table->bucket[place.bucket]))
		return slot;
	return bucket_lookup(table, gw_flow_other_bucket(place.bucket, place.tag, table->buckets),
		place.tag, word);
}

void gw_flow_touch(struct gw_flow_table *table, uint32_t slot, uint64_t word,
	enum gw_flow_event event, uint32_t now)
{
	uint64_t *at = slot_word(table, slot);

	for (int i = 0; i < RETRIES; i++) {
		uint64_t next = gw_flow_next(word, event, now);
		uint64_t seen;

		if (next == word)
			return;
		seen = __sync_val_compare_and_swap(at, word, next);
		/* Another worker's packet of the same flow: its change and ours both count. */
		if (seen == word || gw_flow_tag(seen) != gw_flow_tag(word) ||
			gw_flow_backend(seen) != gw_flow_backend(word) ||
			gw_flow_state(seen) == GW_FLOW_FREE)
			return;
		word = seen;
	}
}

/*
 * The word that a new flow takes, of the better bucket; the first bucket's when both cost nothing.
 * Leaves that bucket in *bucket.
 */
static struct gw_flow_victim choose_victim(const struct gw_flow_table *table, uint32_t tag,
	uint32_t now, const struct gw_flow_timeouts *timeouts, uint32_t *bucket)
{
	struct gw_flow_victim first = gw_flow_find_victim(&table->bucket[*bucket], now, timeouts);
	struct gw_flow_victim second;
	uint32_t other;

	if (first.rank >= GW_FLOW_RANK_EMPTY)
		return first;
	other = gw_flow_other_bucket(*bucket, tag, table->buckets);
	second = gw_flow_find_victim(&table->bucket[other], now, timeouts);
	if (second.rank <= first.rank)
		return first;
	*bucket = other;
	return second;
}

enum gw_flow_outcome gw_flow_insert(struct gw_flow_table *table, struct gw_flow_place place,
	uint32_t backend, uint32_t now, const struct gw_flow_timeouts *timeouts, uint32_t *slot,
	uint64_t *word)
{
	uint64_t new_word = gw_flow_word(place.tag, backend, GW_FLOW_NEW, now);

	for (int i = 0; i < RETRIES; i++) {
		uint32_t bucket = place.bucket;
		struct gw_flow_victim victim;
		uint64_t found;
		uint32_t at = gw_flow_lookup(table, place, &found);

		if (at != GW_FLOW_NOWHERE && !gw_flow_expired(found, now, timeouts)) {
			*slot = at;
			*word = found;
			return GW_FLOW_FOUND;
		}
		if (at == GW_FLOW_NOWHERE) {
			victim = choose_victim(table, place.tag, now, timeouts, &bucket);
			if (victim.index == GW_FLOW_BUCKET_WORDS)
				return GW_FLOW_FULL;
			at = bucket * GW_FLOW_BUCKET_WORDS + victim.index;
			found = victim.word;
		}
		/* An expired word of this tag is taken over in its place: a second one elsewhere
		 * would be hidden behind it. */
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
