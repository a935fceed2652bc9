/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A snapshot into the maps. Order: backends, tables (one batch), services with their addresses and
 * ports; readers meanwhile see either the old or the new of each, never a half. What the new
 * snapshot no longer names is cleared by gw_xdp_tables_settle, later, when no packet can still be
 * on the way through it.
 */
#pragma once

#include "control/publisher.h"
#include "control/xdp_endpoints.h"
#include "control/xdp_object.h"

struct gw_xdp_known_pool;

struct gw_xdp_tables {
	struct gw_xdp_object *object;
	struct gw_snapshot *current;	 /* in force; NULL before the first */
	struct gw_xdp_known_pool *pools; /* [GW_MAX_POOLS] */
	struct gw_vip_key *vips;	 /* in the maps, sorted */
	size_t vip_count;
	struct gw_xdp_endpoints endpoints;
	uint32_t half;	      /* of the spans that is in use */
	bool settled;	      /* nothing of older snapshots is left */
	bool services_torn;   /* a publish failed on its way: the maps hold nobody's services */
	size_t rebuilt_pools; /* by the last publish */
};

int gw_xdp_tables_init(struct gw_xdp_tables *tables, struct gw_xdp_object *object);
void gw_xdp_tables_fini(struct gw_xdp_tables *tables);

/*
 * Puts it in force (takes a reference). `keep_links`: links in the maps are live and stay; else
 * those of the snapshot's next hops are written. Returns 0 or -errno with one line in `why`; on
 * failure what was in force still is, as far as it had been replaced whole.
 */
#define GW_XDP_WHY 200
int gw_xdp_tables_publish(struct gw_xdp_tables *tables, struct gw_snapshot *snapshot,
	bool keep_links, char why[static GW_XDP_WHY]);

/* At least a moment (an RCU grace period) after publish. */
void gw_xdp_tables_settle(struct gw_xdp_tables *tables);

/* Writes a link and MTU into a backend's entry, each word at once. */
void gw_xdp_link_store(struct gw_backend *backend, const struct gw_link *link, uint16_t mtu);
