/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* ICMP and ICMPv6 to a service address. */
#pragma once

#include "lb_maps.h"
#include "lb_state.h"

__noinline int lb_icmp(struct xdp_md *ctx, struct lb_state *state)
{
	if (!state)
		return GW_DROP_ICMP_OTHER;
	return GW_DROP_ICMP_OTHER;
}
