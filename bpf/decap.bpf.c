/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The backend's side of `encap: ipip`, `gue` and `gre`: takes the outer headers off what balancers
 * send, and lets the stack see the client's packet for the service address, which the backend owns
 * on lo. For machines without tunnel modules, and for those that want the drops counted.
 *
 * Two programs do the same: gw_decap_tc at ingress (tcx or clsact; sees VLAN tags already removed
 * and packets already merged by GRO), gw_decap_xdp before the stack (untagged frames only). Frames
 * that are no tunnel packets pass on to the next program; so does, with its header removed, the
 * client's packet. Headers are judged in decap_parse.h. Counters and prefixes are maps that the
 * loader pins.
 */
#include "decap_parse.h"
#include "frame_sum.h"

#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <linux/if_packet.h>
#include <linux/pkt_cls.h>

/* Set by the loader: strangers' tunnel packets go on to the stack (another tunnel's, perhaps). */
const volatile bool pass_strangers;
const volatile __u32 modes;	/* GW_DECAP_MODE of each encapsulation to take */
const volatile __be16 gue_port; /* network order */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GW_DECAP_COUNT);
	__type(key, __u32);
	__type(value, struct gw_decap_count);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 1024);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct gw_decap_source);
	__type(value, __u32);
} sources SEC(".maps");

static __always_inline void count(__u32 counter, __u32 bytes)
{
	struct gw_decap_count *slot = bpf_map_lookup_elem(&counters, &counter);

	if (slot) {
		slot->packets++;
		slot->bytes += bytes;
	}
}

static __always_inline __u32 success_counter(const struct decap_plan *plan)
{
	if (plan->outer_ipv6)
		return plan->inner_ipv6 ? GW_DECAP_DECAP_6IN6 : GW_DECAP_DECAP_4IN6;
	return plan->inner_ipv6 ? GW_DECAP_DECAP_6IN4 : GW_DECAP_DECAP_4IN4;
}

static __always_inline void count_success(const struct decap_plan *plan, __u32 bytes)
{
	count(success_counter(plan), bytes);
	if (plan->encap != GW_ENCAP_IPIP)
		count(plan->encap == GW_ENCAP_GUE ? GW_DECAP_GUE : GW_DECAP_GRE, bytes);
	if (plan->rewrite && plan->outer_ecn == ECN_CE)
		count(GW_DECAP_CE_COPIED, bytes);
}

/* A tunnel packet from an allowed source returns 0; judged by its first bytes only. */
static __always_inline int tunnel_recognise(
	const void *data, const void *end, struct decap_plan *plan)
{
	const struct ethhdr *eth = data;
	struct decap_wants wants = {.modes = modes, .gue_port = gue_port};
	struct gw_decap_source source;
	int ret = DECAP_NOT_OURS;

	if ((const void *)(eth + 1) > end)
		return DECAP_NOT_OURS;
	if (eth->h_proto == bpf_htons(ETH_P_IP))
		ret = outer_read_v4(data + ETH_HLEN, end, &wants, plan, &source);
	else if (eth->h_proto == bpf_htons(ETH_P_IPV6))
		ret = outer_read_v6(data + ETH_HLEN, end, &wants, plan, &source);
	if (ret == 0 && !bpf_map_lookup_elem(&sources, &source))
		return pass_strangers ? DECAP_NOT_OURS : GW_DECAP_NOT_ALLOWED;
	return ret;
}

/* Judges the whole of a recognised packet; `length` is the frame's, Ethernet header included. */
static __always_inline int tunnel_check(
	const void *data, const void *end, __u32 length, struct decap_plan *plan)
{
	int ret = outer_check(data + ETH_HLEN, end, length - ETH_HLEN, plan);

	if (ret == 0)
		ret = inner_check(data + ETH_HLEN + (plan->outer_len & OUTER_MASK), end, plan);
	return ret;
}

/* What the UDP checksum covers: the header and the payload that UDP's length counts. */
static __always_inline struct sum_walk udp_walk(void *context, const struct decap_plan *plan)
{
	return (struct sum_walk){.context = context,
		.offset = ETH_HLEN + plan->ip_len,
		.left = sizeof(struct udphdr) + plan->payload,
		.sum = plan->pseudo};
}

/*
 * Takes the outer header away. bpf_skb_change_proto gives the skb its new protocol and header size
 * first, because bpf_skb_adjust_room measures what remains by the protocol that the skb has.
 */
static __always_inline int skb_strip(struct __sk_buff *skb, const struct decap_plan *plan)
{
	__be16 protocol = plan->inner_ipv6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP);
	__s32 strip = plan->outer_len;
	int ret;

	if (plan->inner_ipv6 != plan->outer_ipv6) {
		ret = bpf_skb_change_proto(skb, protocol, 0);
		if (ret < 0)
			return ret;
		strip += plan->inner_ipv6 ? 20 : -20;
	}
	if (strip > 0) {
		ret = bpf_skb_adjust_room(skb, -strip, BPF_ADJ_ROOM_MAC, BPF_F_ADJ_ROOM_FIXED_GSO);
		if (ret < 0)
			return ret;
	}
	ret = bpf_skb_store_bytes(
		skb, offsetof(struct ethhdr, h_proto), &protocol, sizeof(protocol), 0);
	if (ret < 0 || !plan->rewrite)
		return ret;
	ret = bpf_skb_store_bytes(
		skb, ETH_HLEN, &plan->word0, sizeof(plan->word0), BPF_F_RECOMPUTE_CSUM);
	if (ret < 0 || plan->inner_ipv6)
		return ret;
	return bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct iphdr, check), &plan->check,
		sizeof(plan->check), BPF_F_RECOMPUTE_CSUM);
}

/* Makes the first `bytes` of the frame directly readable, or as many as there are. */
static __always_inline void skb_pull(struct __sk_buff *skb, __u32 bytes)
{
	if (bytes > skb->len)
		bytes = skb->len;
	if ((void *)(long)skb->data + bytes > (void *)(long)skb->data_end)
		bpf_skb_pull_data(skb, bytes);
}

/* A packet of this very machine (veth) may have its checksum still to come: the stack knows. */
static __always_inline bool skb_sum_wrong(struct __sk_buff *skb, const struct decap_plan *plan)
{
	struct sum_walk walk = udp_walk(skb, plan);

	bpf_loop(SUM_PIECES, sum_step_skb, &walk, 0);
	return sum_result(&walk) != 0xffff;
}

SEC("tc")
int gw_decap_tc(struct __sk_buff *skb)
{
	__u32 length = skb->len;
	struct decap_plan plan = {};
	int ret;

	if (skb->pkt_type != PACKET_HOST)
		return TC_ACT_UNSPEC;
	skb_pull(skb, ETH_HLEN + OUTER_MAX);
	ret = tunnel_recognise((void *)(long)skb->data, (void *)(long)skb->data_end, &plan);
	if (ret == DECAP_NOT_OURS)
		return TC_ACT_UNSPEC;
	if (ret == 0) {
		skb_pull(skb, ETH_HLEN + OUTER_MAX + sizeof(struct ipv6hdr));
		ret = tunnel_check(
			(void *)(long)skb->data, (void *)(long)skb->data_end, length, &plan);
	}
	if (ret == 0 && plan.verify && skb_sum_wrong(skb, &plan))
		ret = GW_DECAP_UDP_CHECKSUM;
	if (ret == 0 && skb_strip(skb, &plan) < 0)
		ret = GW_DECAP_NO_MEMORY;
	if (ret) {
		count(ret, length);
		return TC_ACT_SHOT;
	}
	count_success(&plan, length);
	return TC_ACT_UNSPEC;
}

/* Moves the Ethernet header over the outer one and gives the outer's bytes back to the headroom. */
static __always_inline int xdp_strip(struct xdp_md *ctx, const struct decap_plan *plan)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr eth, *moved;
	struct iphdr *inner;

	if (data + sizeof(eth) > end)
		return -1;
	__builtin_memcpy(&eth, data, sizeof(eth));
	eth.h_proto = plan->inner_ipv6 ? bpf_htons(ETH_P_IPV6) : bpf_htons(ETH_P_IP);
	if (bpf_xdp_adjust_head(ctx, plan->outer_len & OUTER_MASK))
		return -1;
	moved = (void *)(long)ctx->data;
	end = (void *)(long)ctx->data_end;
	inner = (void *)(moved + 1);
	if ((void *)(inner + 1) > end)
		return -1;
	__builtin_memcpy(moved, &eth, sizeof(eth));
	if (plan->rewrite) {
		__builtin_memcpy(inner, &plan->word0, sizeof(plan->word0));
		if (!plan->inner_ipv6)
			inner->check = plan->check;
	}
	return 0;
}

static __always_inline bool xdp_sum_wrong(struct xdp_md *ctx, const struct decap_plan *plan)
{
	struct sum_walk walk = udp_walk(ctx, plan);

	bpf_loop(SUM_PIECES, sum_step_xdp, &walk, 0);
	return sum_result(&walk) != 0xffff;
}

SEC("xdp.frags")
int gw_decap_xdp(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	__u32 length = bpf_xdp_get_buff_len(ctx);
	struct decap_plan plan = {};
	int ret = tunnel_recognise(data, end, &plan);

	if (ret == DECAP_NOT_OURS)
		return XDP_PASS;
	if (ret == 0)
		ret = tunnel_check(data, end, length, &plan);
	if (ret == 0 && plan.verify && xdp_sum_wrong(ctx, &plan))
		ret = GW_DECAP_UDP_CHECKSUM;
	if (ret == 0 && xdp_strip(ctx, &plan))
		ret = GW_DECAP_NO_MEMORY;
	if (ret) {
		count(ret, length);
		return XDP_DROP;
	}
	count_success(&plan, length);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
