/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * guideway-bench, XDP by test runs: what runs in front of the balancer on each repetition. The
 * kernel hands a repeated test run the frame as the last repetition left it, so a feeder first
 * makes it the next flow's frame again and then tail-calls what is measured:
 *
 *	feed_balancer → guideway_lb     the subject
 *	feed_bound    → bench_bound     the least that encapsulation takes: head moved, MACs swapped
 *	feed_nothing  → bench_nothing   the feeder alone, which user space subtracts
 *
 * One feeder each, because a tail call to a constant place is a plain jump.
 */
#include "bench_feed.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

const volatile bool feed_is_ipv6;
struct bench_feed feed;
int bound_headroom; /* what the case's encapsulation puts in front */

#define MACS 12

/* User space fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, BENCH_NEXT_COUNT);
	__type(key, __u32);
	__type(value, __u32);
} feed_next SEC(".maps");

SEC("xdp.frags")
int bench_nothing(struct xdp_md *ctx)
{
	return XDP_TX;
}

SEC("xdp.frags")
int bench_bound(struct xdp_md *ctx)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data;
	uint64_t first;
	uint32_t second;

	if (frame + MACS > (uint8_t *)(long)ctx->data_end)
		return XDP_ABORTED;
	first = *(uint64_t *)frame;
	second = *(uint32_t *)(frame + 8);
	if (bpf_xdp_adjust_head(ctx, -bound_headroom))
		return XDP_ABORTED;
	frame = (uint8_t *)(long)ctx->data;
	if (frame + MACS > (uint8_t *)(long)ctx->data_end)
		return XDP_ABORTED;
	feed_macs_swapped(frame, first, second);
	return XDP_TX;
}

#define FEEDER(name, next)                                                                         \
	SEC("xdp.frags")                                                                           \
	int name(struct xdp_md *ctx)                                                               \
	{                                                                                          \
		if (feed_frame(ctx, &feed, feed_is_ipv6))                                          \
			bpf_tail_call_static(ctx, &feed_next, next);                               \
		feed.failed++;                                                                     \
		return XDP_ABORTED;                                                                \
	}

FEEDER(feed_balancer, BENCH_NEXT_BALANCER)
FEEDER(feed_bound, BENCH_NEXT_BOUND)
FEEDER(feed_nothing, BENCH_NEXT_NOTHING)

char LICENSE[] SEC("license") = "Dual BSD/GPL";
