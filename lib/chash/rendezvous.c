/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rendezvous hashing, or highest random weight (Thaler and Ravishankar, 1998): each member draws a
 * number from the key and its own id, and the best draw wins, so a change of members moves nothing
 * that it need not. Weights by the logarithmic method: the draw is an exponential time, -ln(u) / w,
 * and the earliest wins, which gives each member exactly w / sum of the keys. With equal weights
 * the earliest is simply who has the largest hash, and no logarithm is taken.
 *
 * No state but a hash of each id; a lookup looks at every member, several at once where the machine
 * has vectors (rendezvous_kernel.c).
 */
#include "chash/hash.h"
#include "chash/rendezvous_kernel.h"
#include "chash/view.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct rendezvous {
	bool equal;	/* all weights above 0 are the same */
	uint32_t count; /* members of weight */
	uint64_t *seeds;
	double *periods; /* 1 / weight */
	uint32_t *members;
};

static const struct rendezvous_kernel *kernel = &rendezvous_kernel_base;
static pthread_once_t kernel_once = PTHREAD_ONCE_INIT;

static void kernel_choose(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
		kernel = &rendezvous_kernel_avx512;
	else if (__builtin_cpu_supports("avx2"))
		kernel = &rendezvous_kernel_avx2;
#endif
}

static int rendezvous_build(struct gw_chash_view *view, struct chash_past *past)
{
	struct rendezvous *state = calloc(1, sizeof(*state));
	uint32_t weight = 0;

	pthread_once(&kernel_once, kernel_choose);
	if (!state)
		return GW_CHASH_ERR_MEMORY;
	view->state = state;
	state->seeds = malloc((view->live + 1) * sizeof(*state->seeds));
	state->periods = malloc((view->live + 1) * sizeof(*state->periods));
	state->members = malloc((view->live + 1) * sizeof(*state->members));
	if (!state->seeds || !state->periods || !state->members)
		return GW_CHASH_ERR_MEMORY;
	state->equal = true;
	for (uint32_t i = 0; i < view->count; i++) {
		const struct gw_chash_member *member = &view->members[i];

		if (!member->weight)
			continue;
		state->seeds[state->count] =
			hash_xxh64(member->id, strlen(member->id), view->options.seed);
		state->periods[state->count] = 1.0 / member->weight;
		state->members[state->count++] = i;
		state->equal = state->equal && (!weight || member->weight == weight);
		weight = member->weight;
	}
	return 0;
}

static void rendezvous_free(struct gw_chash_view *view)
{
	struct rendezvous *state = view->state;

	if (!state)
		return;
	free(state->seeds);
	free(state->periods);
	free(state->members);
	free(state);
}

static uint32_t rendezvous_find(const struct gw_chash_view *view, uint64_t first, uint64_t second)
{
	const struct rendezvous *state = view->state;

	if (state->equal)
		return state->members[kernel->largest(state->seeds, state->count, first)];
	return state->members[kernel->smallest(state->seeds, state->periods, state->count, first)];
}

/* ---- everybody in order of preference: a heap, emptied only as far as somebody asks ------- */

struct bid {
	double score;
	uint64_t hash; /* decides between equal scores the way `largest` would */
	uint32_t at;
};

static bool bid_before(const struct bid *a, const struct bid *b)
{
	if (a->score < b->score || a->score > b->score)
		return a->score < b->score;
	return a->hash != b->hash ? a->hash > b->hash : a->at < b->at;
}

static void bids_sink(struct bid *bids, uint32_t count, uint32_t at)
{
	struct bid sunk = bids[at];

	for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && bid_before(&bids[child + 1], &bids[child]))
			child++;
		if (!bid_before(&bids[child], &sunk))
			break;
		bids[at] = bids[child];
		at = child;
	}
	bids[at] = sunk;
}

static void bids_make(const struct rendezvous *state, uint64_t key, struct bid *bids)
{
	for (uint32_t i = 0; i < state->count; i++) {
		bids[i].hash = hash_mix(key ^ state->seeds[i]);
		bids[i].at = i;
		bids[i].score = 0;
		if (!state->equal)
			kernel->scores(
				&state->seeds[i], &state->periods[i], 1, key, &bids[i].score);
	}
	for (uint32_t i = state->count / 2; i > 0; i--)
		bids_sink(bids, state->count, i - 1);
}

static int rendezvous_walk(const struct gw_chash_view *view, uint64_t first, uint64_t second,
	bool (*visit)(void *context, uint32_t member), void *context)
{
	const struct rendezvous *state = view->state;
	struct bid *bids = malloc(state->count * sizeof(*bids));

	if (!bids)
		return GW_CHASH_ERR_MEMORY;
	bids_make(state, first, bids);
	for (uint32_t left = state->count; left; left--) {
		if (!visit(context, state->members[bids[0].at]))
			break;
		bids[0] = bids[left - 1];
		bids_sink(bids, left - 1, 0);
	}
	free(bids);
	return 0;
}

static size_t rendezvous_memory(const struct gw_chash_view *view)
{
	return sizeof(struct rendezvous) +
	       view->live * (sizeof(uint64_t) + sizeof(double) + sizeof(uint32_t));
}

const struct chash_ops chash_rendezvous = {
	.traits = {.name = "rendezvous",
		.title = "rendezvous",
		.minimal = true,
		.exact_weights = true},
	.alias = "hrw",
	.hash = GW_CHASH_XXH3,
	.build = rendezvous_build,
	.free = rendezvous_free,
	.find = rendezvous_find,
	.walk = rendezvous_walk,
	.memory = rendezvous_memory,
};
