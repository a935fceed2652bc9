/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Packets that, once encapsulated, exceed the egress MTU. */
#pragma once

#include "lb_maps.h"
#include "lb_state.h"

__noinline int lb_too_big(struct xdp_md *ctx, struct lb_state *state)
{
	if (!state)
		return GW_DROP_TOO_BIG;
	return GW_DROP_TOO_BIG;
}
