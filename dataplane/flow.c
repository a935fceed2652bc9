/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Third stage: a tracked flow stays where it is, as long as its backend may keep it
 * (gw_backend_keeps_flow). The rest is left in burst->miss for the next stage. So is, in
 * burst->untracked, whatever is of a service that tracks no flows.
 *
 * Nearly all packets are of flows in their first bucket that are ESTABLISHED and had a packet in
 * this second already, so that their word says all and stays as it is. Which ones are not is
 * chance, and noted without a branch; these stale ones are looked at again, one by one.
 */
#include "departure.h"
#include "engine.h"
#include "pipeline.h"

/* What the stage reads of a worker for each packet, once a burst. */
struct flow_scope {
	const struct gw_flow_bucket *bucket;
	const struct gw_backend *backend;
	const struct gw_departure *departure;
	uint32_t fresh; /* of a word that needs no more than a look: its state and its stamp */
	uint16_t count;
	const uint8_t *tracked; /* [count], places of the burst */
};

/* A word without its backend: what must be equal for a packet of a fresh flow. */
#define FRESH_MASK (~((uint64_t)GW_FLOW_BACKEND_MAX << GW_FLOW_BACKEND_SHIFT))

/* Where more than the first look is needed; places of the burst. */
struct flow_stale {
	uint16_t count;
	uint8_t place[GW_BURST_MAX];
};

/*
 * First look at each flow's first bucket, which the stage before has fetched: at the word with its
 * tag, or at just one. It fetches ahead how packets leave to the backend that the word names.
 */
static void look(const struct flow_scope *scope, struct gw_burst *burst, struct flow_stale *stale)
{
	const uint8_t *tracked = scope->tracked;
	uint16_t count = scope->count, left = 0;

	for (uint16_t k = 0; k < count; k++) {
		uint8_t i = tracked[k];
		struct gw_flow_place place = burst->place[i];
		const struct gw_flow_bucket *at = &scope->bucket[place.bucket];
		uint32_t tags = gw_flow_tags(at, place.tag);
		uint32_t n = (uint32_t)__builtin_ctz(tags | 1u << (GW_FLOW_BUCKET_WORDS - 1));
		uint64_t word = __atomic_load_n(&at->word[n], __ATOMIC_RELAXED);
		uint64_t fresh = (uint64_t)place.tag << 32 | scope->fresh;

		rte_prefetch0(&scope->departure[gw_flow_backend(word)]);
		burst->flow_slot[i] = place.bucket * GW_FLOW_BUCKET_WORDS + n;
		burst->flow_word[i] = word;
		stale->place[left] = i;
		left += (((word ^ fresh) & FRESH_MASK) | burst->result[i].event) != 0;
	}
	stale->count = left;
}

/* Takes what a look-up of a stale flow found. */
static void note(const struct gw_worker *worker, struct gw_burst *burst, uint8_t i, uint32_t slot,
	uint64_t word)
{
	if (slot != GW_FLOW_NOWHERE) {
		if (unlikely(gw_flow_expired(word, worker->now, &worker->view->timeouts)))
			slot = GW_FLOW_NOWHERE;
		burst->flow_word[i] = word;
	}
	burst->flow_slot[i] = slot;
}

/*
 * Stale flows: what was looked at may be it nevertheless. Else it may not be known, or stand in the
 * second bucket, where flows have overflowed from the first; those are fetched together.
 */
static void look_again(
	const struct gw_worker *worker, struct gw_burst *burst, const struct flow_stale *stale)
{
	const struct gw_flow_table *flows = &worker->engine->flows;
	uint8_t second[GW_BURST_MAX];
	uint16_t count = 0;

	for (uint16_t k = 0; k < stale->count; k++) {
		uint8_t i = stale->place[k];
		uint32_t slot = burst->flow_slot[i];
		uint64_t word = burst->flow_word[i];

		if (gw_flow_tag(word) != burst->place[i].tag || !gw_flow_state(word))
			slot = gw_flow_first(flows, burst->place[i], &word);
		if (unlikely(slot == GW_FLOW_SECOND))
			second[count++] = i;
		else
			note(worker, burst, i, slot, word);
	}
	for (uint16_t k = 0; k < count; k++) {
		uint64_t word = GW_FLOW_EMPTY;
		uint32_t slot = gw_flow_second(flows, burst->place[second[k]], &word);

		note(worker, burst, second[k], slot, word);
	}
}

/* Whose backend may keep them are settled, the others are misses. */
static void keep(struct gw_worker *worker, const struct flow_scope *scope, struct gw_burst *burst)
{
	const uint8_t *tracked = scope->tracked;
	uint16_t count = scope->count, misses = burst->miss_count;

	for (uint16_t k = 0; k < count; k++) {
		uint8_t i = tracked[k];
		struct gw_result *result = &burst->result[i];
		uint32_t id = gw_flow_backend(burst->flow_word[i]);
		const struct gw_departure *departure = gw_departure_of(worker, id);

		if (unlikely(burst->flow_slot[i] == GW_FLOW_NOWHERE) ||
			unlikely(!gw_departure_keeps(
				departure, burst->service_word[i], result->event == GW_FLOW_SYN))) {
			burst->miss[misses++] = i;
			continue;
		}
		result->backend = id;
		result->flow = GW_TRACE_HIT;
		if (departure->kind >= GW_DEPART_IPIP6)
			rte_prefetch0(&scope->backend[id]);
	}
	burst->miss_count = misses;
}

/* The words of stale flows that were settled go on: by state, or by the second. */
static void touch(
	struct gw_worker *worker, const struct gw_burst *burst, const struct flow_stale *stale)
{
	for (uint16_t k = 0; k < stale->count; k++) {
		uint8_t i = stale->place[k];

		if (burst->result[i].flow == GW_TRACE_HIT)
			gw_flow_touch(&worker->engine->flows, burst->flow_slot[i],
				burst->flow_word[i], burst->result[i].event, worker->now);
	}
}

/* Lists those of services that track flows; returns how many these are. */
static uint16_t list_tracked(const struct gw_burst *burst, uint8_t tracked[GW_BURST_MAX])
{
	uint16_t count = 0;

	for (uint16_t k = 0; k < burst->live_count; k++) {
		uint8_t i = burst->live[k];

		if (!(burst->untracked >> i & 1))
			tracked[count++] = i;
	}
	return count;
}

void gw_stage_flow(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_view *view = worker->view;
	struct flow_scope scope = {
		.tracked = burst->live,
		.count = burst->live_count,
		.bucket = worker->engine->flows.bucket,
		.backend = view->backend,
		.departure = worker->departure,
		.fresh = (uint32_t)gw_flow_word(0, 0, GW_FLOW_ESTABLISHED, worker->now),
	};
	struct flow_stale stale;
	uint8_t some[GW_BURST_MAX];

	burst->miss_count = 0;
	if (unlikely(burst->untracked)) {
		scope.count = list_tracked(burst, some);
		scope.tracked = some;
	}
	look(&scope, burst, &stale);
	look_again(worker, burst, &stale);
	keep(worker, &scope, burst);
	touch(worker, burst, &stale);
}
