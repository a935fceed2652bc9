/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Second stage: is the destination a service address, is the packet sound, which service is it, and
 * which hash does it have? The flow's bucket is prefetched for the stage that follows.
 */
#include "service.h"

#include "abi/parse.h"
#include "abi/service.h"
#include "engine.h"
#include "frame.h"
#include "pipeline.h"
#include "service_seen.h"
#include "unclaimed.h"

#include <rte_hash.h>

#include <string.h>

static const struct gw_span *span_at(const void *path, uint32_t index)
{
	const struct gw_view *view = path;

	return &view->span[index];
}

uint32_t gw_vip_service(
	const struct gw_view *view, const struct gw_vip *vip, uint8_t protocol, uint16_t port)
{
	return gw_service_match(vip, protocol, port, view, span_at);
}

static const struct gw_vip *prefix_find(
	const struct gw_view *view, const struct gw_address *address)
{
	for (uint32_t i = 0; i < view->prefix_length_count; i++) {
		struct gw_vip_key key = {.prefix_length = view->prefix_lengths[i]};
		void *vip;

		gw_address_mask(&key.address, address, view->prefix_lengths[i]);
		if (rte_hash_lookup_data(view->vip_prefix, &key, &vip) >= 0)
			return vip;
	}
	return NULL;
}

const struct gw_vip *gw_vip_find(const struct gw_view *view, const struct gw_address *address)
{
	void *vip;

	if (rte_hash_lookup_data(view->vip_exact, address, &vip) >= 0)
		return vip;
	return view->prefix_length_count ? prefix_find(view, address) : NULL;
}

static inline bool same_address(const struct gw_address *a, const struct gw_address *b)
{
	return GW_WIRE_LOAD(uint64_t, a->bytes) == GW_WIRE_LOAD(uint64_t, b->bytes) &&
	       GW_WIRE_LOAD(uint64_t, a->bytes + 8) == GW_WIRE_LOAD(uint64_t, b->bytes + 8);
}

/* Its place in the worker's memory of service addresses; the low bits of neighbours differ most. */
static inline struct gw_vip_seen *seen_at(
	struct gw_worker *worker, const struct gw_address *address)
{
	uint32_t bits = GW_WIRE_LOAD(uint32_t, address->bytes + 12) * 0x9e3779b1u;

	return &worker->vip_seen[bits >> (32 - GW_VIP_SEEN_BITS)];
}

/* The addresses that the memory did not have, at the places in `missed`, from the index. */
static __rte_noinline void find_missed_vips(
	struct gw_worker *worker, struct gw_burst *burst, const uint8_t *missed, uint16_t count)
{
	const struct gw_view *view = worker->view;
	const void *key[GW_BURST_MAX];
	void *found[GW_BURST_MAX];
	uint64_t hits = 0;

	for (uint16_t k = 0; k < count; k++)
		key[k] = &burst->packet[missed[k]].key.destination;
	if (rte_hash_lookup_bulk_data(view->vip_exact, key, count, &hits, found) < 0)
		hits = 0;
	for (uint16_t k = 0; k < count; k++) {
		const struct gw_vip *vip = hits >> k & 1 ? found[k] : NULL;

		if (!vip && view->prefix_length_count)
			vip = prefix_find(view, key[k]);
		burst->vip[missed[k]] = vip;
		if (vip)
			*seen_at(worker, key[k]) = (struct gw_vip_seen){
				.address = burst->packet[missed[k]].key.destination, .vip = vip};
	}
}

/*
 * Leaves in burst->vip the service address of every live packet, or NULL. Most traffic is for few
 * addresses: a worker remembers those that it met, until the snapshot changes.
 */
static void find_vips(struct gw_worker *worker, struct gw_burst *burst)
{
	uint8_t missed[GW_BURST_MAX];
	uint16_t count = 0;

	for (uint16_t k = 0; k < burst->live_count; k++) {
		uint8_t i = burst->live[k];
		const struct gw_address *address = &burst->packet[i].key.destination;
		const struct gw_vip_seen *seen = seen_at(worker, address);

		burst->vip[i] = seen->vip;
		if (unlikely(!seen->vip || !same_address(&seen->address, address)))
			missed[count++] = i;
	}
	if (unlikely(count))
		find_missed_vips(worker, burst, missed, count);
}

/*
 * The transport header of a packet for a service address. True when it goes on to a service. What
 * is rare is noted for its stage; a first fragment is, and goes on too.
 */
static bool parse_transport(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	struct gw_packet *packet = &burst->packet[i];
	struct gw_frame frame;
	int parsed = GW_DROP_MALFORMED;

	if (likely(gw_frame_open(worker, burst->mbuf[i], &frame)))
		parsed = gw_parse_transport(
			frame.start, frame.end, (uint32_t)(frame.end - frame.start), packet);
	if (likely(parsed == GW_PARSE_OK)) {
		if (unlikely(packet->fragment))
			burst->rare[burst->rare_count++] = i;
		return true;
	}
	if (parsed == GW_PARSE_ICMP || parsed == GW_PARSE_LATE)
		burst->rare[burst->rare_count++] = i;
	else
		gw_result_parsed(&burst->result[i], parsed);
	return false;
}

uint64_t gw_burst_hash_make(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	const struct gw_view *view = worker->view;
	struct gw_result *result = &burst->result[i];
	uint8_t affinity = view->service[result->service].affinity;
	struct gw_flow_key key = burst->packet[i].key;
	uint64_t word[GW_KEY_WORDS];

	if (likely(affinity == GW_AFFINITY_5TUPLE && GW_KEY_IN_WORDS)) {
		for (int n = 0; n < GW_KEY_WORDS; n++)
			word[n] = GW_WIRE_LOAD(uint64_t, (uint8_t *)&burst->packet[i].key + 8 * n);
		gw_result_hash(result, gw_key_hash(&worker->table_seed, word));
		return result->hash;
	}
	gw_flow_key_reduce(&key, affinity);
	gw_result_hash(result, gw_flow_hash(&key, view->hash_seed));
	return result->hash;
}

/* Where the flow is tracked, if it is. */
static void place_flow(const struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	const struct gw_packet *packet = &burst->packet[i];

	if (worker->view->service[burst->result[i].service].flags & GW_SERVICE_UNTRACKED) {
		burst->untracked |= 1ull << i;
		return;
	}
	burst->place[i] = gw_flow_table_place(&worker->engine->flows, &packet->key);
	gw_flow_prefetch(&worker->engine->flows, burst->place[i]);
	burst->result[i].event = gw_flow_event_of(packet->protocol, packet->tcp_flags);
}

void gw_stage_service(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_view *view = worker->view;
	uint16_t kept = 0;

	find_vips(worker, burst);
	for (uint16_t k = 0; k < burst->live_count; k++) {
		uint8_t i = burst->live[k];
		const struct gw_vip *vip = burst->vip[i];
		struct gw_packet *packet = &burst->packet[i];
		struct gw_result *result = &burst->result[i];

		if (!vip) {
			result->verdict = GW_VERDICT_HOST;
			gw_unclaimed(worker, burst, i);
			continue;
		}
		if (!parse_transport(worker, burst, i))
			continue;
		result->service = gw_vip_service(
			view, vip, packet->protocol, GW_NTOHS(packet->key.destination_port));
		if (unlikely(result->service == GW_NONE)) {
			if (vip->flags & GW_VIP_NO_SERVICE_HOST)
				result->verdict = GW_VERDICT_HOST;
			else
				gw_result_drop(result, GW_DROP_NO_SERVICE);
			continue;
		}
		burst->service_word[i] =
			gw_service_word(&view->service[result->service], result->service);
		gw_service_seen_put(worker, &packet->key, burst->service_word[i]);
		place_flow(worker, burst, i);
		burst->live[kept++] = i;
	}
	burst->live_count = kept;
}
