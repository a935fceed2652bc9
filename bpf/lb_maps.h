/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The balancer's maps (abi/xdp_maps.h says what they hold) and the accessors through which the
 * rules shared with DPDK reach them. Sizes marked 1 are set by the loader.
 */
#pragma once

#include "abi/flow_sample.h"
#include "abi/icmp.h"
#include "abi/table_slot.h"
#include "abi/verdict.h"
#include "abi/xdp_maps.h"
#include "lb_choose.h"
#include "lb_state.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct gw_xdp_config);
} gw_config SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct gw_address);
	__type(value, struct gw_vip);
} gw_vips SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gw_vip_key);
	__type(value, struct gw_vip);
} gw_vip_trie SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct gw_span);
} gw_spans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct gw_service);
} gw_services SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct gw_backend);
} gw_backends SEC(".maps");

struct gw_pool_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_INNER_MAP | BPF_F_MMAPABLE);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct gw_pool_row));
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct gw_pool_map);
} gw_pools SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct gw_flow_bucket);
} gw_flows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GW_FLOW_SAMPLES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct gw_flow_sample);
} gw_flow_samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gw_counters);
} gw_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gw_traffic);
} gw_backend_traffic SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct gw_traffic);
} gw_service_traffic SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, GW_XDP_MAX_PORTS);
	__type(key, __u32);
	__type(value, __u32);
} gw_tx_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, GW_MAX_PATHS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct gw_paths);
} gw_paths SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct gw_xdp_trace);
} gw_trace SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gw_address);
	__type(value, struct gw_endpoint);
} gw_endpoints SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct gw_address);
	__type(value, __u64);
} gw_path_mtus SEC(".maps");

/* Too-big answers of this node (abi/limit.h). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} gw_limit SEC(".maps");

/* Room for what does not fit the stack; one packet's use at a time. */
struct lb_scratch {
	uint8_t bytes[GW_ICMP_QUOTE_ROOM];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lb_scratch);
} lb_scratch_map SEC(".maps");

/* What lb_other is left; one packet's use at a time, and no place on the stack of all the others.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct lb_outbound);
} lb_outbound_map SEC(".maps");

GW_INLINE struct lb_outbound *lb_outbound(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&lb_outbound_map, &zero);
}

#define LB_SECOND_NS 1000000000ull

/*
 * CLOCK_MONOTONIC, a tick coarse. It moves with the kernel's ticks, whose number is read without a
 * call, so the clock itself is asked, and divided, but once a tick. A tick's number may stand
 * beside the time of the one before or behind it, when CPUs or the kernel are just changing them:
 * for a tick.
 */
struct lb_clock {
	uint64_t tick;
	uint64_t ns;
	uint64_t second;
};

static volatile struct lb_clock lb_clock;

GW_INLINE void lb_clock_look(void)
{
	uint64_t tick = bpf_jiffies64(), ns;

	if (lb_clock.tick == tick)
		return;
	ns = bpf_ktime_get_coarse_ns();
	lb_clock.ns = ns;
	lb_clock.second = ns / LB_SECOND_NS;
	lb_clock.tick = tick;
}

/* The time in nanoseconds; or the replay's clock. */
GW_INLINE uint64_t lb_now_ns(const struct gw_xdp_config *config)
{
	if (config->flags & GW_XDP_CLOCK_STOPPED)
		return config->stopped_ns;
	lb_clock_look();
	return lb_clock.ns;
}

/* The second that stamps are of, as of the last look. */
GW_INLINE uint32_t lb_seconds_seen(const struct gw_xdp_config *config)
{
	if (config->flags & GW_XDP_CLOCK_STOPPED)
		return (uint32_t)(config->stopped_ns / LB_SECOND_NS);
	return (uint32_t)lb_clock.second;
}

GW_INLINE uint32_t lb_seconds(const struct gw_xdp_config *config)
{
	if (!(config->flags & GW_XDP_CLOCK_STOPPED))
		lb_clock_look();
	return lb_seconds_seen(config);
}

GW_INLINE struct gw_xdp_config *lb_config(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&gw_config, &zero);
}

/* The ingress port's MAC, 6 bytes; NULL when it is not known. */
GW_INLINE const uint8_t *lb_mac(const struct xdp_md *ctx, const struct gw_xdp_config *config)
{
	uint32_t ports = config->port_count;

	for (uint32_t i = 0; i < GW_XDP_MAX_PORTS && i < ports; i++) {
		const uint8_t *mac = config->port_mac[i];

		if (config->port_ifindex[i] == ctx->ingress_ifindex)
			return *(const uint64_t *)mac ? mac : NULL;
	}
	return NULL;
}

GW_INLINE bool lb_mac_same(const uint8_t *a, const uint8_t *b)
{
	return *(const uint32_t *)a == *(const uint32_t *)b &&
	       *(const uint16_t *)(a + 4) == *(const uint16_t *)(b + 4);
}

/* The first six bytes in memory of an eight-byte word, for comparing. */
GW_INLINE uint64_t lb_mac_of(uint64_t word)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? word << 16 : word >> 16;
}

/* A unicast frame for another machine, seen because the interface is promiscuous. */
GW_INLINE bool lb_foreign_mac(const struct xdp_md *ctx, const struct gw_xdp_config *config)
{
	const uint8_t *frame = (const uint8_t *)(long)ctx->data, *mac;

	if (frame + GW_ETH_HEADER > (const uint8_t *)(long)ctx->data_end || frame[0] & 1 ||
		config->flags & GW_XDP_ANY_MAC)
		return false;
	mac = lb_mac(ctx, config);
	return mac && !lb_mac_same(mac, frame);
}

GW_INLINE struct lb_scratch *lb_scratch(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&lb_scratch_map, &zero);
}

GW_INLINE const struct gw_vip *lb_vip_find(
	const struct gw_xdp_config *config, const struct gw_address *address)
{
	const struct gw_vip *vip = bpf_map_lookup_elem(&gw_vips, address);
	struct gw_vip_key key = {.prefix_length = 128};

	if (vip || !(config->flags & GW_XDP_HAVE_TRIE))
		return vip;
	key.address = *address;
	return bpf_map_lookup_elem(&gw_vip_trie, &key);
}

/*
 * Service addresses and services for global functions: to Linux 6.1 what their arguments point to
 * is no key of a map, a copy of it is.
 */
GW_INLINE const struct gw_vip *lb_vip_at(
	const struct gw_xdp_config *config, const struct gw_address *address)
{
	struct gw_address key = *address;

	return lb_vip_find(config, &key);
}

GW_INLINE const struct gw_service *lb_service_at(uint32_t service)
{
	return bpf_map_lookup_elem(&gw_services, &service);
}

GW_INLINE const struct gw_span *lb_span_at(const void *path, uint32_t index)
{
	return bpf_map_lookup_elem(&gw_spans, &index);
}

/* `path` is the configuration. */
GW_INLINE struct gw_flow_bucket *lb_bucket_at(const void *path, uint32_t bucket)
{
	return bpf_map_lookup_elem(&gw_flows, &bucket);
}

GW_INLINE const struct gw_backend *lb_backend_at(const void *path, uint32_t backend)
{
	return bpf_map_lookup_elem(&gw_backends, &backend);
}

GW_INLINE const struct gw_pool_row *lb_pool_row(void *table, uint32_t index)
{
	return bpf_map_lookup_elem(table, &index);
}

/* All of one inner map, so one pool's truth; most tables have but the one row. */
GW_INLINE uint32_t lb_table_at(const void *path, uint32_t pool, uint64_t hash, uint32_t *slot)
{
	void *table = bpf_map_lookup_elem(&gw_pools, &pool);
	const struct gw_pool_row *row;
	uint64_t place;

	if (!table)
		return GW_NONE;
	row = lb_pool_row(table, 0);
	if (!row || !row->head.table_size || !row->head.member_count)
		return GW_NONE;
	*slot = gw_table_slot(hash, row->head.table_size);
	place = GW_ONCE(*slot);
	if (place < GW_POOL_FIRST_SLOTS)
		return row->first_slots[place];
	place -= GW_POOL_FIRST_SLOTS;
	row = lb_pool_row(table, 1 + (uint32_t)(place / GW_POOL_ROW_SLOTS));
	return row ? row->slots[GW_BOUND(place, GW_POOL_ROW_SLOTS - 1)] : GW_NONE;
}
