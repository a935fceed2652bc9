/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a worker's packets leave to a backend, in one cache line: what the stages need of its record,
 * of its next hop and of its counters for nearly every packet. With thousands of backends those
 * three are a line each, and the lines of a burst more than the first cache holds.
 *
 * A line is made from the records when a packet first needs it, and is good for one epoch of its
 * worker. An epoch ends when a snapshot comes that has other backends, or a next hop changes
 * (hops->changes): gw_departures_check looks once a burst. Lines of older epochs keep their
 * counters.
 *
 * What does not leave in a straight line (encap.c) has kind GW_DEPART_OTHER and goes by the records
 * themselves, which stay the truth. So does the outer header's pair of IPv6 addresses, for which
 * there is no room here.
 */
#pragma once

#include "service_seen.h"

/* Kinds of outer headers that encap.c writes in a straight line. */
enum gw_depart_kind {
	GW_DEPART_OTHER = 0,
	GW_DEPART_IPIP4 = 1,
	GW_DEPART_GUE4 = 2,
	GW_DEPART_IPIP6 = 3, /* from here on the backend's record is needed too */
	GW_DEPART_GUE6 = 4,
};

#define GW_DEPART_KEEPS	    0x01 /* a tracked flow of its pool may stay (gw_backend_keeps_flow) … */
#define GW_DEPART_KEEPS_SYN 0x02 /* … with a SYN too */

struct gw_departure {
	/* Since the worker's start; main reads them at any time. */
	uint64_t packets;
	uint64_t bytes;
	uint64_t flows_new;

	uint64_t link[2]; /* the next hop's, a resolved one without a tag; else of no meaning */
	uint32_t epoch;	  /* of the worker's; 0: never made */
	uint32_t most;	  /* bytes that backend and next hop let leave */
	uint32_t source, destination; /* IPv4, outer, as in memory */
	uint32_t pool;		      /* as in gw_service_word, all else 0 */
	uint16_t gue_port;	      /* network order */
	uint8_t kind;		      /* enum gw_depart_kind */
	uint8_t keeps;		      /* GW_DEPART_KEEPS* */
} __rte_cache_aligned;
_Static_assert(sizeof(struct gw_departure) == GW_CACHE_LINE, "a departure is one cache line");

/* Makes the line of a backend; one that the view does not have keeps nothing. */
void gw_departure_make(struct gw_worker *worker, uint32_t backend);

/* Begins an epoch if what lines are made of may have changed. Once a burst, with a view. */
void gw_departures_check(struct gw_worker *worker);

/* The line of a backend (below GW_MAX_BACKENDS), good for this burst. */
static __rte_always_inline const struct gw_departure *gw_departure_of(
	struct gw_worker *worker, uint32_t backend)
{
	const struct gw_departure *departure = &worker->departure[backend];

	if (unlikely(departure->epoch != worker->departure_epoch))
		gw_departure_make(worker, backend);
	return departure;
}

/* gw_backend_keeps_flow, for a packet of that service (gw_service_word). */
static __rte_always_inline bool gw_departure_keeps(
	const struct gw_departure *departure, uint32_t service_word, bool syn)
{
	return !((departure->pool ^ service_word) >> GW_SERVICE_WORD_POOL) &&
	       departure->keeps & (syn ? GW_DEPART_KEEPS_SYN : GW_DEPART_KEEPS);
}
