/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The way of probes with `via: tunnel`: to a service address, through the encapsulation of one
 * backend, as the data path's own packets go.
 *
 * A probe's socket is marked (SO_MARK, the bits of healthcheck_mark): the highest bit says that it
 * is a probe, the others which way it takes. A rule by that bit routes what is marked to a device
 * that leads nowhere; at the device's egress bpf/probe_encap.bpf.c writes the outer headers of the
 * way and redirects the packet to the backend's next hop. So it does not matter where the kernel
 * would send packets for a service address (a blackhole, as often as not), and no interface in use
 * gets a program. Answers come from the service address straight to the node's own address.
 *
 * Device, rule and routes are made with the first way and removed with the last object; what a
 * killed daemon left is replaced. The routes to the backends are asked anew every second.
 *
 * Event loop's thread only.
 */
#pragma once

#include "abi/objects.h"
#include "control/model.h"

#include <uv.h>

#define GW_CHECK_TUNNEL_DEVICE "gw-probe"

struct gw_check_tunnel;

/* Makes nothing in the kernel yet. Returns 0 or -ENOMEM. */
int gw_check_tunnel_new(uv_loop_t *loop, struct gw_check_tunnel **out);

/* Removes what was made; its handles close on the loop's next turns. NULL is fine. */
void gw_check_tunnel_free(struct gw_check_tunnel *tunnel);

/* The mark's bits and the table. Only before the first way; later changes need a restart. */
void gw_check_tunnel_configure(
	struct gw_check_tunnel *tunnel, const struct gw_config_probe_mark *settings);

/*
 * A way by this record (encap, family, flags, gue_port, overhead and outer addresses count): the
 * mark for its sockets. Returns 0; -ENOSPC when the mark's bits name no more; or -errno, having
 * logged what cannot be made.
 */
int gw_check_tunnel_take(
	struct gw_check_tunnel *tunnel, const struct gw_backend *record, uint32_t *mark);

/* The way is not used any more. */
void gw_check_tunnel_give(struct gw_check_tunnel *tunnel, uint32_t mark);
