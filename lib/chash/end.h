/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of Jump, JumpBack and FlipHash: how many buckets there are, nothing else. Internal. */
#pragma once

#include "chash/buckets.h"

struct end_state {
	uint32_t count;
};

extern const struct bucket_ops end_buckets;

static inline uint32_t end_count(const struct gw_chash_view *view)
{
	return ((const struct end_state *)view->state)->count;
}

size_t end_memory(const struct gw_chash_view *view);
