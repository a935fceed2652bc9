/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The Maglev table of Envoy, slot for slot (Eisenbud et al., "Maglev: A Fast and Reliable Software
 * Network Load Balancer", NSDI 2016, section 3.4, with Envoy's weights).
 *
 * Each member owns a permutation of the slots: offset, offset + skip, offset + 2 skip ... modulo
 * the size, which is prime. In turn, members take the first slot of their permutation that is still
 * free. Weights decide who has a turn: in iteration i, from 1, a member whose i * w is below its
 * target sits out; otherwise its target grows by the largest w, w being weight / sum as doubles.
 *
 * Four things make it fast, and none changes a slot:
 *
 * - Free slots are bits of a map that stays in the first cache levels, and the members that have a
 *   turn in an iteration look for their slots together: one step each, those that met a taken slot
 *   one step more, and so on, without a branch a processor could guess wrong. Then they take what
 *   they found in their order; whoever finds it gone, because an earlier one of this iteration took
 *   it, walks on from there, as he would have done anyway.
 * - Where members are few, each looks many steps of its own permutation ahead instead and keeps the
 *   free slots it found; seldom is one of them gone when its turn comes.
 * - When few slots are left, walking a permutation until it meets one of them is long; instead the
 *   distance to each free slot is computed, (slot - at) / skip modulo the size, and the nearest
 *   wins.
 * - Turns. Where all weights are equal everybody has a turn in each iteration. Members of the
 *   largest weight always have one; of the others each knows the next iteration in which i * w
 *   reaches its target, in a heap, so nobody is asked in iterations it sits out.
 *
 * That equal and largest weights never sit out holds in floating point too: the target after i - 1
 * turns is at most (i-1) w (1 + i * 2^-53), below i * w while i * i < 2^53, and i is at most the
 * size. This file must be compiled without contraction into fused multiply-add.
 */
#include "chash/maglev_fill.h"

#include "chash/maglev_search.h"
#include "chash/prime.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct fill {
	const struct maglev_slots *slots;
	uint32_t *taken;  /* a bit for each slot */
	uint32_t *vacant; /* the free slots, once few are left; NULL before */
	uint32_t *who;	  /* whose turn it is in this iteration, in order */
	struct maglev_search search;
	struct maglev_ahead *ahead; /* of each turn, while members are few; NULL otherwise */
	uint32_t left;
	uint32_t tail; /* where few begins */
};

void maglev_turn_init(struct maglev_turn *turn, const char *key, size_t length, uint32_t size)
{
	turn->at = XXH64(key, length, 0) % size;
	turn->skip = XXH64(key, length, 1) % (size - 1) + 1;
}

static const struct maglev_search_code *search_code = &maglev_search_base;
static pthread_once_t search_once = PTHREAD_ONCE_INIT;

static void search_choose(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512dq"))
		search_code = &maglev_search_avx512;
#endif
}

/* Fewer than this do not look for slots together. */
#define ROUND_MIN 16

static int ahead_init(struct fill *fill, const struct maglev_turn *turns, uint32_t count)
{
	uint32_t size = fill->slots->size;

	fill->ahead = calloc(count, sizeof(*fill->ahead));
	if (!fill->ahead)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		struct maglev_ahead *ahead = &fill->ahead[i];

		ahead->at = turns[i].at;
		for (uint32_t k = 0; k < MAGLEV_AHEAD; k++)
			ahead->way[k] = (uint32_t)((uint64_t)k * turns[i].skip % size);
		ahead->step = (uint32_t)((uint64_t)MAGLEV_AHEAD * turns[i].skip % size);
	}
	return 0;
}

static int fill_init(struct fill *fill, const struct maglev_slots *slots, uint32_t count)
{
	memset(fill, 0, sizeof(*fill));
	fill->slots = slots;
	fill->left = slots->size;
	/* As many distances to compute as a walk has steps, and both cost about the same. */
	fill->tail = (uint32_t)sqrt(slots->size);
	fill->taken = calloc(slots->size / 32 + 1, sizeof(*fill->taken));
	/* Four columns; the search writes up to 16 past what it means to. */
	fill->who = calloc(4 * ((size_t)count + 16), sizeof(*fill->who));
	if (!fill->taken || !fill->who)
		return -ENOMEM;
	fill->search.at = fill->who + (count + 16);
	fill->search.skip = fill->search.at + (count + 16);
	fill->search.member = fill->search.skip + (count + 16);
	pthread_once(&search_once, search_choose);
	return 0;
}

static void fill_free(struct fill *fill)
{
	free(fill->taken);
	free(fill->vacant);
	free(fill->ahead);
	free(fill->who);
}

static inline bool fill_taken(const struct fill *fill, uint32_t slot)
{
	return fill->taken[slot / 32] >> (slot % 32) & 1;
}

static inline uint32_t step_on(uint32_t at, uint32_t step, uint32_t size)
{
	at += step;
	return at >= size ? at - size : at;
}

static inline void fill_take(struct fill *fill, struct maglev_turn *turn, uint32_t slot)
{
	fill->taken[slot / 32] |= 1u << (slot % 32);
	if (fill->slots->u16)
		fill->slots->u16[slot] = (uint16_t)turn->member;
	else
		fill->slots->u32[slot] = turn->member;
	fill->left--;
	turn->at = step_on(slot, turn->skip, fill->slots->size);
}

static inline void turn_walk(struct fill *fill, struct maglev_turn *turn)
{
	uint32_t at = turn->at;

	while (fill_taken(fill, at))
		at = step_on(at, turn->skip, fill->slots->size);
	fill_take(fill, turn, at);
}

/* The next of what was found ahead that is still free: the permutation's next free slot. */
static inline void turn_ahead(
	struct fill *fill, struct maglev_turn *turn, struct maglev_ahead *ahead)
{
	uint32_t slot;

	do {
		while (ahead->first == ahead->count)
			search_code->ahead(fill->taken, fill->slots->size, ahead);
		slot = ahead->found[ahead->first++];
	} while (fill_taken(fill, slot));
	fill_take(fill, turn, slot);
}

static int tail_begin(struct fill *fill)
{
	uint32_t found = 0, size = fill->slots->size;

	fill->vacant = malloc(fill->left * sizeof(*fill->vacant));
	if (!fill->vacant)
		return -ENOMEM;
	for (uint32_t word = 0; word <= size / 32; word++) {
		for (uint32_t bits = ~fill->taken[word]; bits; bits &= bits - 1) {
			uint32_t slot = word * 32 + (uint32_t)__builtin_ctz(bits);

			if (slot < size)
				fill->vacant[found++] = slot;
		}
	}
	return 0;
}

/* The free slot that comes first in the turn's permutation, by computing the way to each. */
static void tail_turn(struct fill *fill, struct maglev_turn *turn)
{
	uint32_t size = fill->slots->size;
	uint32_t best = search_code->nearest(
		fill->vacant, fill->left, turn->at, prime_inverse(turn->skip, size), size);
	uint32_t slot = fill->vacant[best];

	fill->vacant[best] = fill->vacant[fill->left - 1];
	fill_take(fill, turn, slot);
}

/* One turn. Returns 1 when the table is full, 0 when not, or -ENOMEM. */
static inline int fill_turn(struct fill *fill, struct maglev_turn *turn, struct maglev_ahead *ahead)
{
	if (fill->left > fill->tail) {
		if (ahead)
			turn_ahead(fill, turn, ahead);
		else
			turn_walk(fill, turn);
		return fill->left == 0;
	}
	if (!fill->vacant && tail_begin(fill) < 0)
		return -ENOMEM;
	tail_turn(fill, turn);
	return fill->left == 0;
}

/* Each of who[count] takes the slot it found or, if that is gone, the next of its permutation. */
static void round_take(
	struct fill *fill, struct maglev_turn *turns, const uint32_t *who, uint32_t count)
{
	uint32_t *taken = fill->taken, *u32 = fill->slots->u32, size = fill->slots->size;
	uint16_t *u16 = fill->slots->u16;

	for (uint32_t i = 0; i < count; i++) {
		struct maglev_turn *turn = &turns[who[i]];
		uint32_t at = turn->at, bit;

		for (; taken[at / 32] & (bit = 1u << (at % 32)); at = step_on(at, turn->skip, size))
			;
		taken[at / 32] |= bit;
		if (u16)
			u16[at] = (uint16_t)turn->member;
		else
			u32[at] = turn->member;
		turn->at = step_on(at, turn->skip, size);
	}
	fill->left -= count;
}

/*
 * How many look for slots together: at most a quarter of the slots left, so that seldom two find
 * the same.
 */
static uint32_t round_size(const struct fill *fill, uint32_t count)
{
	uint32_t limit = fill->left > fill->tail ? (fill->left - fill->tail) / 4 : 0;

	return count < limit ? count : limit;
}

/* One turn for each of who[count], in order. Returns 1 when the table is full, 0, or -ENOMEM. */
static int round_run(struct fill *fill, struct maglev_turn *turns, uint32_t count)
{
	int status = 0;

	for (uint32_t from = 0, size; from < count && !status; from += size) {
		const uint32_t *who = fill->who + from;

		size = round_size(fill, count - from);
		if (size >= ROUND_MIN) {
			search_code->search(
				&fill->search, fill->taken, fill->slots->size, turns, who, size);
			round_take(fill, turns, who, size);
			continue;
		}
		size = 1;
		status = fill_turn(fill, &turns[*who], fill->ahead ? &fill->ahead[*who] : NULL);
	}
	return status;
}

static int fill_equal(struct fill *fill, struct maglev_turn *turns, uint32_t count)
{
	int status = 0;

	for (uint32_t i = 0; i < count; i++)
		fill->who[i] = i;
	while (!status)
		status = round_run(fill, turns, count);
	return status < 0 ? status : 0;
}

/* ---- weights ----------------------------------------------------------------------------- */

/* What a member's weight makes of it, beside its turn. */
struct share {
	double weight; /* normalised */
	double target;
};

static double shares_init(
	struct share *shares, const struct maglev_turn *turns, uint32_t count, bool *equal)
{
	uint32_t most = 0, least = UINT32_MAX;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++) {
		sum += turns[i].weight;
		most = turns[i].weight > most ? turns[i].weight : most;
		least = turns[i].weight < least ? turns[i].weight : least;
	}
	for (uint32_t i = 0; i < count; i++)
		shares[i] = (struct share){turns[i].weight / (double)sum, 0};
	*equal = most == least;
	return most / (double)sum;
}

/* Every member is asked in every iteration: best when few of the answers are no. */
static int fill_asking(struct fill *fill, struct maglev_turn *turns, struct share *shares,
	uint32_t count, double most)
{
	int status = 0;

	for (uint32_t iteration = 1; !status; iteration++) {
		uint32_t with_turn = 0;

		for (uint32_t i = 0; i < count; i++) {
			bool turn = iteration * shares[i].weight >= shares[i].target;

			shares[i].target += turn ? most : 0;
			fill->who[with_turn] = i;
			with_turn += turn;
		}
		status = round_run(fill, turns, with_turn);
	}
	return status < 0 ? status : 0;
}

/* A heap of (iteration << 32 | position): who has a turn, and when, earliest first. */
struct agenda {
	uint64_t *due;
	uint32_t count;
};

static void agenda_put(struct agenda *agenda, uint64_t due)
{
	uint32_t at = agenda->count++;

	for (; at && agenda->due[(at - 1) / 2] > due; at = (at - 1) / 2)
		agenda->due[at] = agenda->due[(at - 1) / 2];
	agenda->due[at] = due;
}

static uint64_t agenda_take(struct agenda *agenda)
{
	uint64_t first = agenda->due[0];
	uint64_t last = agenda->due[--agenda->count];
	uint32_t at = 0;

	for (uint32_t child = 1; child < agenda->count; child = 2 * at + 1) {
		if (child + 1 < agenda->count && agenda->due[child + 1] < agenda->due[child])
			child++;
		if (last <= agenda->due[child])
			break;
		agenda->due[at] = agenda->due[child];
		at = child;
	}
	agenda->due[at] = last;
	return first;
}

/* The first iteration after `now` in which the plain loop would let this member have a turn. */
static void agenda_plan(struct agenda *agenda, const struct share *share, uint32_t position,
	uint64_t now, uint32_t limit)
{
	double estimate = share->target / share->weight;
	uint64_t when;

	if (estimate > limit + 2.0)
		return;
	when = (uint64_t)estimate;
	if (when <= now)
		when = now + 1;
	while (when > now + 1 && (double)(when - 1) * share->weight >= share->target)
		when--;
	while ((double)when * share->weight < share->target)
		when++;
	if (when <= limit)
		agenda_put(agenda, when << 32 | position);
}

/* Members of the largest weight, then a number past the end of the positions. */
static uint32_t *leaders_list(const struct share *shares, uint32_t count, double most)
{
	uint32_t *leaders = malloc((count + 1) * sizeof(*leaders)), found = 0;

	for (uint32_t i = 0; leaders && i < count; i++)
		if (shares[i].weight == most)
			leaders[found++] = i;
	if (leaders)
		leaders[found] = UINT32_MAX;
	return leaders;
}

static int fill_planned(struct fill *fill, struct maglev_turn *turns, struct share *shares,
	uint32_t count, double most)
{
	struct agenda agenda = {malloc(count * sizeof(*agenda.due)), 0};
	uint32_t *leaders = leaders_list(shares, count, most);
	int status = agenda.due && leaders ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < count && !status; i++)
		if (shares[i].weight < most)
			agenda_put(&agenda, 1ull << 32 | i);
	for (uint64_t iteration = 1; !status; iteration++) {
		const uint32_t *leader = leaders;
		uint32_t with_turn = 0;

		for (;;) {
			bool due = agenda.count && agenda.due[0] >> 32 == iteration;
			uint32_t position = due ? (uint32_t)agenda.due[0] : UINT32_MAX;

			if (position == UINT32_MAX && *leader == UINT32_MAX)
				break;
			if (*leader < position) {
				fill->who[with_turn++] = *leader++;
				continue;
			}
			agenda_take(&agenda);
			shares[position].target += most;
			agenda_plan(
				&agenda, &shares[position], position, iteration, fill->slots->size);
			fill->who[with_turn++] = position;
		}
		status = round_run(fill, turns, with_turn);
	}
	free(leaders);
	free(agenda.due);
	return status < 0 ? status : 0;
}

/* ---- the two ways in --------------------------------------------------------------------- */

int maglev_fill(struct maglev_turn *turns, uint32_t count, const struct maglev_slots *slots)
{
	struct share *shares = malloc(count * sizeof(*shares));
	struct fill fill;
	bool equal;
	int status;

	if (!shares)
		return -ENOMEM;
	status = fill_init(&fill, slots, count);
	double most = shares_init(shares, turns, count, &equal);

	if (!status && count < ROUND_MIN)
		status = ahead_init(&fill, turns, count);
	/* count * most questions are asked for each yes. */
	if (!status && equal)
		status = fill_equal(&fill, turns, count);
	else if (!status && count * most < 16)
		status = fill_asking(&fill, turns, shares, count, most);
	else if (!status)
		status = fill_planned(&fill, turns, shares, count, most);
	fill_free(&fill);
	free(shares);
	return status;
}

/* As the paper and Envoy write it: one member after the other, one slot after the other. */
static void fill_plainly(struct fill *fill, struct maglev_turn *turns, struct share *shares,
	uint32_t count, double most)
{
	for (uint32_t iteration = 1;; iteration++) {
		for (uint32_t i = 0; i < count; i++) {
			if (iteration * shares[i].weight < shares[i].target)
				continue;
			shares[i].target += most;
			turn_walk(fill, &turns[i]);
			if (!fill->left)
				return;
		}
	}
}

int maglev_fill_plainly(struct maglev_turn *turns, uint32_t count, const struct maglev_slots *slots)
{
	struct share *shares = malloc(count * sizeof(*shares));
	struct fill fill;
	bool equal;
	int status;

	if (!shares)
		return -ENOMEM;
	status = fill_init(&fill, slots, count);
	if (!status)
		fill_plainly(
			&fill, turns, shares, count, shares_init(shares, turns, count, &equal));
	fill_free(&fill);
	free(shares);
	return status;
}
