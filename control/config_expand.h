/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Health by service address. A pool with `healthcheck: {via: tunnel}` is asked at a service
 * address, and a backend may lack one address and have the others; but a pool has one table, and a
 * backend's record, to which tracked flows hold on, belongs to one pool. So each further address
 * gets a pool of its own, "POOL@ADDRESS", with the same backends under numbers of their own, and
 * the services are split accordingly, "SERVICE@ADDRESS". All that follows (numbers, health, tables,
 * snapshots, probes) treats them as any other pool; equal members give equal tables.
 *
 * The first address in the file keeps the pool's own name, and so its numbers: a pool with one
 * address stays as it is, and adding an address behind it moves no flow.
 */
#pragma once

#include "model.h"

/*
 * Does that to a whole, valid configuration, in place; nothing where no pool asks for it. Returns
 * 0, -ENOMEM, or -E2BIG when there would be more pools, services or backends than possible; on
 * failure the configuration is of no use any more.
 */
int gw_config_expand(struct gw_config *config);
