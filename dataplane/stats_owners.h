/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose a number's traffic is. Workers count by number and never start anew, while a number goes
 * to another backend or service some time after its owner left (quarantine); what the former owner
 * had is taken off, so that nobody's counters begin with somebody else's.
 *
 * A backend that comes back to its number (same pool, same address) goes on where it was. A service
 * has nothing but its number here: it begins anew. Main only.
 */
#pragma once

#include "abi/objects.h"
#include "abi/verdict.h"

#include <stdbool.h>
#include <stddef.h>

struct gw_stats_owner;

struct gw_stats_owners {
	struct gw_stats_owner *list;
	size_t count;
};

/* Room for numbers below `count`; without memory the rest counts from nobody's beginning. */
void gw_stats_owners_fit(struct gw_stats_owners *owners, size_t count);
void gw_stats_owners_free(struct gw_stats_owners *owners);

/* Of `raw`, all that workers ever counted for the number, what is the owner's. */
struct gw_traffic gw_stats_owner_backend(struct gw_stats_owners *owners, uint32_t id,
	const struct gw_backend *backend, struct gw_traffic raw);
struct gw_traffic gw_stats_owner_service(
	struct gw_stats_owners *owners, uint32_t id, bool in_use, struct gw_traffic raw);
