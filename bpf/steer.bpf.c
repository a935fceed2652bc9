/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Steering for DPDK ports on net_af_xdp (`xdp_prog=`). To the AF_XDP socket of their queue go
 *
 *	packets for service addresses, but for solicitations for those that are not announced
 *	ARP requests and neighbour solicitations for announced ones (announce: l2)
 *	what routers say about packets to backends that do not fit (abi/path_mtu.h)
 *
 * Everything else stays the kernel's: ARP, NDP, BGP, ssh and the host's own addresses work as if
 * DPDK were not there. DPDK fills xsks_map, which must have that name; guideway-dataplane
 * (dataplane/steer.c) fills the rest. Without an entry in xsks_map the packet goes on to the
 * kernel.
 */
#include "abi/announce.h"
#include "abi/path_mtu.h"
#include "abi/xdp_maps.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 64);
	__type(key, uint32_t);
	__type(value, uint32_t);
} xsks_map SEC(".maps");

/* Full-length service addresses, and their GW_VIP_* flags. */
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

/* Backends' addresses, and the modes they are reached by (struct gw_endpoint). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, GW_MAX_BACKENDS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gw_address);
	__type(value, uint8_t);
} gw_steer_ends SEC(".maps");

/* The flags of a service address; NULL: it is none. */
static __noinline const uint8_t *vip_flags(const struct gw_address *address)
{
	const uint8_t *flags = bpf_map_lookup_elem(&gw_steer_vips, address);
	struct gw_vip_key key = {.prefix_length = 128, .address = *address};

	return flags ? flags : bpf_map_lookup_elem(&gw_steer_trie, &key);
}

static bool announced(const struct gw_address *address)
{
	const uint8_t *flags = vip_flags(address);

	return flags && *flags & GW_VIP_ANNOUNCE_L2;
}

/* A report about a packet to one of our backends. `icmp` is its place in the frame. */
static __noinline bool wants_report(
	struct xdp_md *context, const struct gw_packet *packet, uint32_t icmp)
{
	uint32_t have = (uint32_t)(context->data_end - context->data), bytes;
	uint8_t read[64] = {};
	struct gw_path_report report;
	const uint8_t *modes;

	if (icmp + GW_ICMP_HEADER + GW_IPV4_HEADER > have)
		return false;
	bytes = have - icmp < GW_PATH_REPORT_BYTES ? have - icmp : GW_PATH_REPORT_BYTES;
	bytes = (uint32_t)GW_BOUND(bytes - 1, 0x3f) + 1;
	if (bpf_xdp_load_bytes(context, icmp, read, bytes) ||
		!gw_path_report_read(
			read, bytes, packet->family, &packet->key.destination, &report))
		return false;
	modes = bpf_map_lookup_elem(&gw_steer_ends, &report.destination);
	return modes && gw_path_report_fits(&report, *modes);
}

static __noinline bool wants_arp(struct xdp_md *context, uint32_t l3_offset)
{
	const uint8_t *frame = (const uint8_t *)(long)context->data;
	const uint8_t *end = (const uint8_t *)(long)context->data_end;
	const uint8_t *arp = frame + GW_BOUND(l3_offset, GW_PARSE_L3_MASK);
	const uint8_t *type = frame + GW_BOUND(l3_offset - 2, GW_PARSE_L3_MASK);
	struct gw_address target;

	return arp + GW_ARP_BYTES <= end && type + 2 <= end &&
	       gw_wire_load16(type) == GW_ETHERTYPE_ARP && gw_arp_asks(arp, &target) &&
	       announced(&target);
}

static bool wants(struct xdp_md *context)
{
	const uint8_t *frame = (const uint8_t *)(long)context->data;
	const uint8_t *end = (const uint8_t *)(long)context->data_end, *ip;
	struct gw_packet packet = {};
	struct gw_address target;
	bool v6;

	if (gw_parse_destination(frame, end, &packet) != GW_PARSE_OK)
		return packet.l3_offset && !packet.family && wants_arp(context, packet.l3_offset);
	v6 = packet.family == GW_IPV6;
	ip = frame + GW_BOUND(packet.l3_offset, GW_PARSE_L3_MASK);
	if (v6 && ip + GW_ND_SOLICITATION <= end && ip[6] == GW_PROTO_ICMPV6 &&
		ip[GW_IPV6_HEADER] == GW_ICMPV6_SOLICITATION) {
		gw_wire_copy16(target.bytes, ip + GW_IPV6_HEADER + 8);
		return announced(&target);
	}
	if (vip_flags(&packet.key.destination))
		return true;
	if (ip + GW_IPV4_HEADER > end)
		return false;
	if (v6)
		return ip[6] == GW_PROTO_ICMPV6 &&
		       wants_report(context, &packet, packet.l3_offset + GW_IPV6_HEADER);
	return ip[9] == GW_PROTO_ICMP &&
	       wants_report(context, &packet, packet.l3_offset + (ip[0] & 0xfu) * 4);
}

SEC("xdp")
int steer(struct xdp_md *context)
{
	if (!wants(context))
		return XDP_PASS;
	return (int)bpf_redirect_map(&xsks_map, context->rx_queue_index, XDP_PASS);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
