/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The XDP program without an interface, for guideway-replay and tests: frames go through it by
 * BPF_PROG_TEST_RUN, with a clock of the caller's and the links of the snapshot's next hops.
 */
#pragma once

#include "control/xdp_tables.h"

/* A page less headroom and tail room: longer frames continue in further pages, at most 17. */
#define GW_XDP_TEST_RUN_PAGE 3520

struct gw_xdp_test_run {
	struct gw_xdp_object object;
	struct gw_xdp_tables tables;
};

/*
 * Needs CAP_BPF and CAP_NET_ADMIN. Logs what is wrong. 0 or -errno. Without `tracing` it is the
 * program as production loads it, which leaves out work that only a trace would show.
 */
int gw_xdp_test_run_open(struct gw_xdp_test_run *run, uint64_t flows, bool tracing);
void gw_xdp_test_run_close(struct gw_xdp_test_run *run);

/* Puts a snapshot in force whole, stale entries cleared. */
int gw_xdp_test_run_publish(
	struct gw_xdp_test_run *run, struct gw_snapshot *snapshot, char why[static GW_XDP_WHY]);

/*
 * One frame of at least 14 bytes (more than GW_XDP_TEST_RUN_PAGE come in several buffers, which
 * wants Linux 5.18) at the time `now_ns`. `out` has room for *out_length bytes and gets the frame
 * as the program left it. Returns the XDP action or -errno; the decision is in object.trace, if the
 * program traces.
 */
int gw_xdp_test_run_frame(struct gw_xdp_test_run *run, uint64_t now_ns, const void *frame,
	size_t length, void *out, size_t *out_length);
