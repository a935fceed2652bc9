/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Fragments, for both datapaths (packets.md, "Fragments"). Only a datagram's first fragment has
 * ports, so only it can be decided; what was decided is remembered for a short while by what all
 * fragments of the datagram share, and the later ones follow it without touching any flow. A
 * datagram never splits between backends: where the decision is not known, or its backend may not
 * be used any more, a later fragment goes nowhere. Sources: RFC 791 (IPv4), RFC 8200, section 4.5
 * (IPv6).
 */
#pragma once

#include "abi/objects.h"
#include "abi/packet.h"

/* Decisions remembered at one time; the oldest make room. */
#define GW_FRAGMENT_DECISIONS 32768

#define GW_FRAGMENT_DEFAULT_MS 2000

/*
 * What the fragments of one datagram have in common. In IPv6 the protocol is the fragment header's
 * next header, which need not be the transport's: extension headers may stand between.
 */
struct gw_fragment_key {
	struct gw_address source;
	struct gw_address destination;
	uint32_t id;
	uint8_t protocol;
	uint8_t zero[3];
};
_Static_assert(sizeof(struct gw_fragment_key) == 40, "no padding: hashed and compared as bytes");

/* Where the first fragment went. */
struct gw_fragment_decision {
	uint64_t hash;	     /* its flow's, as the affinity sees it: the outer headers stay alike */
	uint64_t expires_ns; /* by the datapath's clock; from then on as if never made */
	uint32_t service;    /* GW_NONE: to the host */
	uint32_t backend;
};
_Static_assert(sizeof(struct gw_fragment_decision) == 24, "decision layout");

/* The addresses are given apart: by the time of the decision an affinity may have reduced the key.
 */
GW_INLINE void gw_fragment_key_make(struct gw_fragment_key *key, const struct gw_packet *packet,
	const struct gw_address *source, const struct gw_address *destination)
{
	*key = (struct gw_fragment_key){.source = *source,
		.destination = *destination,
		.id = packet->fragment_id,
		.protocol = packet->fragment_protocol};
}

/* How long a decision lasts, and a later fragment is held; `ms` is the snapshot's. */
GW_INLINE uint64_t gw_fragment_ns(uint32_t ms)
{
	return (ms ? ms : GW_FRAGMENT_DEFAULT_MS) * 1000000ull;
}

GW_INLINE bool gw_fragment_is_over(uint64_t expires_ns, uint64_t now_ns)
{
	return (int64_t)(expires_ns - now_ns) <= 0;
}

/*
 * May the rest of a datagram go where its first fragment went? Also to a backend that has failed
 * its checks since: no other one has the beginning. Not to one that was taken out.
 */
GW_INLINE bool gw_fragment_follows(const struct gw_backend *backend, uint32_t pool)
{
	return backend->pool == pool && backend->state != GW_BACKEND_FREE &&
	       backend->state != GW_BACKEND_DISABLED;
}
