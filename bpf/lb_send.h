/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The last step: the outer header, the Ethernet header of the next hop, and out. The link is the
 * one that control keeps live in the backend's entry; once control has been silent for some seconds
 * the kernel's own routes and neighbours are asked instead, and the entry is the second choice.
 */
#pragma once

#include "abi/encap.h"
#include "abi/verdict.h"
#include "abi/xdp_maps.h"
#include "lb_maps.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define LB_SEND_OK (-1)

#define LB_AF_INET  2
#define LB_AF_INET6 10

/* Where a frame goes: the two MACs, and an interface known by its index or as a port. */
struct lb_way {
	struct gw_link link;
	uint32_t ifindex;
	bool port; /* link.port says which; else redirect to ifindex directly */
};

/* The kernel's answer for the outer destination; false when it has no complete one. */
GW_INLINE bool lb_way_from_fib(
	struct xdp_md *ctx, const struct gw_backend *backend, struct lb_way *way)
{
	struct bpf_fib_lookup fib = {.ifindex = ctx->ingress_ifindex};

	if (backend->family == GW_IPV4) {
		fib.family = LB_AF_INET;
		__builtin_memcpy(&fib.ipv4_src, backend->outer_source.bytes + 12, 4);
		__builtin_memcpy(&fib.ipv4_dst, backend->outer_destination.bytes + 12, 4);
	} else {
		fib.family = LB_AF_INET6;
		__builtin_memcpy(fib.ipv6_src, backend->outer_source.bytes, 16);
		__builtin_memcpy(fib.ipv6_dst, backend->outer_destination.bytes, 16);
	}
	if (bpf_fib_lookup(ctx, &fib, sizeof(fib), 0) != BPF_FIB_LKUP_RET_SUCCESS)
		return false;
	__builtin_memcpy(way->link.destination_mac, fib.dmac, 6);
	__builtin_memcpy(way->link.source_mac, fib.smac, 6);
	way->ifindex = fib.ifindex;
	way->port = false;
	return true;
}

GW_INLINE bool lb_heartbeat_stale(const struct gw_xdp_config *config)
{
	int64_t silence;

	if (config->flags & GW_XDP_CLOCK_STOPPED)
		return false;
	silence = (int64_t)(bpf_ktime_get_coarse_ns() - config->heartbeat_ns);
	return silence > (int64_t)GW_XDP_HEARTBEAT_STALE_NS;
}

GW_INLINE bool lb_way_find(struct xdp_md *ctx, const struct gw_xdp_config *config,
	const struct gw_backend *backend, struct lb_way *way)
{
	uint32_t port;

	if (lb_heartbeat_stale(config) && lb_way_from_fib(ctx, backend, way))
		return true;
	way->link = gw_link_load(&backend->link);
	port = way->link.port;
	if (!(way->link.flags & GW_LINK_RESOLVED) || port >= GW_XDP_MAX_PORTS)
		return false;
	way->ifindex = config->port_ifindex[port];
	way->port = true;
	return true;
}

/* Makes room in front, cuts Ethernet's padding off the end, writes both headers. */
GW_INLINE int lb_encapsulate(struct xdp_md *ctx, const struct gw_packet *packet,
	const struct gw_backend *backend, uint64_t hash, const struct gw_link *link)
{
	uint32_t frame = (uint32_t)(ctx->data_end - ctx->data);
	uint32_t wanted = packet->l3_offset + packet->l3_length;
	int grow = (int)gw_encap_overhead(backend) - (packet->l3_offset - GW_ETH_HEADER);
	uint8_t *at, *end;

	if (frame > wanted && bpf_xdp_adjust_tail(ctx, (int)(wanted - frame)))
		return GW_DROP_MALFORMED;
	if (bpf_xdp_adjust_head(ctx, -grow))
		return GW_DROP_NO_HEADROOM;
	at = (uint8_t *)(long)ctx->data;
	end = (uint8_t *)(long)ctx->data_end;
	if (backend->family == GW_IPV4) {
		if (at + GW_ETH_HEADER + GW_IPV4_HEADER > end)
			return GW_DROP_NO_HEADROOM;
		gw_encap_ipv4(at + GW_ETH_HEADER, backend, packet, hash);
	} else {
		if (at + GW_ETH_HEADER + GW_IPV6_HEADER > end)
			return GW_DROP_NO_HEADROOM;
		gw_encap_ipv6(at + GW_ETH_HEADER, backend, packet);
	}
	gw_encap_ethernet(at, link, backend->family);
	return LB_SEND_OK;
}

/*
 * Sends the packet to the backend. Returns LB_SEND_OK with the XDP action in *action, or the enum
 * gw_drop.
 */
GW_INLINE int lb_send(struct xdp_md *ctx, const struct gw_xdp_config *config,
	const struct gw_packet *packet, const struct gw_backend *backend, uint64_t hash,
	int *action)
{
	struct lb_way way = {};
	int result;

	if (gw_encap_too_big(packet, backend, backend->mtu))
		return GW_DROP_TOO_BIG;
	if (!lb_way_find(ctx, config, backend, &way))
		return GW_DROP_NO_NEIGHBOUR;
	result = lb_encapsulate(ctx, packet, backend, hash, &way.link);
	if (result != LB_SEND_OK)
		return result;
	if (way.ifindex == ctx->ingress_ifindex)
		*action = XDP_TX;
	else if (way.port)
		*action = (int)bpf_redirect_map(&gw_tx_ports, way.link.port, 0);
	else
		*action = (int)bpf_redirect(way.ifindex, 0);
	return LB_SEND_OK;
}
