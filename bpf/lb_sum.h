/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Ones' complement sums over as much of a packet as there is, in one buffer or in several, for the
 * checksums that cannot be made from headers alone.
 */
#pragma once

#include "abi/encap.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define LB_SUM_CHUNK 64

struct lb_sum {
	struct xdp_md *ctx;
	uint32_t offset;
	uint32_t left;
	int64_t sum; /* as the CPU loads 16-bit words; negative: unreadable */
};

static long lb_sum_step(uint32_t index, void *context)
{
	struct lb_sum *walk = context;
	uint32_t piece[LB_SUM_CHUNK / 4] = {};
	uint32_t bytes = walk->left < LB_SUM_CHUNK ? walk->left : LB_SUM_CHUNK;
	int64_t sum;

	if (!bytes)
		return 1;
	bytes = GW_BOUND(bytes - 1, LB_SUM_CHUNK - 1) + 1;
	if (bpf_xdp_load_bytes(walk->ctx, walk->offset, piece, bytes))
		return 1;
	sum = bpf_csum_diff(NULL, 0, piece, sizeof(piece), (uint32_t)walk->sum);
	if (sum < 0)
		return 1;
	walk->sum = sum;
	walk->offset += bytes;
	walk->left -= bytes;
	return 0;
}

/*
 * The folded sum of `length` bytes from `offset` on, as 16-bit words in network order; below zero
 * when they cannot be read. At most 64 KiB.
 */
__noinline int lb_inner_sum(struct xdp_md *ctx, uint32_t offset, uint32_t length)
{
	struct lb_sum walk = {.ctx = ctx, .offset = offset, .left = length};
	uint32_t sum;

	bpf_loop(65536 / LB_SUM_CHUNK, lb_sum_step, &walk, 0);
	if (walk.left)
		return -1;
	sum = (uint32_t)walk.sum;
	sum = gw_encap_halves(sum);
	sum = gw_encap_halves(sum);
	return GW_NTOHS(sum);
}
