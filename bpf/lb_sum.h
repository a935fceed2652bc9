/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The sum of an inner packet, for the UDP checksum of GUE over IPv6. */
#pragma once

#include "frame_sum.h"

/*
 * The folded sum of `length` bytes from `offset` on, as 16-bit words in network order; SUM_BAD when
 * they cannot be read. At most 64 KiB.
 */
__noinline int lb_inner_sum(struct xdp_md *ctx, uint32_t offset, uint32_t length)
{
	struct sum_walk walk = {.context = ctx, .offset = offset, .left = length};

	bpf_loop(SUM_PIECES, sum_step_xdp, &walk, 0);
	return sum_result(&walk);
}
