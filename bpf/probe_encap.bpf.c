/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Health probes of `via: tunnel`: a packet to a service address gets the outer headers of one
 * backend and goes to that backend's next hop, as the data path would send it.
 *
 * It sits at the egress of a device of its own, to which a rule by the socket's mark routes every
 * probe (control/check_tunnel.c), so that neither routes to service addresses nor other programs
 * matter. The mark holds an index into gw_probe_ways. Whatever else comes here is dropped: the
 * device leads nowhere.
 *
 * The checksum of the inner packet may still be the hardware's to make. All but GUE's over IPv6
 * leave it alone; that one is made from the pseudo header, because what a valid packet sums up to
 * follows from that alone (RFC 1071).
 */
#include "abi/encap.h"
#include "abi/probe.h"
#include "abi/wire.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include <linux/pkt_cls.h>

#define AF_INET4   2
#define AF_INET6   10
#define PROTO_ICMP 1

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* control sets it before loading */
	__type(key, uint32_t);
	__type(value, struct gw_probe_way);
} gw_probe_ways SEC(".maps");

const volatile uint32_t mark_mask = 0xffff0000;
const volatile uint32_t mark_shift = 16;

/* What abi/encap.h reads of a packet, from its IP header; false: not one of ours. */
static bool packet_read(const uint8_t *ip, const uint8_t *end, struct gw_packet *packet)
{
	uint32_t word;

	if (ip + GW_IPV4_HEADER > end)
		return false;
	word = gw_wire_load32(ip);
	packet->l3_offset = GW_ETH_HEADER;
	if (word >> 28 == 4) {
		packet->family = GW_IPV4;
		packet->tos = word >> 16;
		packet->l3_length = word & 0xffff;
		packet->ip_id = gw_wire_load16(ip + 4);
		packet->dont_fragment = gw_wire_load16(ip + 6) & 0x4000;
		packet->protocol = ip[9];
		return true;
	}
	if (word >> 28 != 6 || ip + GW_IPV6_HEADER > end)
		return false;
	packet->family = GW_IPV6;
	packet->tos = word >> 20;
	packet->l3_length = gw_wire_load16(ip + 4) + GW_IPV6_HEADER;
	packet->dont_fragment = true;
	packet->protocol = ip[6];
	return true;
}

/* The folded sum of the whole inner packet once its checksums are there. */
static uint16_t packet_sum(const uint8_t *ip, const struct gw_packet *packet)
{
	uint32_t sum = 0;

	if (packet->family == GW_IPV4) {
		/* The header sums up to nothing, the rest to what undoes its pseudo header. */
		if (packet->protocol == PROTO_ICMP)
			return 0;
		for (int i = 12; i < GW_IPV4_HEADER; i += 4)
			sum += gw_encap_halves(gw_wire_load32(ip + i));
		sum += packet->protocol + (packet->l3_length - (uint32_t)(ip[0] & 0x0f) * 4);
		sum = gw_encap_halves(gw_encap_halves(sum));
		return (uint16_t)~sum;
	}
	/* Addresses and length are in header and pseudo header alike, and cancel out. */
	sum = gw_encap_halves(gw_wire_load32(ip)) + (gw_wire_load32(ip + 4) & 0xffff) +
	      (~(uint32_t)packet->protocol & 0xffff);
	return (uint16_t)gw_encap_halves(gw_encap_halves(sum));
}

static uint64_t room_flags(const struct gw_backend *backend)
{
	uint64_t flags = BPF_F_ADJ_ROOM_FIXED_GSO | BPF_F_ADJ_ROOM_NO_CSUM_RESET;

	flags |= backend->family == GW_IPV4 ? BPF_F_ADJ_ROOM_ENCAP_L3_IPV4
					    : BPF_F_ADJ_ROOM_ENCAP_L3_IPV6;
	if (backend->encap == GW_ENCAP_GUE)
		flags |= BPF_F_ADJ_ROOM_ENCAP_L4_UDP;
	else if (backend->encap == GW_ENCAP_GRE)
		flags |= BPF_F_ADJ_ROOM_ENCAP_L4_GRE;
	return flags;
}

static bool headers_write(struct __sk_buff *skb, const struct gw_backend *backend,
	const struct gw_packet *packet, uint64_t hash, uint16_t inner_sum)
{
	uint8_t *frame, *end;

	/* The helper lets nothing but 20 bytes or more behind the room be missing. */
	if (bpf_skb_pull_data(skb, GW_ETH_HEADER + GW_ENCAP_MAX_BYTES))
		return false;
	frame = (uint8_t *)(long)skb->data;
	end = (uint8_t *)(long)skb->data_end;
	if (frame + GW_ETH_HEADER + GW_IPV6_HEADER + GW_GUE_HEADER > end)
		return false;
	gw_wire_store16(frame + 12, gw_encap_ethertype(backend->family));
	if (backend->family == GW_IPV4)
		gw_encap_outer_v4(frame + GW_ETH_HEADER, backend, packet, hash);
	else
		gw_encap_outer_v6(frame + GW_ETH_HEADER, backend, packet, hash, inner_sum);
	return true;
}

static int way_take(const struct gw_probe_way *way)
{
	struct bpf_redir_neigh to = {};

	if (way->next_hop_family == GW_IPV4) {
		to.nh_family = AF_INET4;
		__builtin_memcpy(&to.ipv4_nh, way->next_hop.bytes + 12, 4);
	} else {
		to.nh_family = AF_INET6;
		__builtin_memcpy(to.ipv6_nh, way->next_hop.bytes, 16);
	}
	return bpf_redirect_neigh(way->ifindex, &to, sizeof(to), 0);
}

/*
 * l2, an IPv6 packet to a backend known by its IPv4 address: bpf_redirect_neigh knows IPv4 next
 * hops for IPv4 alone, so the kernel is asked for the MACs. It answers because control lets the
 * device forward.
 */
static int way_take_by_fib(struct __sk_buff *skb, const struct gw_probe_way *way)
{
	struct bpf_fib_lookup fib = {.family = AF_INET4, .ifindex = skb->ifindex};

	__builtin_memcpy(&fib.ipv4_src, way->backend.outer_source.bytes + 12, 4);
	__builtin_memcpy(&fib.ipv4_dst, way->backend.outer_destination.bytes + 12, 4);
	if (bpf_fib_lookup(skb, &fib, sizeof(fib), 0) != BPF_FIB_LKUP_RET_SUCCESS)
		return TC_ACT_SHOT;
	if (bpf_skb_store_bytes(skb, 0, fib.dmac, 6, 0) ||
		bpf_skb_store_bytes(skb, 6, fib.smac, 6, 0))
		return TC_ACT_SHOT;
	return bpf_redirect(fib.ifindex, 0);
}

SEC("tc")
int gw_probe_encap(struct __sk_buff *skb)
{
	uint32_t index = (skb->mark & mark_mask) >> mark_shift;
	const struct gw_probe_way *way = bpf_map_lookup_elem(&gw_probe_ways, &index);
	struct gw_packet packet = {};
	struct gw_backend backend;
	uint16_t sum = 0;
	uint8_t *frame, *end;

	if (!way || !way->ifindex)
		return TC_ACT_SHOT;
	if (skb->len < GW_ETH_HEADER + GW_IPV4_HEADER ||
		bpf_skb_pull_data(skb, skb->len < GW_ETH_HEADER + GW_IPV6_HEADER
					       ? GW_ETH_HEADER + GW_IPV4_HEADER
					       : GW_ETH_HEADER + GW_IPV6_HEADER))
		return TC_ACT_SHOT;
	frame = (uint8_t *)(long)skb->data;
	end = (uint8_t *)(long)skb->data_end;
	if (frame + GW_ETH_HEADER > end)
		return TC_ACT_SHOT;
	if (!packet_read(frame + GW_ETH_HEADER, end, &packet))
		return TC_ACT_SHOT;
	backend = way->backend;
	skb->mark = 0; /* from here on it is routed like any packet of ours */
	if (backend.encap == GW_ENCAP_L2)
		return packet.family == GW_IPV6 && way->next_hop_family == GW_IPV4
			       ? way_take_by_fib(skb, way)
			       : way_take(way);
	if (gw_encap_wants_sum(&backend)) {
		if (frame + GW_ETH_HEADER + GW_IPV4_HEADER > end)
			return TC_ACT_SHOT;
		sum = packet_sum(frame + GW_ETH_HEADER, &packet);
	}
	if (bpf_skb_adjust_room(skb, backend.overhead, BPF_ADJ_ROOM_MAC, room_flags(&backend)))
		return TC_ACT_SHOT;
	if (!headers_write(skb, &backend, &packet, index, sum))
		return TC_ACT_SHOT;
	return way_take(way);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
