/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Path MTUs towards backends, learnt from routers (abi/path_mtu.h). As long as none is known a
 * packet pays for one load of a word in the configuration.
 */
#pragma once

#include "abi/path_mtu.h"
#include "lb_maps.h"
#include "lb_state.h"
#include "lb_sum.h"

/* What is learnt about the way to a backend; 0: nothing. */
static __noinline uint32_t lb_path_mtu(
	struct gw_xdp_config *config, const struct gw_backend *backend)
{
	const uint64_t *word = bpf_map_lookup_elem(&gw_path_mtus, &backend->outer_destination);
	uint32_t now = lb_seconds(config), until = config->path_mtu_until;

	/* Another CPU that learns at this moment wins. */
	if ((int32_t)(until - now) <= 0)
		__sync_val_compare_and_swap(&config->path_mtu_until, until, 0);
	return word ? gw_path_mtu_of(*word, now) : 0;
}

/* What a packet to this backend may measure outside. */
GW_INLINE uint32_t lb_egress_mtu(struct gw_xdp_config *config, const struct gw_backend *backend)
{
	uint32_t mtu = backend->mtu ? backend->mtu : GW_DEFAULT_MTU;

	return config->path_mtu_until ? gw_mtu_lower(mtu, lb_path_mtu(config, backend)) : mtu;
}

/* Notes what a report says; false when it teaches nothing. */
static __noinline bool lb_learn_report(
	struct gw_xdp_config *config, const struct gw_path_report *report, uint8_t family)
{
	const struct gw_endpoint *endpoint =
		bpf_map_lookup_elem(&gw_endpoints, &report->destination);
	uint32_t now = lb_seconds(config), known = 0;
	const struct gw_backend *backend;
	const uint64_t *old;
	uint64_t word;

	if (!endpoint || !gw_path_report_fits(report, endpoint->modes))
		return false;
		/* In a loop as it stands, without branches: unrolled, the verifier walks all
		 * combinations. */
#pragma clang loop unroll(disable)
	for (uint32_t i = 0; i < GW_PATH_MTU_SOURCES; i++)
		known = (uint32_t)GW_FORGET(
			known | gw_tunnel_source_has(&config->source[i], &report->source), now);
	backend = lb_backend_at(config, endpoint->backend);
	if (!known || !backend)
		return false;
	old = bpf_map_lookup_elem(&gw_path_mtus, &report->destination);
	word = gw_path_mtu_learn(old ? *old : 0, now, report->mtu,
		backend->mtu ? backend->mtu : GW_DEFAULT_MTU, family);
	if (!word || bpf_map_update_elem(&gw_path_mtus, &report->destination, &word, BPF_ANY))
		return false;
	config->path_mtu_until = (uint32_t)word;
	return true;
}

/* ICMP to no service address: LB_CONSUMED when it taught us a path MTU, else the host's. */
static __noinline int lb_learn(struct xdp_md *ctx, struct lb_state *state)
{
	const void *frame = (const void *)(long)ctx->data;
	const void *end = (const void *)(long)ctx->data_end;
	struct gw_packet *packet = &state->packet;
	struct gw_xdp_config *config = lb_config();
	struct lb_scratch *scratch = lb_scratch();
	struct gw_path_report *report;
	uint32_t length, bytes;
	int sum;

	if (!config || !scratch ||
		gw_parse_transport(frame, end, (uint32_t)bpf_xdp_get_buff_len(ctx), packet) !=
			GW_PARSE_ICMP)
		return LB_HOST;
	length = packet->l3_offset + packet->l3_length - packet->l4_offset;
	bytes = length < GW_PATH_REPORT_BYTES ? length : GW_PATH_REPORT_BYTES;
	bytes = GW_BOUND(bytes - 1, 0x3f) + 1;
	if (bpf_xdp_load_bytes(ctx, packet->l4_offset, scratch->bytes, bytes))
		return LB_HOST;
	report = (struct gw_path_report *)(scratch->bytes + 128);
	if (!gw_path_report_read(
		    scratch->bytes, length, packet->family, &packet->key.destination, report))
		return LB_HOST;
	sum = lb_inner_sum(ctx, packet->l4_offset, length);
	if (sum < 0 || !gw_icmp_sum_right(packet, (uint32_t)sum, length))
		return LB_HOST;
	return lb_learn_report(config, report, packet->family) ? LB_CONSUMED : LB_HOST;
}
