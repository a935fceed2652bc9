/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First stage: takes the common frames (common.h) of flows to services that the worker has met
 * lately, in one pass over the burst, from the first byte to the flow's place in the table, whose
 * bucket is fetched ahead. All others are left in burst->live for the next two stages.
 *
 * With many services the worker's memory of them is not in the first caches: the pass fetches its
 * lines ahead too, and a second one reads them. What decides that is the same for a whole burst.
 */
#include "common.h"

#include "engine.h"
#include "pipeline.h"
#include "service_seen.h"

/* What the stage reads of a worker for each packet, once a burst. */
struct common_scope {
	struct gw_common_link link;
	struct gw_flow_secrets secrets;
	const struct gw_flow_bucket *bucket;
	const struct gw_service_seen *seen;
	const struct gw_key_seed *table_seed;
	uint32_t buckets;
	uint32_t seen_mask;
	uint32_t seen_epoch;
};

/* The services of a burst's common packets are found in a second pass; by these. */
struct common_later {
	const struct gw_service_seen *bucket[GW_BURST_MAX];
	uint64_t name[GW_BURST_MAX];
};

/* It is the table's: what chooses the slot is hashed while the key is in registers. */
static __rte_always_inline void take_untracked(const struct common_scope *scope,
	struct gw_burst *burst, uint16_t i, const uint64_t key[GW_KEY_WORDS], uint32_t word)
{
	burst->untracked |= 1ull << i;
	if (word & GW_SERVICE_WORD_5TUPLE)
		gw_result_hash(&burst->result[i], gw_key_hash(scope->table_seed, key));
}

/*
 * A common packet, whose record is filled: its service, unless that is found later, and its flow's
 * place. Where no service goes untracked nobody asks which one does.
 */
static __rte_always_inline bool take(const struct common_scope *scope, struct gw_burst *burst,
	uint16_t i, const uint64_t key[GW_KEY_WORDS], bool some_untracked,
	struct common_later *later)
{
	const struct gw_packet *packet = &burst->packet[i];
	uint64_t name = gw_service_name(&scope->secrets, packet->family, key);
	enum gw_flow_event event = GW_FLOW_PACKET;
	uint32_t word = 0;
	struct gw_flow_place place;

	if (later) {
		later->name[i] = name;
		later->bucket[i] = &scope->seen[gw_service_seen_place(name, 0, scope->seen_mask)];
		rte_prefetch0(later->bucket[i]);
	} else {
		word = gw_service_seen_find_first(
			scope->seen, scope->seen_mask, scope->seen_epoch, name);
		if (unlikely(word == GW_NONE))
			return false;
		burst->service_word[i] = word;
	}
	if (unlikely(packet->tcp_flags & (GW_TCP_FIN | GW_TCP_SYN | GW_TCP_RST)))
		event = gw_flow_event_of(packet->protocol, packet->tcp_flags);
	burst->result[i] = (struct gw_result){
		.verdict = GW_VERDICT_TX,
		.service = gw_service_of_word(word),
		.backend = GW_NONE,
		.slot = GW_NONE,
		.event = event,
	};
	if (!later && some_untracked && word & GW_SERVICE_WORD_UNTRACKED) {
		take_untracked(scope, burst, i, key, word);
		return true;
	}
	place = gw_flow_place_of_sum(
		gw_key_sum(&scope->secrets, packet->family, key), packet->protocol, scope->buckets);
	if (!later || !some_untracked)
		rte_prefetch0(&scope->bucket[place.bucket]);
	burst->place[i] = place;
	return true;
}

/* One road a family: what one of them knows of the key folds away. */
static __rte_always_inline bool read_one(const struct common_scope *scope, struct gw_burst *burst,
	uint16_t i, bool some_untracked, struct common_later *later)
{
	const struct rte_mbuf *mbuf = burst->mbuf[i];
	const uint8_t *frame = rte_pktmbuf_mtod(mbuf, const uint8_t *);
	uint32_t length = mbuf->data_len;
	uint64_t key[GW_KEY_WORDS];
	uint8_t family;

	if (unlikely(!gw_mbuf_is_plain(mbuf)))
		return false;
	family = gw_common_kind(&scope->link, frame, length);
	if (family == GW_IPV4)
		return gw_common_ipv4(frame, length, &burst->packet[i], key) &&
		       take(scope, burst, i, key, some_untracked, later);
	if (family == GW_IPV6)
		return gw_common_ipv6(frame, length, &burst->packet[i], key) &&
		       take(scope, burst, i, key, some_untracked, later);
	return false;
}

/* Reads the burst, and leaves in burst->live what it did not take. The others: one bit each. */
static __rte_always_inline uint64_t read_burst(const struct common_scope *scope,
	struct gw_burst *burst, bool some_untracked, struct common_later *later)
{
	uint16_t count = burst->count, left = 0;
	uint64_t common = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (likely(read_one(scope, burst, i, some_untracked, later)))
			common |= 1ull << i;
		else
			burst->live[left++] = (uint8_t)i;
	}
	burst->live_count = left;
	return common;
}

static __rte_always_inline void note_service(struct gw_burst *burst, uint32_t i, uint32_t word)
{
	burst->service_word[i] = word;
	burst->result[i].service = gw_service_of_word(word);
}

/*
 * The second pass: notes the services of those that the first one took, one bit each. Returns those
 * that are not in their first bucket. Which ones these are is chance: no branch asks.
 */
static uint64_t look(const struct common_scope *scope, struct gw_burst *burst, uint64_t common,
	const struct common_later *later)
{
	uint32_t count = burst->count;
	uint64_t elsewhere = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t word;
		bool here;

		if (unlikely(!(common >> i & 1)))
			continue;
		here = gw_service_seen_in(
			later->bucket[i], scope->seen_epoch, later->name[i], &word);
		note_service(burst, i, word);
		elsewhere |= (uint64_t)!here << i;
	}
	return elsewhere;
}

/* Those: their second buckets are fetched together. Returns the ones that are nowhere. */
static uint64_t look_elsewhere(const struct common_scope *scope, struct gw_burst *burst,
	uint64_t elsewhere, const struct common_later *later)
{
	uint64_t nowhere = 0;

	for (uint64_t todo = elsewhere; todo; todo &= todo - 1)
		rte_prefetch0(&scope->seen[gw_service_seen_place(
			later->name[__builtin_ctzll(todo)], 1, scope->seen_mask)]);
	for (uint64_t todo = elsewhere; todo; todo &= todo - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(todo);
		uint32_t word = gw_service_seen_find(
			scope->seen, scope->seen_mask, scope->seen_epoch, later->name[i]);

		if (word == GW_NONE)
			nowhere |= todo & -todo;
		else
			note_service(burst, i, word);
	}
	return nowhere;
}

/* Of those whose services are known now, some may be of services that track no flows. */
static void part_untracked(const struct common_scope *scope, struct gw_burst *burst, uint64_t found)
{
	for (uint64_t todo = found; todo; todo &= todo - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(todo);

		if (burst->service_word[i] & GW_SERVICE_WORD_UNTRACKED)
			burst->untracked |= todo & -todo;
		else
			rte_prefetch0(&scope->bucket[burst->place[i].bucket]);
	}
}

/* In two passes: the memory of services is fetched ahead. */
static __rte_noinline uint64_t read_many(
	const struct common_scope *scope, struct gw_burst *burst, bool some_untracked)
{
	struct common_later later;
	uint64_t common = read_burst(scope, burst, some_untracked, &later);
	uint64_t elsewhere = look(scope, burst, common, &later);
	uint64_t found = common;

	if (elsewhere)
		found &= ~look_elsewhere(scope, burst, elsewhere, &later);
	if (some_untracked)
		part_untracked(scope, burst, found);
	if (likely(found == common))
		return found;
	burst->live_count = 0;
	for (uint16_t i = 0; i < burst->count; i++)
		if (!(found >> i & 1))
			burst->live[burst->live_count++] = (uint8_t)i;
	return found;
}

void gw_stage_common(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_engine *engine = worker->engine;
	bool some_untracked = worker->view->some_untracked;
	const struct common_scope scope = {
		.link = gw_common_link(&engine->port[burst->port]),
		.secrets = worker->flow_secrets,
		.bucket = engine->flows.bucket,
		.buckets = engine->flows.buckets,
		.seen = worker->service_seen,
		.table_seed = &worker->table_seed,
		.seen_mask = worker->service_seen_mask,
		.seen_epoch = worker->service_seen_epoch,
	};

	if (unlikely(worker->service_seen_many))
		burst->common = read_many(&scope, burst, some_untracked);
	else if (unlikely(some_untracked))
		burst->common = read_burst(&scope, burst, true, NULL);
	else
		burst->common = read_burst(&scope, burst, false, NULL);
}
