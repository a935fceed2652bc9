/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What the look-ups of service address, port span and service came to, remembered on each CPU: the
 * next common packet (lb_common.h) for the same address, protocol and port has its service by one
 * array look-up instead of a hash and a search. Direct-mapped; a newer claim takes an older one's
 * place. There is room for some ten thousand services of IPv4, whose claims are small, so that many
 * of them stay in the caches; and a claim that is not there is made on the way (lb_claim_make), at
 * the price of those look-ups.
 *
 * A claim holds for one generation of the services (abi/xdp_maps.h), which control raises after
 * each change of them and again once it has settled. The program takes the generation before it
 * looks anything up, so that what it found in the midst of a change is never taken for newer than
 * it is.
 */
#pragma once

#include "abi/service.h"
#include "abi/xdp_maps.h"
#include "lb_common.h"
#include "lb_maps.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

/* What is known of a service; eight bytes, read at once. */
struct lb_answer {
	uint32_t generation;
	uint16_t service;
	uint16_t pool : 12;
	uint16_t affinity : 2;
	uint16_t untracked : 1;
	/* The service's packets need the slot's hash: always, if it is untracked; else a hint, by
	 * which it is computed sooner. */
	uint16_t hashed : 1;
};
_Static_assert(sizeof(struct lb_answer) == 8, "an answer is read at once");
_Static_assert(GW_MAX_SERVICES <= 1 << 16, "an answer has 16 bits for the service");
_Static_assert(GW_MAX_POOLS <= 1 << 12, "an answer has 12 bits for the pool");

struct lb_claim4 {
	uint64_t end; /* lb_claim_end; 0: never written */
	struct lb_answer answer;
};
_Static_assert(sizeof(struct lb_claim4) == 16, "four claims a cache line");

struct lb_claim6 {
	uint64_t end;
	struct lb_answer answer;
	uint64_t address[2];
};
_Static_assert(sizeof(struct lb_claim6) == 32, "two claims a cache line");

/*
 * Many claims a value: a per-CPU array has a pointer for each value, which would be one more line
 * to wait for.
 */
#define LB_CLAIM_BLOCK 16384u /* bytes */
#define LB_CLAIM_BITS4 15
#define LB_CLAIM_BITS6 13

struct lb_claim_block {
	uint8_t bytes[LB_CLAIM_BLOCK];
};

/* Not pinned: whoever loads the program begins with none. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, (sizeof(struct lb_claim4) << LB_CLAIM_BITS4) / LB_CLAIM_BLOCK);
	__type(key, __u32);
	__type(value, struct lb_claim_block);
} lb_claims4 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, (sizeof(struct lb_claim6) << LB_CLAIM_BITS6) / LB_CLAIM_BLOCK);
	__type(key, __u32);
	__type(value, struct lb_claim_block);
} lb_claims6 SEC(".maps");

/* Destination port and protocol, which is not 0; of IPv4 the address too. */
GW_INLINE uint64_t lb_claim_end(const struct gw_flow_key *key, uint8_t family)
{
	uint64_t rest = GW_WIRE_LOAD(uint64_t, &key->source_port);
	uint64_t end = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? rest >> 16 << 32 : rest << 16;

	if (family == GW_IPV4)
		end |= GW_WIRE_LOAD(uint32_t, key->destination.bytes + 12);
	return end;
}

/* The claim, of `size` bytes, that a hash of 64 bits leads to, of 1 << bits. */
GW_INLINE void *lb_claim_in(void *map, uint64_t hash, uint32_t bits, uint32_t size)
{
	uint64_t offset = hash >> (64 - bits);
	uint32_t block = (uint32_t)(offset / (LB_CLAIM_BLOCK / size));
	uint8_t *at = bpf_map_lookup_elem(map, &block);

	return at ? at + GW_BOUND(offset * size, LB_CLAIM_BLOCK - size) : NULL;
}

/* Where the claim of this packet's destination is, or would be; struct lb_claim4 or 6. */
GW_INLINE void *lb_claim_at(const struct gw_flow_key *key, uint8_t family)
{
	uint64_t mixed = lb_claim_end(key, family);

	if (family == GW_IPV4)
		return lb_claim_in(&lb_claims4, mixed * 0x9e3779b185ebca87ull, LB_CLAIM_BITS4,
			sizeof(struct lb_claim4));
	mixed ^= GW_WIRE_LOAD(uint64_t, key->destination.bytes) ^
		 GW_WIRE_LOAD(uint64_t, key->destination.bytes + 8);
	return lb_claim_in(&lb_claims6, mixed * 0x9e3779b185ebca87ull, LB_CLAIM_BITS6,
		sizeof(struct lb_claim6));
}

GW_INLINE struct lb_answer lb_claim_answer(const void *claim, uint8_t family)
{
	union {
		uint64_t word;
		struct lb_answer answer;
	} copy;

	_Static_assert(__builtin_offsetof(struct lb_claim4, answer) ==
			       __builtin_offsetof(struct lb_claim6, answer),
		"one place for both");
	copy.word = *(const volatile uint64_t *)&((const struct lb_claim4 *)claim)->answer;
	return copy.answer;
}

/* Is it this packet's, and of this generation? */
GW_INLINE bool lb_claim_is(
	const void *claim, const struct gw_flow_key *key, uint8_t family, uint32_t generation)
{
	const struct lb_claim6 *claim6 = claim;

	return claim6->end == lb_claim_end(key, family) &&
	       claim6->answer.generation == generation &&
	       (family == GW_IPV4 ||
		       (claim6->address[0] == GW_WIRE_LOAD(uint64_t, key->destination.bytes) &&
			       claim6->address[1] ==
				       GW_WIRE_LOAD(uint64_t, key->destination.bytes + 8)));
}

/* Does the first slot's backend, and so probably each of them, want the slot's hash in its headers?
 */
GW_INLINE bool lb_pool_hashes(uint32_t pool)
{
	void *table = bpf_map_lookup_elem(&gw_pools, &pool);
	const struct gw_packet whole = {.dont_fragment = true};
	const struct gw_backend *backend;
	const struct gw_pool_row *row;

	if (!table)
		return false;
	row = lb_pool_row(table, 0);
	if (!row || !row->head.member_count)
		return false;
	backend = lb_backend_at(NULL, row->first_slots[0]);
	return backend && gw_encap_wants_hash(backend, &whole);
}

GW_INLINE bool lb_claim_write(const struct gw_xdp_config *config, const struct gw_flow_key *key,
	uint8_t family, uint32_t generation)
{
	struct gw_address address = key->destination;
	const struct gw_vip *vip = lb_vip_find(config, &address);
	struct lb_claim6 *claim = lb_claim_at(key, family);
	const struct gw_service *service;
	uint32_t number;
	bool untracked;

	if (!vip || !claim)
		return false;
	number = gw_service_match(
		vip, key->protocol, GW_NTOHS(key->destination_port), NULL, lb_span_at);
	service = lb_service_at(number);
	if (!service || service->pool == GW_NONE)
		return false;
	untracked = service->flags & GW_SERVICE_UNTRACKED;
	claim->end = lb_claim_end(key, family);
	claim->answer = (struct lb_answer){
		.generation = generation,
		.service = (uint16_t)number,
		.pool = (uint16_t)service->pool,
		.affinity = service->affinity,
		.untracked = untracked,
		.hashed = untracked || lb_pool_hashes(service->pool),
	};
	if (family == GW_IPV6) {
		claim->address[0] = GW_WIRE_LOAD(uint64_t, key->destination.bytes);
		claim->address[1] = GW_WIRE_LOAD(uint64_t, key->destination.bytes + 8);
	}
	return true;
}

GW_INLINE bool lb_claim_for(struct xdp_md *ctx, uint8_t family)
{
	const void *frame = (const void *)(long)ctx->data, *end = (const void *)(long)ctx->data_end;
	const struct gw_xdp_config *config = lb_config();
	struct gw_packet packet = {};
	uint32_t generation;
	uint64_t macs;

	if (!config)
		return false;
	generation = *(const volatile uint32_t *)&config->services_generation;
	return lb_common_parse(frame, end, family, &packet, &macs) &&
	       lb_claim_write(config, &packet.key, family, generation);
}

/*
 * Looks a common packet's service up and makes the claim. Returns 1, or 0 when there is no such
 * service.
 */
__noinline int lb_claim_make4(struct xdp_md *ctx)
{
	return lb_claim_for(ctx, GW_IPV4);
}

__noinline int lb_claim_make6(struct xdp_md *ctx)
{
	return lb_claim_for(ctx, GW_IPV6);
}
