/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Passes every frame. A veth interface receives what its peer sends by XDP_TX or XDP_REDIRECT only
 * while it runs NAPI itself, which it does when it has an XDP program: this one is for that end of
 * the pair.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

SEC("xdp.frags")
int gw_pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
