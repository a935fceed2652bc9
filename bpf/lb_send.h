/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The last step: the outer headers, the Ethernet header of the next hop, and out. The link is the
 * one that control keeps live in the backend's entry; once control has been silent for some seconds
 * the kernel's own routes and neighbours are asked instead, and the entry is the second choice.
 */
#pragma once

#include "abi/encap.h"
#include "abi/verdict.h"
#include "abi/xdp_maps.h"
#include "lb_maps.h"
#include "lb_path_mtu.h"
#include "lb_state.h"
#include "lb_sum.h"

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define LB_AF_INET  2
#define LB_AF_INET6 10

/* Where a frame goes: the two MACs, and an interface known by its index or as a port. */
struct lb_way {
	struct gw_link link;
	uint32_t ifindex;
	bool port; /* link.port says which; else redirect to ifindex directly */
};

/* A router is on the way: the lookup has put its address in the place of the one asked for. */
GW_INLINE bool lb_fib_off_link(const struct gw_backend *backend, const struct bpf_fib_lookup *fib)
{
	const uint32_t *wanted = (const uint32_t *)backend->outer_destination.bytes;
	uint32_t differ = 0;

	if (backend->family == GW_IPV4)
		return fib->family != LB_AF_INET || fib->ipv4_dst != wanted[3];
	for (int i = 0; i < 4; i++)
		differ |= fib->ipv6_dst[i] ^ wanted[i];
	return differ;
}

/*
 * The kernel's answer for the outer destination; false when it has no complete one, or one that l2
 * may not take.
 */
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
	if (backend->encap == GW_ENCAP_L2 && lb_fib_off_link(backend, &fib))
		return false;
	__builtin_memcpy(way->link.destination_mac, fib.dmac, 6);
	__builtin_memcpy(way->link.source_mac, fib.smac, 6);
	way->link.flags = GW_LINK_RESOLVED;
	way->ifindex = fib.ifindex;
	way->port = false;
	return true;
}

GW_INLINE bool lb_heartbeat_stale(const struct gw_xdp_config *config)
{
	return !(config->flags & GW_XDP_CLOCK_STOPPED) &&
	       (int64_t)(lb_now_ns(config) - config->heartbeat_ns) >
		       (int64_t)GW_XDP_HEARTBEAT_STALE_NS;
}

/* One of several ways, by the flow's hash. */
GW_INLINE void lb_way_choose(uint64_t hash, struct gw_link *link)
{
	uint32_t index = gw_link_record(link);
	const struct gw_paths *paths = bpf_map_lookup_elem(&gw_paths, &index);

	*link = paths ? gw_link_load(&paths->link[gw_paths_bucket(hash)]) : (struct gw_link){};
}

/* By way->link, one that is resolved; false when there is no such port. */
GW_INLINE bool lb_way_by_port(const struct gw_xdp_config *config, struct lb_way *way)
{
	uint32_t port = way->link.port;

	if (port >= GW_XDP_MAX_PORTS)
		return false;
	way->ifindex = config->port_ifindex[GW_BOUND(port, GW_XDP_MAX_PORTS - 1)];
	way->port = true;
	return true;
}

/* By way->link, which control keeps; false when it leads nowhere just now. */
GW_INLINE bool lb_way_from_link(
	const struct gw_xdp_config *config, uint64_t hash, struct lb_way *way)
{
	if (way->link.flags & GW_LINK_MULTIPATH)
		lb_way_choose(hash, &way->link);
	return way->link.flags & GW_LINK_RESOLVED && lb_way_by_port(config, way);
}

GW_INLINE bool lb_way_find(struct xdp_md *ctx, const struct gw_xdp_config *config,
	const struct gw_backend *backend, uint64_t hash, struct lb_way *way)
{
	/* What control left is tagged: the kernel's answer would not say so, and stays out. */
	way->link = gw_link_load(&backend->link);
	if (lb_heartbeat_stale(config) &&
		(way->link.flags & GW_LINK_MULTIPATH || !gw_link_vlan(&way->link)) &&
		lb_way_from_fib(ctx, backend, way))
		return true;
	return lb_way_from_link(config, hash, way);
}

/* The headers of what is plain (gw_encap_plain), at the start of a frame that has room for them. */
GW_INLINE int lb_headers_plain(struct xdp_md *ctx, const struct gw_packet *packet,
	const struct gw_backend *backend, uint8_t family, uint64_t hash, const struct gw_link *link)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;

	if (frame + GW_ETH_HEADER + GW_IPV4_HEADER > end)
		return GW_DROP_NO_HEADROOM;
	gw_encap_macs(frame, link);
	gw_wire_store16(frame + 12, gw_encap_ethertype(family));
	if (family == GW_IPV4) {
		gw_encap_plain_v4(frame + GW_ETH_HEADER, backend, packet, hash);
	} else {
		if (frame + GW_ETH_HEADER + GW_IPV6_HEADER > end)
			return GW_DROP_NO_HEADROOM;
		gw_encap_plain_v6(frame + GW_ETH_HEADER, backend, packet);
	}
	return LB_OK;
}

/* The headers of all else: tags, other modes, what varies by flow. */
GW_INLINE int lb_headers(struct xdp_md *ctx, const struct gw_packet *packet,
	const struct gw_backend *backend, uint64_t hash, uint16_t inner_sum,
	const struct gw_link *link)
{
	uint8_t *frame = (uint8_t *)(long)ctx->data, *end = (uint8_t *)(long)ctx->data_end;
	uint8_t *type = frame + 12;

	if (frame + GW_ETH_HEADER + GW_VLAN_TAG > end)
		return GW_DROP_NO_HEADROOM;
	gw_encap_macs(frame, link);
	if (gw_link_vlan(link)) {
		gw_wire_store32(type, (uint32_t)GW_ETHERTYPE_VLAN << 16 | gw_link_vlan(link));
		type += GW_VLAN_TAG;
	}
	if (type + 2 + GW_IPV4_HEADER > end)
		return GW_DROP_NO_HEADROOM;
	gw_wire_store16(type, gw_encap_ethertype(gw_encap_family(backend, packet)));
	if (backend->encap == GW_ENCAP_L2)
		return LB_OK;
	/* The inner packet is at least 20 bytes long, so these bounds hold in every mode. */
	if (backend->family == GW_IPV4) {
		if (type + 2 + GW_IPV4_HEADER + GW_GUE_HEADER > end)
			return GW_DROP_NO_HEADROOM;
		gw_encap_outer_v4(type + 2, backend, packet, hash);
	} else {
		if (type + 2 + GW_IPV6_HEADER + GW_GUE_HEADER > end)
			return GW_DROP_NO_HEADROOM;
		gw_encap_outer_v6(type + 2, backend, packet, hash, inner_sum);
	}
	return LB_OK;
}

/* Makes room in front and writes the headers. */
__noinline int lb_encapsulate_other(struct xdp_md *ctx, struct lb_outbound *out)
{
	struct gw_packet packet = {};
	const struct gw_backend *live;
	struct gw_backend backend;
	struct gw_link link;
	int grow, inner_sum = 0;

	if (!out)
		return GW_DROP_NO_HEADROOM;
	live = lb_backend_at(NULL, out->backend);
	if (!live)
		return GW_DROP_NO_BACKEND;
	backend = *live; /* control may be changing its mode: what is read once fits together */
	link = out->link;
	packet.l3_offset = out->l3_offset;
	packet.l3_length = out->l3_length;
	packet.family = out->family;
	packet.tos = out->tos;
	packet.ip_id = out->ip_id;
	packet.dont_fragment = out->dont_fragment;
	grow = (int)(backend.overhead + gw_encap_ethernet_size(&link)) - packet.l3_offset;
	if (gw_encap_wants_sum(&backend)) {
		inner_sum = lb_inner_sum(ctx, packet.l3_offset, packet.l3_length);
		if (inner_sum < 0)
			return GW_DROP_MALFORMED;
	}
	if (bpf_xdp_adjust_head(ctx, -grow))
		return GW_DROP_NO_HEADROOM;
	return lb_headers(ctx, &packet, &backend, out->hash, (uint16_t)inner_sum, &link);
}

/* Leaves the rest to lb_other; returns LB_OTHER. */
GW_INLINE int lb_leave_to_other(struct lb_outbound *out, const struct gw_packet *packet,
	uint64_t hash, uint32_t service, const struct gw_choice *choice, const struct gw_link *link)
{
	*out = (struct lb_outbound){.hash = hash,
		.link = *link,
		.backend = choice->backend,
		.service = service,
		.slot = choice->slot,
		.l3_length = packet->l3_length,
		.l3_offset = packet->l3_offset,
		.ip_id = packet->ip_id,
		.family = packet->family,
		.tos = packet->tos,
		.dont_fragment = packet->dont_fragment,
		.flow = (uint8_t)choice->flow};
	return LB_OTHER;
}

/* A frame that reaches its packet's end in one buffer of less than this has no other buffer. */
#define LB_BUFFERS_FROM 2048

/* Cuts Ethernet's padding off the end, makes room in front, writes the headers. */
GW_INLINE int lb_encapsulate(struct xdp_md *ctx, struct lb_state *state, uint32_t length,
	const struct gw_backend *backend, const struct gw_link *link, struct lb_outbound *out)
{
	const struct gw_packet *packet = &state->packet;
	uint32_t wanted = packet->l3_offset + packet->l3_length;
	uint8_t family = backend->family;
	int grow;

	/* `length` may be the first buffer's only, and padding, if any, is cut off the last one. */
	if (length > wanted || wanted >= LB_BUFFERS_FROM)
		length = (uint32_t)bpf_xdp_get_buff_len(ctx);
	if (length > wanted && bpf_xdp_adjust_tail(ctx, (int)(wanted - length)))
		return GW_DROP_MALFORMED;
	if (!gw_encap_plain(backend, link))
		return lb_leave_to_other(
			out, packet, state->hash, state->service, &state->choice, link);
	/* Not backend->overhead: control may be changing the mode, and what is read twice may
	 * differ. */
	grow = (family == GW_IPV4 ? GW_IPV4_HEADER : GW_IPV6_HEADER) + GW_ETH_HEADER -
	       packet->l3_offset;
	if (bpf_xdp_adjust_head(ctx, -grow))
		return GW_DROP_NO_HEADROOM;
	return lb_headers_plain(ctx, packet, backend, family, state->hash, link);
}

/* The program's return value for a frame that is ready to go. */
GW_INLINE int lb_action(struct xdp_md *ctx, const struct lb_way *way)
{
	if (way->ifindex == ctx->ingress_ifindex)
		return XDP_TX;
	if (way->port)
		return (int)bpf_redirect_map(&gw_tx_ports, way->link.port, 0);
	return (int)bpf_redirect(way->ifindex, 0);
}

/*
 * Sends the packet of the state, a frame of `length` bytes, to the backend. Returns LB_OK with the
 * XDP action in state->action, LB_OTHER with *out filled, or the enum gw_drop.
 */
GW_INLINE int lb_send(struct xdp_md *ctx, struct gw_xdp_config *config, struct lb_state *state,
	uint32_t length, const struct gw_backend *backend, struct lb_outbound *out)
{
	struct lb_way way = {};
	int result;

	if (gw_encap_too_big(&state->packet, backend, lb_egress_mtu(config, backend)))
		return GW_DROP_TOO_BIG;
	if (!lb_way_find(ctx, config, backend, state->hash, &way))
		return GW_DROP_NO_NEIGHBOUR;
	result = lb_encapsulate(ctx, state, length, backend, &way.link, out);
	if (result != LB_OK)
		return result;
	state->action = lb_action(ctx, &way);
	return LB_OK;
}
