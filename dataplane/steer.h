/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Steering of an af_xdp port: bpf/steer.bpf.c, which EAL loaded with xdp_prog=, hands DPDK the
 * packets for the service addresses in its maps, and what concerns them; this file keeps those maps
 * equal to the snapshot in force. Addresses that are new go in before those that left go out. Main
 * only.
 */
#pragma once

#include "generation.h"

struct gw_steer;

/*
 * Before the port is opened: makes this process the one that steers the interface, until it ends,
 * and takes away a steering program that an earlier one, killed, left attached (EAL would refuse to
 * attach over it). A program of anybody else stays. Returns 0; -EBUSY when another process steers
 * the interface in this network namespace; other -errno from the kernel.
 */
int gw_steer_take(const char *interface);

/*
 * Finds the program on the port's kernel interface. Returns 0 (the caller owns *out); -ENOENT: no
 * program there, or not ours (*why says which); other -errno from the kernel.
 */
int gw_steer_open(const char *interface, struct gw_steer **out, const char **why);
void gw_steer_close(struct gw_steer *steer); /* NULL is fine */

/* Makes the maps name exactly the view's service addresses and backends. Returns 0 or the first
 * -errno; what could be done is done. */
int gw_steer_update(struct gw_steer *steer, const struct gw_view *view);
