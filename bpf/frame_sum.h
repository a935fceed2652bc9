/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Ones' complement sums (RFC 1071) over as much of a frame as there is, in one buffer or in
 * several, for checksums that cannot be made from headers alone. The frame is copied piece by piece
 * into a scratch of this CPU and summed there by the kernel's helper: two calls for each 512 bytes
 * instead of hundreds of instructions.
 */
#pragma once

#include "abi/encap.h"
#include "abi/verifier.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define SUM_PIECE    512 /* the most that bpf_csum_diff takes before Linux 6.13 */
#define SUM_PIECES   (65536 / SUM_PIECE + 1)
#define SUM_BAD	     (-1)
#define SUM_LAST_MAX (SUM_PIECE / 4 - 1)

struct sum_piece {
	uint32_t word[SUM_PIECE / 4 + 2]; /* the verifier counts a little too far */
};

/*
 * A program stays on its CPU and is not entered again there while it sums. The name is like those
 * of the balancer's other maps, which are pinned and removed by it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct sum_piece);
} gw_sum_scratch SEC(".maps");

struct sum_walk {
	void *context; /* struct xdp_md or struct __sk_buff */
	uint32_t offset;
	uint32_t left;
	uint32_t sum; /* of words as the CPU loads them */
	uint32_t reserved;
};

/* The next piece's place and size, its last word zeroed for an odd end; NULL at the end. */
GW_INLINE struct sum_piece *sum_next(const struct sum_walk *walk, uint32_t *bytes)
{
	uint32_t zero = 0;
	struct sum_piece *piece = bpf_map_lookup_elem(&gw_sum_scratch, &zero);

	if (!piece || !walk->left)
		return NULL;
	*bytes = walk->left < SUM_PIECE ? walk->left : SUM_PIECE;
	piece->word[GW_BOUND((*bytes - 1) / 4, SUM_LAST_MAX)] = 0;
	*bytes = (uint32_t)GW_BOUND(*bytes - 1, SUM_PIECE - 1) + 1;
	return piece;
}

/* Adds the piece once it has been read. 0, or 1 to end the walk. */
GW_INLINE long sum_add(struct sum_walk *walk, struct sum_piece *piece, uint32_t bytes)
{
	int64_t sum = bpf_csum_diff(NULL, 0, piece->word, (bytes + 3) & ~3u, walk->sum);

	if (sum < 0)
		return 1;
	walk->sum = (uint32_t)sum;
	walk->offset += bytes;
	walk->left -= bytes;
	return 0;
}

/* The walk's sum, folded, as 16-bit words in network order; SUM_BAD when not all could be read. */
GW_INLINE int sum_result(const struct sum_walk *walk)
{
	uint32_t sum = walk->sum;

	if (walk->left)
		return SUM_BAD;
	sum = gw_encap_halves(sum);
	sum = gw_encap_halves(sum);
	return GW_NTOHS(sum);
}

static long sum_step_xdp(uint32_t index, void *context)
{
	struct sum_walk *walk = context;
	uint32_t bytes = 0;
	struct sum_piece *piece = sum_next(walk, &bytes);

	if (!piece || bpf_xdp_load_bytes(walk->context, walk->offset, piece->word, bytes))
		return 1;
	return sum_add(walk, piece, bytes);
}

static long sum_step_skb(uint32_t index, void *context)
{
	struct sum_walk *walk = context;
	uint32_t bytes = 0;
	struct sum_piece *piece = sum_next(walk, &bytes);

	if (!piece || bpf_skb_load_bytes(walk->context, walk->offset, piece->word, bytes))
		return 1;
	return sum_add(walk, piece, bytes);
}
