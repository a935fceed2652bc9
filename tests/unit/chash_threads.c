/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lookups on snapshots while another thread changes members. Built with ThreadSanitizer where the
 * compiler has it. What each version must answer is worked out beforehand by one thread alone;
 * readers then hold every answer against the version of the view they took.
 */
#include "chash/chash.h"
#include "tests/unit/chash_sets.h"
#include "tests/unit/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { VERSIONS = 60, KEYS = 64, READERS = 3, HELD = 4 };

/* The answers of each version: a number for each key's owner, from its id. */
struct script {
	enum gw_chash_algorithm algorithm;
	uint32_t owners[VERSIONS + 1][KEYS];
	uint32_t counts[VERSIONS + 1];
	uint8_t digests[VERSIONS + 1][16];
};

static uint32_t number_of(const char *id)
{
	return (uint32_t)strtoul(id + 5, NULL, 10);
}

/* Two steps forward, one back; now and then a weight changes. Always legal for Jump, too. */
static int script_step(struct gw_chash *set, uint32_t step)
{
	uint32_t top = step / 3 + step % 3;
	char id[32];

	if (step % 3 == 2) {
		snprintf(id, sizeof(id), "node-%u", top - 1);
		return gw_chash_remove_node(set, id);
	}
	snprintf(id, sizeof(id), "node-%u", top);
	return gw_chash_add_node(set, id, 1 + step % 4, step % 2 ? "east" : "west");
}

static void script_write(struct script *script)
{
	struct gw_chash *set = sets_new(script->algorithm);

	for (uint32_t step = 0; step < VERSIONS; step++) {
		struct gw_chash_view *view;
		uint64_t version;

		CU_ASSERT_EQUAL_FATAL(script_step(set, step), 0);
		view = gw_chash_snapshot(set);
		version = gw_chash_view_version(view);
		CU_ASSERT_EQUAL_FATAL(version, step + 1);
		script->counts[version] = gw_chash_view_count(view);
		gw_chash_view_digest(view, script->digests[version]);
		for (uint32_t i = 0; i < KEYS; i++)
			script->owners[version][i] =
				number_of(sets_id(view, sets_owner(view, sets_key(i))));
		gw_chash_view_unref(view);
	}
	gw_chash_destroy(set);
}

struct shared {
	struct gw_chash *set;
	const struct script *script;
	atomic_bool done;
	atomic_uint wrong;
	atomic_uint looked;
	atomic_uint versions_seen;
};

static unsigned int view_wrong(const struct script *script, const struct gw_chash_view *view)
{
	uint64_t version = gw_chash_view_version(view);
	uint32_t members[KEYS];
	uint64_t keys[KEYS];
	uint8_t digest[16];
	unsigned int wrong = 0;

	if (version > VERSIONS || gw_chash_view_count(view) != script->counts[version])
		return 1;
	if (!version)
		return gw_chash_get_node_u64(view, 1, members) != GW_CHASH_ERR_EMPTY;
	for (uint32_t i = 0; i < KEYS; i++)
		keys[i] = sets_key(i);
	if (gw_chash_get_node_bulk(view, keys, KEYS, members))
		return 1;
	for (uint32_t i = 0; i < KEYS; i++) {
		uint32_t member = GW_CHASH_NONE;

		wrong += gw_chash_get_node_u64(view, keys[i], &member) != 0;
		wrong += member != members[i];
		wrong += member >= script->counts[version] ||
			 number_of(sets_id(view, member)) != script->owners[version][i];
	}
	gw_chash_view_digest(view, digest);
	return wrong + (memcmp(digest, script->digests[version], 16) != 0);
}

static void *reader_run(void *argument)
{
	struct shared *shared = argument;
	struct gw_chash_view *held[HELD] = {NULL};
	uint64_t last = 0;

	for (unsigned int round = 0; !atomic_load(&shared->done) || round < 2; round++) {
		struct gw_chash_view *view = gw_chash_snapshot(shared->set);
		struct gw_chash_view **old = &held[round % HELD];

		if (gw_chash_view_version(view) < last)
			atomic_fetch_add(&shared->wrong, 1);
		if (gw_chash_view_version(view) > last)
			atomic_fetch_add(&shared->versions_seen, 1);
		last = gw_chash_view_version(view);
		atomic_fetch_add(&shared->wrong, view_wrong(shared->script, view));
		/* One that was taken a while ago still answers as it did. */
		if (*old)
			atomic_fetch_add(&shared->wrong, view_wrong(shared->script, *old));
		gw_chash_view_unref(*old);
		*old = gw_chash_view_ref(view);
		gw_chash_view_unref(view);
		atomic_fetch_add(&shared->looked, 1);
	}
	for (int i = 0; i < HELD; i++)
		gw_chash_view_unref(held[i]);
	return NULL;
}

static void script_play(const struct script *script)
{
	struct shared shared = {.set = sets_new(script->algorithm), .script = script};
	pthread_t readers[READERS];

	for (int i = 0; i < READERS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&readers[i], NULL, reader_run, &shared), 0);
	for (uint32_t step = 0; step < VERSIONS; step++) {
		unsigned int looked = atomic_load(&shared.looked);

		CU_ASSERT_EQUAL(script_step(shared.set, step), 0);
		/* Let somebody see it, without waiting for everybody. */
		while (step % 4 == 0 && atomic_load(&shared.looked) == looked)
			sched_yield();
	}
	atomic_store(&shared.done, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	CU_ASSERT_EQUAL(atomic_load(&shared.wrong), 0);
	CU_ASSERT(atomic_load(&shared.versions_seen) >= 5);
	gw_chash_destroy(shared.set);
}

static void readers_see_whole_versions_while_members_change(void)
{
	struct script *script = calloc(1, sizeof(*script));

	for (int a = 0; a < GW_CHASH_ALGORITHMS; a++) {
		script->algorithm = a;
		script_write(script);
		script_play(script);
	}
	free(script);
}

/* ---- references -------------------------------------------------------------------------- */

static void *taker_run(void *argument)
{
	struct gw_chash *set = argument;

	for (int i = 0; i < 400000; i++)
		gw_chash_view_unref(gw_chash_snapshot(set));
	return NULL;
}

/* More references than the handle's word can count, from several threads, and changes between. */
static void references_outnumber_the_words_counter(void)
{
	enum { TAKEN = 1100000 };
	struct gw_chash *set = sets_new(GW_CHASH_RENDEZVOUS);
	struct gw_chash_view *first, *view = NULL;
	pthread_t takers[READERS];

	sets_add(set, 0, 1);
	first = gw_chash_snapshot(set);
	for (int i = 0; i < READERS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&takers[i], NULL, taker_run, set), 0);
	for (int i = 0; i < TAKEN; i++)
		view = gw_chash_snapshot(set);
	CU_ASSERT_PTR_EQUAL(view, first);
	sets_add(set, 1, 1);
	/* All references but the first are given back; the view is still there. */
	for (int i = 0; i < TAKEN; i++)
		gw_chash_view_unref(view);
	CU_ASSERT_EQUAL(gw_chash_view_version(first), 1);
	CU_ASSERT_EQUAL(gw_chash_view_count(first), 1);
	for (int i = 0; i < READERS; i++)
		pthread_join(takers[i], NULL);
	gw_chash_view_unref(first);
	gw_chash_destroy(set);
}

static void view_outlives_its_handle(void)
{
	struct gw_chash *set = sets_new(GW_CHASH_RING);
	struct gw_chash_view *view;

	sets_add(set, 3, 1);
	view = gw_chash_snapshot(set);
	gw_chash_destroy(set);
	CU_ASSERT_EQUAL(sets_owner(view, 5), 0);
	gw_chash_view_unref(view);
	gw_chash_destroy(NULL);
	gw_chash_view_unref(NULL);
}

/* ---- writers ----------------------------------------------------------------------------- */

struct writer {
	struct gw_chash *set;
	uint32_t first;
};

static void *writer_run(void *argument)
{
	struct writer *writer = argument;

	for (uint32_t i = 0; i < 50; i++) {
		char id[32];

		sets_name(id, writer->first + i);
		gw_chash_add_node(writer->set, id, 1, NULL);
	}
	return NULL;
}

static void changes_by_several_threads_all_arrive(void)
{
	struct gw_chash *set = sets_new(GW_CHASH_MAGLEV);
	struct writer writers[READERS];
	pthread_t threads[READERS];
	struct gw_chash_view *view;

	for (uint32_t i = 0; i < READERS; i++) {
		writers[i] = (struct writer){set, i * 1000};
		CU_ASSERT_EQUAL_FATAL(
			pthread_create(&threads[i], NULL, writer_run, &writers[i]), 0);
	}
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	view = gw_chash_snapshot(set);
	CU_ASSERT_EQUAL(gw_chash_view_version(view), READERS * 50);
	CU_ASSERT_EQUAL(gw_chash_view_count(view), READERS * 50);
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

static const struct gw_test tests[] = {
	GW_TEST(readers_see_whole_versions_while_members_change),
	GW_TEST(references_outnumber_the_words_counter),
	GW_TEST(view_outlives_its_handle),
	GW_TEST(changes_by_several_threads_all_arrive),
};

GW_SUITE("chash_threads", tests)
