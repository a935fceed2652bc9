/* SPDX-License-Identifier: BSD-2-Clause */
#include "fragment.h"

#include "engine.h"

#include <rte_cycles.h>

#include <string.h>

/* Decisions made by other workers are looked for so often, and not with each of their bursts. */
#define LOOKS_PER_SECOND 4000

static struct gw_fragment_key key_of(const struct gw_packet *packet)
{
	struct gw_fragment_key key;

	gw_fragment_key_make(&key, packet, &packet->key.source, &packet->key.destination);
	return key;
}

static uint32_t tag_of(const struct gw_worker *worker, const struct gw_fragment_key *key)
{
	return (uint32_t)(gw_fragment_hash(&worker->engine->fragments, key) >> 32);
}

static bool holds_tag(const struct gw_hold *hold, uint32_t tag)
{
	for (uint16_t i = 0; i < hold->count; i++)
		if (hold->tag[i] == tag)
			return true;
	return false;
}

void gw_fragment_first(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	struct gw_fragment_table *table = &worker->engine->fragments;
	const struct gw_fragment_key key = key_of(&burst->packet[i]);
	const struct gw_result *result = &burst->result[i];
	struct gw_hold *hold = worker->hold;
	struct gw_fragment_decision decision = {
		.expires_ns = worker->now_ns + worker->view->fragment_ns,
		.service = result->service,
		.backend = result->backend,
	};

	if (result->verdict == GW_VERDICT_DROP) {
		gw_fragment_forget(table, &key);
		return;
	}
	if (result->verdict == GW_VERDICT_HOST)
		decision.service = GW_NONE;
	else
		decision.hash = gw_burst_hash(worker, burst, i);
	gw_fragment_remember(table, &key, &decision);
	if (hold->count && holds_tag(hold, tag_of(worker, &key)))
		hold->ready = true;
}

/* What the first one decided, into the result. False: not known, or it cannot be followed. */
static bool follow(
	struct gw_worker *worker, const struct gw_fragment_key *key, struct gw_result *result)
{
	const struct gw_view *view = worker->view;
	struct gw_fragment_decision decision;

	if (!gw_fragment_find(&worker->engine->fragments, key, worker->now_ns, &decision))
		return false;
	if (decision.service == GW_NONE) {
		result->verdict = GW_VERDICT_HOST;
		return true;
	}
	/* The snapshot may have changed since. */
	if (decision.service >= view->service_count || decision.backend >= view->backend_count ||
		!gw_fragment_follows(
			&view->backend[decision.backend], view->service[decision.service].pool))
		return false;
	result->verdict = GW_VERDICT_TX;
	result->service = decision.service;
	result->backend = decision.backend;
	gw_result_hash(result, decision.hash);
	return true;
}

/* Keeps the packet, behind those of its datagram that are held already. */
static void hold_one(struct gw_worker *worker, struct gw_burst *burst, uint8_t i, uint32_t tag)
{
	struct gw_hold *hold = worker->hold;

	if (hold->count >= hold->room) {
		gw_result_drop(&burst->result[i], GW_DROP_FRAG_FULL);
		return;
	}
	hold->tag[hold->count] = tag;
	hold->held[hold->count++] = (struct gw_held){
		.mbuf = burst->mbuf[i],
		.expires_ns = worker->now_ns + worker->view->fragment_ns,
		.port = burst->port,
		.packet = burst->packet[i],
	};
	burst->result[i].verdict = GW_VERDICT_HELD;
}

bool gw_fragment_later(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	const struct gw_fragment_key key = key_of(&burst->packet[i]);
	struct gw_result *result = &burst->result[i];
	struct gw_hold *hold = worker->hold;
	uint32_t tag = tag_of(worker, &key);
	bool known = follow(worker, &key, result);

	/* Not past its brothers, while there is room behind them. */
	if (known && unlikely(hold->count) && hold->count < hold->room && holds_tag(hold, tag)) {
		hold->ready = true;
		hold_one(worker, burst, i, tag);
		return false;
	}
	if (known)
		return result->verdict == GW_VERDICT_TX;
	hold_one(worker, burst, i, tag);
	return false;
}

/* Is it time to look through what is held? */
static bool is_due(struct gw_worker *worker)
{
	struct gw_hold *hold = worker->hold;
	uint64_t changes, tsc;

	/* In the order of their coming, so the first one ends first. */
	if (hold->ready || gw_fragment_is_over(hold->held[0].expires_ns, worker->now_ns))
		return true;
	changes = __atomic_load_n(&worker->engine->fragments.changes, __ATOMIC_ACQUIRE);
	if (changes == hold->seen)
		return false;
	tsc = rte_rdtsc();
	if (tsc < hold->next_look)
		return false;
	if (!hold->look_every)
		hold->look_every = rte_get_tsc_hz() / LOOKS_PER_SECOND;
	hold->next_look = tsc + hold->look_every;
	return true;
}

/* Decides what is held in place i; false: it stays. */
static bool judge(struct gw_worker *worker, uint16_t i, struct gw_result *result)
{
	const struct gw_held *held = &worker->hold->held[i];
	const struct gw_fragment_key key = key_of(&held->packet);

	*result = (struct gw_result){.service = GW_NONE, .backend = GW_NONE, .slot = GW_NONE};
	if (gw_fragment_is_over(held->expires_ns, worker->now_ns)) {
		gw_result_drop(result, GW_DROP_FRAG_EXPIRED);
		return true;
	}
	return follow(worker, &key, result);
}

static void add(struct gw_burst *burst, const struct gw_held *held, const struct gw_result *result)
{
	uint8_t i = (uint8_t)burst->count++;

	burst->port = held->port;
	burst->mbuf[i] = held->mbuf;
	burst->packet[i] = held->packet;
	burst->result[i] = *result;
	if (result->verdict == GW_VERDICT_TX)
		burst->live[burst->live_count++] = i;
}

/* The burst of those that go, to its end. */
static void let_go(struct gw_worker *worker)
{
	struct gw_hold *hold = worker->hold;
	struct gw_burst *burst = &hold->burst;
	uint64_t *counter = &worker->stats.counters.held;

	if (!burst->count)
		return;
	gw_stage_encap(worker, burst);
	gw_count(counter, -(uint64_t)burst->count);
	gw_burst_finish(worker, burst);
	if (hold->released)
		hold->released(hold->owner, burst);
	burst->count = burst->live_count = 0;
}

uint32_t gw_fragment_poll(struct gw_worker *worker)
{
	struct gw_hold *hold = worker->hold;
	struct gw_burst *burst = &hold->burst;
	uint16_t count = hold->count, kept = 0;

	if (!is_due(worker))
		return 0;
	gw_pipeline_enter(worker);
	hold->ready = false;
	hold->seen = __atomic_load_n(&worker->engine->fragments.changes, __ATOMIC_ACQUIRE);
	for (uint16_t i = 0; i < count; i++) {
		struct gw_result result;

		if (!judge(worker, i, &result)) {
			hold->tag[kept] = hold->tag[i];
			hold->held[kept++] = hold->held[i];
			continue;
		}
		if (burst->count == GW_BURST_MAX ||
			(burst->count && burst->port != hold->held[i].port))
			let_go(worker);
		add(burst, &hold->held[i], &result);
	}
	let_go(worker);
	hold->count = kept;
	return (uint32_t)(count - kept);
}

void gw_fragment_free(struct gw_hold *hold)
{
	for (uint16_t i = 0; i < hold->count; i++)
		rte_pktmbuf_free(hold->held[i].mbuf);
	hold->count = 0;
}
