/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Later fragments that came before their first. A worker holds them, bounded in count and time, and
 * lets them go behind their first one, in the order in which they came; the first may have come to
 * another worker. Those whose first never comes expire. counters.held says how many are held now;
 * when one goes, its final verdict counts instead.
 */
#pragma once

#include "abi/fragment.h"
#include "pipeline.h"

#define GW_HELD_MAX 256

struct gw_held {
	struct rte_mbuf *mbuf;
	uint64_t expires_ns;
	uint16_t port; /* ingress */
	struct gw_packet packet;
};

/* A worker's; nobody else touches it, except `room`, which main writes before the start. */
struct gw_hold {
	uint16_t count;
	uint16_t room;		   /* at most so many, so that the port keeps its buffers */
	bool ready;		   /* a first one came here for which something is held */
	uint64_t seen;		   /* of the table's changes, when all were last looked up */
	uint64_t next_look;	   /* TSC before which changes elsewhere are not looked at */
	uint64_t look_every;	   /* TSC */
	uint32_t tag[GW_HELD_MAX]; /* of the keys; the same order as held */
	struct gw_held held[GW_HELD_MAX];
	struct gw_burst burst; /* of those that go */
	/*
	 * Replay's: told of each burst that goes, after its verdicts. Its mbufs name who was held,
	 * they are gone by then.
	 */
	void (*released)(void *owner, const struct gw_burst *burst);
	void *owner;
};

/*
 * Lets go what may go, and expires. Called by the worker after each burst and when idle, while
 * anything is held; sets worker->view. Returns how many went.
 */
uint32_t gw_fragment_poll(struct gw_worker *worker);

/* Frees all that are held, uncounted: the worker has ended. */
void gw_fragment_free(struct gw_hold *hold);
