/* SPDX-License-Identifier: BSD-2-Clause */
#include "fragment_table.h"

#include "memory.h"

#include <errno.h>
#include <string.h>

#define WAYS 4
#define SETS (GW_FRAGMENT_DECISIONS / WAYS)
_Static_assert((SETS & (SETS - 1)) == 0, "sets are chosen by a mask");

#define BACKEND_MASK 0xffffffu

int gw_fragment_table_init(struct gw_fragment_table *table, uint64_t seed, int socket)
{
	table->entry = gw_memory_alloc(GW_FRAGMENT_DECISIONS * sizeof(*table->entry), socket);
	table->seed = seed;
	table->changes = 0;
	return table->entry ? 0 : -ENOMEM;
}

void gw_fragment_table_fini(struct gw_fragment_table *table)
{
	gw_memory_free(table->entry, GW_FRAGMENT_DECISIONS * sizeof(*table->entry));
	table->entry = NULL;
}

uint64_t gw_fragment_hash(const struct gw_fragment_table *table, const struct gw_fragment_key *key)
{
	return XXH3_64bits_withSeed(key, sizeof(*key), table->seed);
}

static struct gw_fragment_entry *set_of(
	const struct gw_fragment_table *table, const struct gw_fragment_key *key)
{
	return &table->entry[(gw_fragment_hash(table, key) & (SETS - 1)) * WAYS];
}

#define LOAD(field)	    __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

/* A whole copy; false when somebody is writing. */
static bool entry_read(const struct gw_fragment_entry *entry, struct gw_fragment_entry *copy)
{
	copy->sequence = __atomic_load_n(&entry->sequence, __ATOMIC_ACQUIRE);
	if (copy->sequence & 1)
		return false;
	copy->id = LOAD(entry->id);
	copy->backend_protocol = LOAD(entry->backend_protocol);
	copy->service = LOAD(entry->service);
	for (int i = 0; i < 4; i++)
		copy->address[i] = LOAD(entry->address[i]);
	copy->hash = LOAD(entry->hash);
	copy->expires_ns = LOAD(entry->expires_ns);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return LOAD(entry->sequence) == copy->sequence;
}

/* Writes over what `seen` was read as; false when somebody else was first. */
static bool entry_write(struct gw_fragment_entry *entry, const struct gw_fragment_entry *seen,
	const struct gw_fragment_entry *value)
{
	uint32_t sequence = seen->sequence;

	if (!__atomic_compare_exchange_n(&entry->sequence, &sequence, sequence + 1, false,
		    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	STORE(entry->id, value->id);
	STORE(entry->backend_protocol, value->backend_protocol);
	STORE(entry->service, value->service);
	for (int i = 0; i < 4; i++)
		STORE(entry->address[i], value->address[i]);
	STORE(entry->hash, value->hash);
	STORE(entry->expires_ns, value->expires_ns);
	__atomic_store_n(&entry->sequence, sequence + 2, __ATOMIC_RELEASE);
	return true;
}

static void entry_make(struct gw_fragment_entry *entry, const struct gw_fragment_key *key,
	const struct gw_fragment_decision *decision)
{
	*entry = (struct gw_fragment_entry){
		.id = key->id,
		.backend_protocol = (decision->backend & BACKEND_MASK) | (uint32_t)key->protocol
										 << 24,
		.service = decision->service,
		.hash = decision->hash,
		.expires_ns = decision->expires_ns,
	};
	memcpy(entry->address, &key->source, 2 * sizeof(key->source));
}

static bool entry_is_of(const struct gw_fragment_entry *entry, const struct gw_fragment_key *key)
{
	return entry->expires_ns && entry->id == key->id &&
	       entry->backend_protocol >> 24 == key->protocol &&
	       memcmp(entry->address, &key->source, 2 * sizeof(key->source)) == 0;
}

/*
 * The way that a key's decision goes to: the key's own, else the one that expires first. Returns
 * WAYS when all are being written.
 */
static int find_way(const struct gw_fragment_entry *set, const struct gw_fragment_key *key,
	struct gw_fragment_entry *seen)
{
	int way = WAYS;

	for (int i = 0; i < WAYS; i++) {
		struct gw_fragment_entry entry;

		if (!entry_read(&set[i], &entry))
			continue;
		if (entry_is_of(&entry, key)) {
			*seen = entry;
			return i;
		}
		if (way == WAYS || entry.expires_ns < seen->expires_ns) {
			*seen = entry;
			way = i;
		}
	}
	return way;
}

void gw_fragment_remember(struct gw_fragment_table *table, const struct gw_fragment_key *key,
	const struct gw_fragment_decision *decision)
{
	struct gw_fragment_entry *set = set_of(table, key);
	struct gw_fragment_entry seen, value;

	entry_make(&value, key, decision);
	for (int attempt = 0; attempt < WAYS; attempt++) {
		int way = find_way(set, key, &seen);

		if (way < WAYS && entry_write(&set[way], &seen, &value))
			break;
	}
	__atomic_fetch_add(&table->changes, 1, __ATOMIC_RELEASE);
}

void gw_fragment_forget(struct gw_fragment_table *table, const struct gw_fragment_key *key)
{
	struct gw_fragment_entry *set = set_of(table, key);

	for (int i = 0; i < WAYS; i++) {
		struct gw_fragment_entry seen, gone;

		if (!entry_read(&set[i], &seen) || !entry_is_of(&seen, key))
			continue;
		gone = seen;
		gone.expires_ns = 0;
		entry_write(&set[i], &seen, &gone);
	}
}

bool gw_fragment_find(const struct gw_fragment_table *table, const struct gw_fragment_key *key,
	uint64_t now_ns, struct gw_fragment_decision *decision)
{
	const struct gw_fragment_entry *set = set_of(table, key);
	uint64_t latest = 0;

	/* Two workers may have put one key into two ways: the later decision counts. */
	for (int i = 0; i < WAYS; i++) {
		struct gw_fragment_entry entry;

		if (!entry_read(&set[i], &entry) || !entry_is_of(&entry, key) ||
			gw_fragment_is_over(entry.expires_ns, now_ns) || entry.expires_ns < latest)
			continue;
		latest = entry.expires_ns;
		*decision = (struct gw_fragment_decision){.hash = entry.hash,
			.expires_ns = entry.expires_ns,
			.service = entry.service,
			.backend = entry.backend_protocol & BACKEND_MASK};
	}
	return latest != 0;
}
