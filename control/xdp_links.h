/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live next hops for the XDP program: what base/resolver.h finds of each backend's address is
 * written into the backend's entry.
 */
#pragma once

#include "control/xdp_attach.h"
#include "control/xdp_tables.h"

#include <uv.h>

struct gw_xdp_links;

int gw_xdp_links_open(uv_loop_t *loop, struct gw_xdp_object *object, struct gw_xdp_ports *ports,
	struct gw_xdp_links **out);

/* The backends of this snapshot from now on; call it after each publish. 0 or -ENOMEM. */
int gw_xdp_links_follow(struct gw_xdp_links *links, const struct gw_snapshot *snapshot);

/* Gone after the loop's next turn. NULL is fine. */
void gw_xdp_links_close(struct gw_xdp_links *links);
