/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live next hops for the workers: what the kernel's routes and neighbours say (base/resolver.h) of
 * each address in engine->hops is written into its entry. Belongs to the host thread.
 *
 * A hop's egress interface must be the kernel interface of one of our ports; one that leads
 * elsewhere stays unresolved, and its packets are counted no_neighbour. A link that came resolved
 * with the snapshot stays until the kernel has a better answer once.
 */
#pragma once

struct gw_engine;
struct gw_neighbours;

/* Opens netlink in this network namespace. 0 or -errno; the caller owns *out. */
int gw_neighbours_open(struct gw_engine *engine, struct gw_neighbours **out);
void gw_neighbours_close(struct gw_neighbours *neighbours); /* NULL is fine */

/* To poll for reading. */
int gw_neighbours_fd(const struct gw_neighbours *neighbours);
void gw_neighbours_process(struct gw_neighbours *neighbours);

/* Every GW_RESOLVER_TICK_MS, and at once when a new generation came: also takes over its set of
 * hops. */
void gw_neighbours_tick(struct gw_neighbours *neighbours);
