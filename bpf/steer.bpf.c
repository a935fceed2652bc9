/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Steering for DPDK ports on net_af_xdp (`xdp_prog=`): packets for service addresses go to the
 * AF_XDP socket of their queue, everything else stays the kernel's: ARP, NDP, BGP, ssh and the
 * host's own addresses work as if DPDK were not there. DPDK fills xsks_map, which must have that
 * name; guideway-dataplane (dataplane/steer.c) fills the addresses. Without an entry in xsks_map
 * the packet goes on to the kernel.
 */
#include "abi/parse.h"
#include "abi/xdp_maps.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 64);
	__type(key, uint32_t);
	__type(value, uint32_t);
} xsks_map SEC(".maps");

/* Full-length service addresses; the value is not looked at. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GW_MAX_VIPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gw_address);
	__type(value, uint8_t);
} gw_steer_vips SEC(".maps");

/* Shorter prefixes. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, GW_MAX_VIPS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gw_vip_key);
	__type(value, uint8_t);
} gw_steer_trie SEC(".maps");

SEC("xdp")
int steer(struct xdp_md *context)
{
	const void *frame = (const void *)(long)context->data;
	const void *end = (const void *)(long)context->data_end;
	struct gw_packet packet = {};
	struct gw_vip_key key = {.prefix_length = 128};

	if (gw_parse_destination(frame, end, &packet) != GW_PARSE_OK)
		return XDP_PASS;
	if (!bpf_map_lookup_elem(&gw_steer_vips, &packet.key.destination)) {
		key.address = packet.key.destination;
		if (!bpf_map_lookup_elem(&gw_steer_trie, &key))
			return XDP_PASS;
	}
	return (int)bpf_redirect_map(&xsks_map, context->rx_queue_index, XDP_PASS);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
