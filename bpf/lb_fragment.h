/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Fragments: the first one's decision is remembered in gw_fragments, the later ones follow it
 * (abi/fragment.h has the rules). XDP cannot hold a packet, so a later fragment that comes before
 * its first is dropped, as frag_early.
 */
#pragma once

#include "abi/fragment.h"
#include "lb_maps.h"
#include "lb_state.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GW_FRAGMENT_DECISIONS);
	__type(key, struct gw_fragment_key);
	__type(value, struct gw_fragment_decision);
} gw_fragments SEC(".maps");

/* From the frame: what the state's key says may have been reduced by the affinity. */
GW_INLINE bool lb_fragment_key(
	struct xdp_md *ctx, const struct gw_packet *packet, struct gw_fragment_key *key)
{
	const uint8_t *at =
		(const uint8_t *)(long)ctx->data + GW_BOUND(packet->l3_offset, GW_PARSE_L3_MASK);
	const uint8_t *end = (const uint8_t *)(long)ctx->data_end;
	struct gw_address source, destination;

	if (at + GW_IPV4_HEADER > end)
		return false;
	if (packet->family == GW_IPV4) {
		gw_address_set_ipv4(&source, at + 12);
		gw_address_set_ipv4(&destination, at + 16);
	} else {
		if (at + GW_IPV6_HEADER > end)
			return false;
		gw_wire_copy16(source.bytes, at + 8);
		gw_wire_copy16(destination.bytes, at + 24);
	}
	gw_fragment_key_make(key, packet, &source, &destination);
	return true;
}

/*
 * Remembers where a first fragment went: `result` is its step. One that was dropped takes back what
 * an earlier datagram of the same id has left.
 */
__noinline int lb_fragment_first(struct xdp_md *ctx, struct lb_state *state, int result)
{
	uint32_t zero = 0;
	const struct gw_xdp_config *config = bpf_map_lookup_elem(&gw_config, &zero);
	struct gw_fragment_decision decision = {};
	struct gw_fragment_key key;

	if (!state || !config || !lb_fragment_key(ctx, &state->packet, &key))
		return 0;
	if (result != LB_OK && result != LB_HOST) {
		bpf_map_delete_elem(&gw_fragments, &key);
		return 0;
	}
	decision.hash = state->hash;
	decision.expires_ns = lb_now_ns(config) + gw_fragment_ns(config->fragment_ms);
	decision.service = result == LB_OK ? state->service : GW_NONE;
	decision.backend = state->choice.backend;
	bpf_map_update_elem(&gw_fragments, &key, &decision, BPF_ANY);
	return 0;
}

/* A later fragment: takes over what its first one decided. */
__noinline int lb_fragment(struct xdp_md *ctx, struct lb_state *state)
{
	uint32_t zero = 0;
	const struct gw_xdp_config *config = bpf_map_lookup_elem(&gw_config, &zero);
	const struct gw_fragment_decision *decision;
	const struct gw_service *service;
	const struct gw_backend *backend;
	struct gw_fragment_key key;
	uint32_t id;

	if (!state || !config || !lb_fragment_key(ctx, &state->packet, &key))
		return GW_DROP_FRAG_EARLY;
	decision = bpf_map_lookup_elem(&gw_fragments, &key);
	if (!decision || gw_fragment_is_over(decision->expires_ns, lb_now_ns(config)))
		return GW_DROP_FRAG_EARLY;
	id = decision->service;
	if (id == GW_NONE)
		return LB_HOST;
	service = bpf_map_lookup_elem(&gw_services, &id);
	backend = lb_backend_at(config, decision->backend);
	if (!service || !backend || !gw_fragment_follows(backend, service->pool))
		return GW_DROP_FRAG_EARLY;
	state->service = id;
	state->choice.backend = decision->backend;
	state->hash = decision->hash;
	return LB_OK;
}
