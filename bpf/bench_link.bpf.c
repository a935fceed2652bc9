/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * guideway-bench, XDP over a link. The generator is run by live frames (BPF_F_TEST_XDP_LIVE_FRAMES)
 * in the name of one end of a veth pair, so what it returns XDP_TX for goes through the pair; at
 * the other end is the balancer, or the bound; what comes back ends at the first end's link_arrive.
 *
 * A veth ring drops what it has no room for, so the generator never has more on their way than the
 * ring holds: it sends at the rate at which frames come back.
 */
#include "bench_link.h"

#include "bench_feed.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

const volatile bool feed_is_ipv6;
struct bench_feed feed;
struct bench_link_sent sent;
struct bench_link_arrived arrived;
struct bench_link_told told;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BENCH_LINK_SAMPLES);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct bench_link_sample);
} link_samples SEC(".maps");

/*
 * Without the generator the link is idle as soon as what was on its way is through: that time is
 * not the subject's. It is known to lie before the last arrival once a later frame has arrived.
 */
GW_INLINE void look_at_clock(void)
{
	uint64_t now;

	if (sent.runs++ % BENCH_LINK_LOOK)
		return;
	now = bpf_ktime_get_ns();
	if (sent.packets && now - sent.seen_ns > BENCH_LINK_AWAY_NS) {
		sent.gone_ns += now - sent.seen_ns - BENCH_LINK_AWAY_NS;
		sent.gone_packets = sent.packets;
	}
	sent.seen_ns = now;
}

SEC("xdp")
int link_generate(struct xdp_md *ctx)
{
	look_at_clock();
	if (sent.packets - sent.arrived >= sent.window) {
		sent.arrived = *(volatile uint64_t *)&told.packets;
		if (sent.arrived > sent.gone_packets) {
			sent.away_ns += sent.gone_ns;
			sent.gone_ns = 0;
		}
		if (sent.packets - sent.arrived >= sent.window) {
			sent.waited++;
			return XDP_DROP;
		}
	}
	if (!feed_frame(ctx, &feed, feed_is_ipv6)) {
		feed.failed++;
		return XDP_ABORTED;
	}
	if (!sent.packets)
		sent.begin_ns = bpf_ktime_get_ns();
	sent.packets++;
	return XDP_TX;
}

/* The bound: received, MACs swapped, sent. */
SEC("xdp.frags")
int link_bound(struct xdp_md *ctx)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data;

	if (frame + 12 > (uint8_t *)(long)ctx->data_end)
		return XDP_ABORTED;
	feed_macs_swapped(frame, *(uint64_t *)frame, *(uint32_t *)(frame + 8));
	return XDP_TX;
}

GW_INLINE void keep_sample(struct xdp_md *ctx)
{
	uint32_t place = (uint32_t)arrived.samples % BENCH_LINK_SAMPLES;
	struct bench_link_sample *sample = bpf_map_lookup_elem(&link_samples, &place);
	uint64_t last = (uint64_t)((void *)(long)ctx->data_end - (void *)(long)ctx->data);

	/* The length less one, so that Linux 6.1 knows: one byte at least. Pointers first. */
	asm volatile("" : "+r"(last));
	last--;
	asm volatile("" : "+r"(last));
	if (!sample || last >= sizeof(sample->bytes))
		return;
	if (bpf_xdp_load_bytes(ctx, 0, sample->bytes, (uint32_t)last + 1))
		return;
	sample->length = (uint32_t)last + 1;
	arrived.samples++;
}

SEC("xdp.frags")
int link_arrive(struct xdp_md *ctx)
{
	uint64_t packets = ++arrived.packets;

	if (packets % BENCH_LINK_TOLD == 0) {
		arrived.end_ns = bpf_ktime_get_ns();
		arrived.end_packets = packets;
		*(volatile uint64_t *)&told.packets = packets;
	}
	if (arrived.sample_every && packets % arrived.sample_every == 1)
		keep_sample(ctx);
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
