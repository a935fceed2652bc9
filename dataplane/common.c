/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * First stage: takes the common frames (common.h) of flows to services that the worker has met
 * lately, in one pass over the burst, from the first byte to the flow's place in the table, whose
 * bucket is fetched ahead. All others are left in burst->live for the next two stages.
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
	const struct gw_service *service;
	uint32_t buckets;
	uint32_t seen_mask;
	uint32_t seen_epoch;
};

/*
 * A common packet, whose record is filled: its service and its flow's place. Where no service goes
 * untracked nobody asks which one does.
 */
static __rte_always_inline bool take(const struct common_scope *scope, struct gw_burst *burst,
	uint16_t i, const uint64_t key[GW_KEY_WORDS], bool some_untracked)
{
	const struct gw_packet *packet = &burst->packet[i];
	uint32_t service = gw_service_seen_find(scope->seen, scope->seen_mask, scope->seen_epoch,
		&key[2], (uint32_t)(key[4] >> 16));
	struct gw_flow_place place;

	if (unlikely(service == GW_NONE))
		return false;
	if (some_untracked && scope->service[service].flags & GW_SERVICE_UNTRACKED) {
		burst->untracked |= 1ull << i;
	} else {
		place = gw_flow_place_of_sum(gw_key_sum(&scope->secrets, packet->family, key),
			packet->protocol, scope->buckets);
		rte_prefetch0(&scope->bucket[place.bucket]);
		burst->place[i] = place;
	}
	burst->result[i] = (struct gw_result){
		.verdict = GW_VERDICT_TX,
		.service = service,
		.backend = GW_NONE,
		.slot = GW_NONE,
		.event = gw_flow_event_of(packet->protocol, packet->tcp_flags),
	};
	return true;
}

/* One road a family: what one of them knows of the key folds away. */
static __rte_always_inline bool read_one(
	const struct common_scope *scope, struct gw_burst *burst, uint16_t i, bool some_untracked)
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
		       take(scope, burst, i, key, some_untracked);
	if (family == GW_IPV6)
		return gw_common_ipv6(frame, length, &burst->packet[i], key) &&
		       take(scope, burst, i, key, some_untracked);
	return false;
}

/* Returns the places of those taken, one bit each. */
static __rte_always_inline uint64_t read_all(
	const struct common_scope *scope, struct gw_burst *burst, bool some_untracked)
{
	uint16_t count = burst->count, left = 0;
	uint64_t common = 0;

	for (uint16_t i = 0; i < count; i++) {
		if (likely(read_one(scope, burst, i, some_untracked)))
			common |= 1ull << i;
		else
			burst->live[left++] = (uint8_t)i;
	}
	burst->live_count = left;
	return common;
}

void gw_stage_common(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_engine *engine = worker->engine;
	const struct common_scope scope = {
		.link = gw_common_link(&engine->port[burst->port]),
		.secrets = worker->flow_secrets,
		.bucket = engine->flows.bucket,
		.buckets = engine->flows.buckets,
		.seen = worker->service_seen,
		.service = worker->view->service,
		.seen_mask = worker->service_seen_mask,
		.seen_epoch = worker->service_seen_epoch,
	};

	if (unlikely(worker->view->some_untracked))
		burst->common = read_all(&scope, burst, true);
	else
		burst->common = read_all(&scope, burst, false);
}
