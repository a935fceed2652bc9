/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packet path. A burst of frames goes through a short, fixed list of stages, each in a file of
 * its own and called directly on the whole burst, with prefetches between them:
 *
 *	common.c   reads the frame that nearly all are, in one go; the rest is left to these two:
 *	parse.c    whose frame is it, and where is it going          -> host, consumed, drop
 *	service.c  service address, transport header, service, hash  -> host, drop
 *	flow.c     tracked flows keep their backend
 *	select.c   the rest get theirs from the pool's table         -> drop
 *	rare.c     ICMP and fragments, when the burst has any        -> reply, held, drop
 *	encap.c    outer headers and the frame for the next hop      -> drop
 *	tx.c       one buffer per egress port
 *
 * A packet of a service that tracks no flows (GW_SERVICE_UNTRACKED) has no place in the flow table:
 * its bit of burst->untracked sends it past flow.c to the pool's table.
 *
 * A stage works through burst->live, the packets that still are in the pipeline, and takes those
 * out that are decided. At the end every packet has one verdict, and pipeline.c hands it over,
 * frees it and counts it: rx = tx + to_host + replied + consumed + held + sum of drops.
 *
 * Nothing here allocates, locks, logs or calls the system. Many workers run at once; what they
 * share is the generation (immutable, read between two quiescent states), the live next hops (two
 * words each, read at once) and the flow table (words changed by compare-and-swap).
 */
#pragma once

#include "abi/dataplane_socket.h"
#include "abi/flow_place.h"
#include "abi/packet.h"
#include "abi/parse.h"
#include "abi/verdict.h"
#include "abi/xdp_maps.h"
#include "generation.h"
#include "key_hash.h"
#include "next_hop.h"
#include "port.h"

#include <rte_branch_prediction.h>
#include <rte_interrupts.h>
#include <rte_mbuf.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#define GW_BURST_MAX   64
#define GW_WORKERS_MAX 64
#define GW_PIECES_MAX  512 /* of all packets of a burst that leave in several frames */

struct gw_departure;
struct gw_engine;
struct gw_hold;
struct gw_service_seen;

/* What became of one packet. */
struct gw_result {
	uint64_t hash;	  /* of the key as the affinity sees it: gw_burst_hash makes and reads it */
	uint32_t service; /* GW_NONE: none matched */
	uint32_t backend; /* global id; GW_NONE: none chosen */
	uint32_t slot;	  /* table slot; GW_NONE when the table was not asked (a tracked flow) */
	uint16_t egress;  /* port index, for verdicts TX and REPLY */
	uint8_t verdict;  /* enum gw_verdict */
	uint8_t reason;	  /* enum gw_drop when verdict is DROP */
	uint8_t flow;	  /* enum gw_trace_flow */
	uint8_t event;	  /* enum gw_flow_event */
	bool hashed;	  /* `hash` is made */
	uint16_t piece_first; /* of worker->piece, where the packet leaves in several … */
	uint16_t piece_count; /* … frames; else 0 */
};

/* One burst on its way. Arrays are indexed by the packet's place in the burst. */
struct gw_burst {
	uint16_t count;
	uint16_t port; /* ingress, by index */
	uint16_t live_count;
	uint16_t miss_count;
	uint16_t rare_count;
	bool alike;	    /* all leave as one frame each, by the same port */
	uint64_t untracked; /* places of packets of services that track no flows, one bit each */
	uint64_t common;    /* places of those that the common stage took, one bit each */
	uint8_t live[GW_BURST_MAX]; /* places of the packets not yet decided, in order */
	uint8_t miss[GW_BURST_MAX]; /* of those, the ones the flow table did not settle */
	uint8_t rare[GW_BURST_MAX]; /* ICMP, fragments of all kinds: for the rare stage, in order */
	struct rte_mbuf *mbuf[GW_BURST_MAX];
	const struct gw_vip *vip[GW_BURST_MAX];
	uint32_t service_word[GW_BURST_MAX]; /* of those that live: gw_service_word */
	struct gw_flow_place place[GW_BURST_MAX];
	uint32_t flow_slot[GW_BURST_MAX]; /* where a tracked flow stands that has to move, … */
	uint64_t flow_word[GW_BURST_MAX]; /* … and as what; else GW_FLOW_NOWHERE */
	struct gw_result result[GW_BURST_MAX];
	struct gw_packet packet[GW_BURST_MAX];
};

/* Frames on their way out of one port, by one worker's own queue. */
struct gw_tx_buffer {
	uint16_t ethdev;
	uint16_t queue;
	uint16_t count;
	uint16_t reserved;
	struct rte_mbuf *mbuf[GW_BURST_MAX];
};

/* A service address that a worker has met; vip points into the view. */
struct gw_vip_seen {
	struct gw_address address;
	const struct gw_vip *vip; /* NULL: nothing remembered here */
};

#define GW_VIP_SEEN_BITS 7

/* The longest frame that arrives in pieces, made whole for the parser only. */
#define GW_SCRATCH_SIZE 65600

/*
 * One worker. Each field says who writes it; who does not write it only reads it.
 */
struct gw_worker {
	/* Written by main before the thread starts. */
	struct gw_engine *engine;
	struct rte_ring *to_host;	    /* frames for the host's stack; NULL: none takes them */
	struct rte_ring *from_host;	    /* the host's frames, mbuf->port is the egress index */
	struct gw_departure *departure;	    /* [GW_MAX_BACKENDS], the worker writes its contents */
	struct gw_traffic *service_traffic; /* [GW_MAX_SERVICES], same; service_traffic.h */
	uint64_t *service_brief;	    /* [GW_MAX_SERVICES], same */
	struct gw_hold *hold;		    /* later fragments before their first; fragment.h */
	uint32_t index;			    /* also its queue on every port and its RCU id */
	uint32_t cpu;
	int socket;
	int wake_fd; /* eventfd: the host thread writes it when it has frames and stats.asleep is
			set */
	struct rte_epoll_event wake_event; /* its registration; the worker's */
	bool busy_poll;

	/* Written by main at any time (atomic). */
	bool stop __rte_cache_aligned;

	/* Written by the worker alone, read by nobody else. */
	const struct gw_view *view __rte_cache_aligned; /* valid during one burst */
	uint32_t now;					/* CLOCK_MONOTONIC, seconds */
	uint64_t now_ns;				/* the same clock, as of the latest poll */
	uint32_t tx_pending;  /* ports with frames in their buffer, one bit each */
	uint64_t next_second; /* TSC at which the clock is read again */
	uint64_t clock_tsc;   /* TSC of its last reading … */
	uint64_t clock_ns;    /* … and what it said */
	uint64_t tsc_ns;      /* nanoseconds a TSC tick, times 2^32 */
	struct gw_burst burst;
	struct gw_tx_buffer tx[GW_PORTS_MAX];
	uint8_t *scratch; /* GW_SCRATCH_SIZE bytes */
	uint16_t piece_count;
	struct rte_mbuf *piece[GW_PIECES_MAX]; /* fragment_inner.c */
	uint64_t seen_version;		       /* of the view that what has been seen is of */
	uint64_t service_seen_version;	       /* the same view's services_version */
	struct gw_service_seen *service_seen;  /* [GW_SERVICE_SEEN_MAX]; service_seen.h */
	uint32_t service_seen_mask;
	uint32_t service_seen_epoch;
	bool service_seen_many;		     /* more than the first cache holds: fetched ahead */
	uint32_t departure_epoch;	     /* departure.h; lines of another are void */
	uint32_t departure_changes;	     /* of next hops, that this epoch knows */
	uint64_t departure_version;	     /* the view's backends_version that it knows */
	struct gw_flow_secrets flow_secrets; /* of the engine's flow table */
	struct gw_key_seed table_seed;	     /* of the view */
	struct gw_vip_seen vip_seen[1 << GW_VIP_SEEN_BITS];

	/* Written by the worker, read by main at any time. */
	struct gw_worker_stats stats __rte_cache_aligned;
	uint32_t service_settles; /* (atomic) service_traffic.h */
};

/*
 * Runs one burst (at most GW_BURST_MAX frames from one port) to its end: decides, hands over and
 * counts. Takes the mbufs. Frames that leave by a port wait in its buffer until gw_tx_flush. What
 * became of each packet stands in worker->burst.result until the next call (the mbufs are gone).
 * worker->now is the time; worker->view is set here from the engine's generation. Called by the
 * worker's own thread, which is online to the engine's RCU.
 */
void gw_pipeline_run(
	struct gw_worker *worker, uint16_t port, struct rte_mbuf **mbufs, uint16_t count);

/* Takes the snapshot in force into worker->view, which may be NULL. */
void gw_pipeline_enter(struct gw_worker *worker);

/* Hands each packet of a burst over by its verdict and counts it. */
void gw_burst_finish(struct gw_worker *worker, struct gw_burst *burst);

/* The stages, in this order; parse and service see only what common leaves. */
void gw_stage_common(struct gw_worker *worker, struct gw_burst *burst);
void gw_stage_parse(struct gw_worker *worker, struct gw_burst *burst);
void gw_stage_service(struct gw_worker *worker, struct gw_burst *burst);
void gw_stage_flow(struct gw_worker *worker, struct gw_burst *burst);
void gw_stage_select(struct gw_worker *worker, struct gw_burst *burst);
void gw_stage_rare(struct gw_worker *worker, struct gw_burst *burst);
void gw_stage_encap(struct gw_worker *worker, struct gw_burst *burst);

/*
 * What is rare, out of line. Each handles the packet at place i of the burst and leaves its verdict
 * in burst->result[i], except that gw_icmp and gw_fragment_later return true for one that goes on
 * to the backend which they have put into the result, with service and hash.
 */
bool gw_icmp(struct gw_worker *worker, struct gw_burst *burst, uint8_t i);
bool gw_fragment_later(struct gw_worker *worker, struct gw_burst *burst, uint8_t i);

/* Remembers where a first fragment goes, or that it goes nowhere, for the later ones. */
void gw_fragment_first(struct gw_worker *worker, struct gw_burst *burst, uint8_t i);

/* A packet that exceeds what `mtu` of the egress link leaves. */
void gw_too_big(struct gw_worker *worker, struct gw_burst *burst, uint8_t i, uint32_t mtu);

/*
 * Fragments the inner packet at place i, larger than `mtu` of the link leaves and without DF, and
 * encapsulates each piece whole.
 */
void gw_fragment_inner(struct gw_worker *worker, struct gw_burst *burst, uint8_t i,
	const struct gw_link *link, uint32_t mtu);

/* Queues the pieces of a packet that has become several frames, and frees the packet. */
void gw_fragment_push(
	struct gw_worker *worker, const struct gw_result *result, struct rte_mbuf *mbuf);

/*
 * Puts the outer headers and the link's Ethernet header before a packet that begins at
 * packet->l3_offset of the frame, in place. False: no room.
 */
bool gw_encap_frame(struct rte_mbuf *mbuf, const struct gw_packet *packet,
	const struct gw_backend *backend, uint64_t hash, const struct gw_link *link);

/* Sends what a buffer holds. */
void gw_tx_send(struct gw_worker *worker, struct gw_tx_buffer *buffer);

/* Queues a frame on a port; sends those before it when the buffer is full. Takes the mbuf. */
static inline void gw_tx_push(struct gw_worker *worker, uint16_t port, struct rte_mbuf *mbuf)
{
	struct gw_tx_buffer *buffer = &worker->tx[port];

	if (unlikely(buffer->count == GW_BURST_MAX))
		gw_tx_send(worker, buffer);
	buffer->mbuf[buffer->count++] = mbuf;
	worker->tx_pending |= 1u << port;
}

/* The same for up to GW_BURST_MAX frames. */
void gw_tx_push_all(
	struct gw_worker *worker, uint16_t port, struct rte_mbuf **mbufs, uint16_t count);

/* Sends what waits; what a queue refuses is freed and counted (tx_full). */
void gw_tx_flush(struct gw_worker *worker);

/*
 * One segment that nobody else holds: its lengths are the frame's, its bytes ours to write. Two
 * adjacent fields of the mbuf, read at once.
 */
static inline bool gw_mbuf_is_plain(const struct rte_mbuf *mbuf)
{
	_Static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, refcnt) + 2,
		"refcnt and nb_segs are one word");

	return GW_WIRE_LOAD(uint32_t, (const uint8_t *)mbuf + offsetof(struct rte_mbuf, refcnt)) ==
	       0x00010001;
}

/*
 * The hash of a packet's key as the affinity of its service sees it: what chooses the slot, and
 * varies by flow in outer headers. Most packets of tracked flows never need it. A service must have
 * matched, and worker->view be the one that it is of.
 */
uint64_t gw_burst_hash_make(struct gw_worker *worker, struct gw_burst *burst, uint8_t i);

static inline uint64_t gw_burst_hash(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	return burst->result[i].hashed ? burst->result[i].hash
				       : gw_burst_hash_make(worker, burst, i);
}

static inline void gw_result_hash(struct gw_result *result, uint64_t hash)
{
	result->hash = hash;
	result->hashed = true;
}

static inline void gw_result_drop(struct gw_result *result, enum gw_drop reason)
{
	result->verdict = GW_VERDICT_DROP;
	result->reason = (uint8_t)reason;
}

/* Takes what a parse function returned (abi/parse.h); true when the packet goes on. */
static inline bool gw_result_parsed(struct gw_result *result, int parsed)
{
	if (likely(parsed == GW_PARSE_OK))
		return true;
	if (parsed == GW_PARSE_HOST)
		result->verdict = GW_VERDICT_HOST;
	else
		gw_result_drop(result, (enum gw_drop)parsed);
	return false;
}

/*
 * A counter that one thread writes and another reads: plain speed, no torn values. On x86 it is one
 * instruction (without a lock), of which compilers make three when told in C.
 */
static inline void gw_count(uint64_t *counter, uint64_t by)
{
#ifdef __x86_64__
	__asm__("addq %1, %0" : "+m"(*counter) : "er"(by) : "cc");
#else
	__atomic_store_n(counter, *counter + by, __ATOMIC_RELAXED);
#endif
}
