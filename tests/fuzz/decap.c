/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes through the decapsulator's judgement (bpf/decap_parse.h), in the order of its programs.
 * What it accepts must lie inside the frame. The sanitizers watch the reads.
 */
/* BPF reads frames where they lie; only bounds are the question here. */
#pragma clang attribute push(__attribute__((no_sanitize("alignment"))), apply_to = function)
#include "bpf/decap_parse.h"
#pragma clang attribute pop

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static int judge(const uint8_t *frame, const uint8_t *end, struct decap_plan *plan)
{
	const struct decap_wants wants = {.modes = GW_DECAP_MODES_ALL, .gue_port = bpf_htons(6080)};
	uint32_t length = (uint32_t)(end - frame);
	struct gw_decap_source source;
	int result = frame[12] == 0x08 && !frame[13]
			     ? outer_read_v4(
				       (const void *)(frame + ETH_HLEN), end, &wants, plan, &source)
			     : outer_read_v6((const void *)(frame + ETH_HLEN), end, &wants, plan,
				       &source);

	if (!result)
		result = outer_check(frame + ETH_HLEN, end, length - ETH_HLEN, plan);
	if (!result)
		result = inner_check(frame + ETH_HLEN + (plan->outer_len & OUTER_MASK), end, plan);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decap_plan plan = {};
	int result;

	if (size < ETH_HLEN)
		return 0;
	result = judge(data, data + size, &plan);
	require(result == 0 || result == DECAP_NOT_OURS ||
		(result >= GW_DECAP_NOT_ALLOWED && result < GW_DECAP_COUNT));
	if (result)
		return 0;
	require(plan.outer_len >= 20 && plan.outer_len <= OUTER_MAX);
	require(ETH_HLEN + plan.outer_len + plan.payload <= size);
	require(plan.payload >= (plan.inner_ipv6 ? 40 : 20));
	require(data[ETH_HLEN + plan.outer_len] >> 4 == (plan.inner_ipv6 ? 6 : 4));
	require(!plan.verify || plan.encap == GW_ENCAP_GUE);
	return 0;
}
