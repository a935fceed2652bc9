/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fifth stage: the outer headers and the frame for the next hop (abi/encap.h). The frame's own
 * link-layer header and padding go, the inner packet stays byte for byte; what the receiving port
 * left in the mbuf's offload fields goes too, for this stage asks the sending port for nothing.
 */
#include "abi/encap.h"

#include "abi/path_mtu.h"
#include "departure.h"
#include "engine.h"
#include "pipeline.h"

#include <rte_ip.h>

#include <string.h>

/* Padding that fills whole segments. */
static __rte_noinline void trim_segments(struct rte_mbuf *mbuf, uint32_t excess)
{
	struct rte_mbuf *segment = mbuf;
	uint32_t keep = mbuf->pkt_len - excess;

	mbuf->pkt_len = keep;
	mbuf->nb_segs = 1;
	while (segment->data_len < keep) {
		keep -= segment->data_len;
		segment = segment->next;
		mbuf->nb_segs++;
	}
	segment->data_len = (uint16_t)keep;
	rte_pktmbuf_free(segment->next);
	segment->next = NULL;
}

/* Cuts what lies behind the IP packet: Ethernet's padding, in the last segments. */
static inline bool trim(struct rte_mbuf *mbuf, uint32_t excess)
{
	if (likely(excess < rte_pktmbuf_lastseg(mbuf)->data_len))
		return rte_pktmbuf_trim(mbuf, (uint16_t)excess) == 0;
	trim_segments(mbuf, excess);
	return true;
}

/* Leaves the frame's old header in one piece and ours to write, and no padding. */
static __rte_always_inline bool make_writable(struct rte_mbuf *mbuf, const struct gw_packet *packet)
{
	uint32_t excess;

	if (unlikely(mbuf->data_len < packet->l3_offset) && rte_pktmbuf_linearize(mbuf) != 0)
		return false;
	if (unlikely(rte_mbuf_refcnt_read(mbuf) != 1))
		return false;
	excess = mbuf->pkt_len - (packet->l3_offset + packet->l3_length);
	return likely(!excess) || trim(mbuf, excess);
}

/* Moves the frame's start to where the headers begin that leave. NULL: no room. */
static uint8_t *make_room(struct rte_mbuf *mbuf, const struct gw_packet *packet, uint32_t headers)
{
	if (!make_writable(mbuf, packet))
		return NULL;
	if (headers < packet->l3_offset)
		return (uint8_t *)rte_pktmbuf_adj(mbuf, (uint16_t)(packet->l3_offset - headers));
	return (uint8_t *)rte_pktmbuf_prepend(mbuf, (uint16_t)(headers - packet->l3_offset));
}

/*
 * The inner packet's sum, as gw_encap_gue wants it. Not by rte_raw_cksum_mbuf, which in DPDK 22.11
 * loses carries behind a segment of odd length.
 */
static uint16_t inner_sum(const struct rte_mbuf *mbuf, const struct gw_packet *packet)
{
	uint32_t skip = packet->l3_offset, left = packet->l3_length, done = 0, sum = 0;

	for (; mbuf && left; mbuf = mbuf->next) {
		uint32_t bytes = mbuf->data_len > skip ? mbuf->data_len - skip : 0;
		uint16_t part;

		bytes = RTE_MIN(bytes, left);
		part = rte_raw_cksum(rte_pktmbuf_mtod_offset(mbuf, const void *, skip), bytes);
		sum += done & 1 ? rte_bswap16(part) : part;
		skip -= RTE_MIN(skip, mbuf->data_len);
		done += bytes;
		left -= bytes;
	}
	sum = gw_encap_halves(sum);
	return GW_NTOHS((uint16_t)gw_encap_halves(sum));
}

static inline void clear_offloads(struct rte_mbuf *mbuf)
{
	mbuf->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	mbuf->tx_offload = 0;
	mbuf->packet_type = 0;
	mbuf->vlan_tci = 0;
}

/* What the packet may measure outside: the least of the pool's, the route's and the port's word. */
static uint32_t egress_mtu(const struct gw_engine *engine, const struct gw_backend *backend,
	const struct gw_live_hop *hop, const struct gw_link *link)
{
	uint32_t mtu = gw_mtu_lower(backend->mtu, hop->mtu);

	return link->port < engine->port_count ? gw_mtu_lower(mtu, engine->port[link->port].mtu)
					       : mtu;
}

/* The headers of all that is not straight (is_straight). False: no room. */
static __rte_noinline bool write_headers(struct rte_mbuf *mbuf, const struct gw_packet *packet,
	const struct gw_backend *backend, const struct gw_link *link, uint64_t hash)
{
	uint32_t ethernet = gw_encap_ethernet_size(link);
	uint16_t sum = gw_encap_wants_sum(backend) ? inner_sum(mbuf, packet) : 0;
	uint8_t *frame = make_room(mbuf, packet, ethernet + backend->overhead);

	if (!frame)
		return false;
	gw_encap_ethernet(frame, link, gw_encap_family(backend, packet));
	if (backend->encap == GW_ENCAP_L2)
		return true;
	if (backend->family == GW_IPV4)
		gw_encap_outer_v4(frame + ethernet, backend, packet, hash);
	else
		gw_encap_outer_v6(frame + ethernet, backend, packet, hash, sum);
	return true;
}

bool gw_encap_frame(struct rte_mbuf *mbuf, const struct gw_packet *packet,
	const struct gw_backend *backend, uint64_t hash, const struct gw_link *link)
{
	if (!write_headers(mbuf, packet, backend, link, hash))
		return false;
	clear_offloads(mbuf);
	return true;
}

static bool is_usable(const struct gw_engine *engine, const struct gw_link *link)
{
	return link->flags & GW_LINK_RESOLVED && link->port < engine->port_count;
}

/* Larger than `mtu` leaves: the client is told, or the packet cut. */
static __rte_noinline void handle_too_big(struct gw_worker *worker, struct gw_burst *burst,
	uint8_t i, const struct gw_link *link, uint32_t mtu)
{
	if (burst->packet[i].dont_fragment)
		gw_too_big(worker, burst, i, mtu);
	else if (!is_usable(worker->engine, link))
		gw_result_drop(&burst->result[i], GW_DROP_NO_NEIGHBOUR);
	else
		gw_fragment_inner(worker, burst, i, link, mtu);
}

/* Of several ways to a backend, the one of the flow's hash. */
static __rte_noinline struct gw_link choose_link(
	const struct gw_engine *engine, struct gw_link link, uint64_t hash)
{
	uint32_t record = gw_link_record(&link);

	if (record >= GW_MAX_PATHS)
		return (struct gw_link){};
	return gw_link_load(&engine->hops.paths[record].link[gw_paths_bucket(hash)]);
}

/* What is not common (encap_one). The order of the drops is XDP's too. */
static __rte_noinline void encap_other(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	const struct gw_engine *engine = worker->engine;
	const struct gw_packet *packet = &burst->packet[i];
	struct gw_result *result = &burst->result[i];
	struct rte_mbuf *mbuf = burst->mbuf[i];
	const struct gw_backend *backend = &worker->view->backend[result->backend];
	const struct gw_live_hop *hop = &engine->hops.live[backend->next_hop];
	struct gw_link link = gw_link_load(&hop->link);
	uint64_t hash = gw_burst_hash(worker, burst, i);
	uint32_t mtu;

	if (link.flags & GW_LINK_MULTIPATH)
		link = choose_link(engine, link, hash);
	mtu = egress_mtu(engine, backend, hop, &link);
	if (hop->path_mtu)
		mtu = gw_mtu_lower(mtu, gw_path_mtu_of(hop->path_mtu, worker->now));
	if (gw_encap_too_big(packet, backend, mtu)) {
		handle_too_big(worker, burst, i, &link, mtu ? mtu : GW_DEFAULT_MTU);
		return;
	}
	if (!is_usable(engine, &link)) {
		gw_result_drop(result, GW_DROP_NO_NEIGHBOUR);
		return;
	}
	if (!write_headers(mbuf, packet, backend, &link, hash)) {
		gw_result_drop(result, GW_DROP_NO_HEADROOM);
		return;
	}
	clear_offloads(mbuf);
	result->verdict = GW_VERDICT_TX;
	result->egress = link.port;
}

/* What the stage reads of a worker for each packet, once a burst. */
struct encap_scope {
	const struct gw_backend *backend;
	uint32_t fits[GW_PORTS_MAX]; /* size that a port surely takes; 0: there is no such port */
	uint32_t ports;		     /* that packets have left by so far, one bit each */
	uint16_t others;	     /* packets that took another way than the straight one */
};

/*
 * Makes the compiler take a pointer as it is: else it makes it anew from the packet's place at each
 * use.
 */
#define KEEP_POINTER(pointer) __asm__("" : "+r"(pointer))

/* One packet on the straight way, and the records that say how it leaves. */
struct straight {
	const uint8_t *place; /* in the burst */
	struct rte_mbuf *mbuf;
	const struct gw_packet *packet;
	const struct gw_departure *departure;
	const struct gw_backend *backend; /* of kinds over IPv6 only */
	struct gw_result *result;
};

/* The 16 bits behind a link's MAC: the port, or the flags. */
static inline uint16_t link_tail(uint64_t half)
{
	return (uint16_t)(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? half >> 48 : half);
}

/* What the headers of a kind over IPv4 are made of: a departure says it all. */
static __rte_always_inline struct gw_backend straight_record(const struct gw_departure *departure)
{
	struct gw_backend record = {.gue_port = departure->gue_port};

	GW_WIRE_STORE(uint32_t, record.outer_source.bytes + 12, departure->source);
	GW_WIRE_STORE(uint32_t, record.outer_destination.bytes + 12, departure->destination);
	return record;
}

/*
 * The outer headers of a kind whose parts are constants here. `open` is the hash before its last
 * step, for GUE and without DF.
 */
static __rte_always_inline void write_outer(uint8_t *out, const struct gw_backend *backend,
	const struct gw_packet *packet, uint64_t open, uint8_t mode, uint8_t family,
	uint32_t overhead)
{
	uint32_t ip = family == GW_IPV4 ? GW_IPV4_HEADER : GW_IPV6_HEADER;
	struct gw_outer outer = gw_encap_outer_plain(backend, packet, overhead);

	if (mode == GW_ENCAP_GUE) {
		outer.protocol = GW_PROTO_UDP;
		gw_encap_gue_write(out + ip, backend->gue_port, packet, open, 0);
	}
	if (family == GW_IPV4)
		gw_encap_ipv4(out, backend, packet, gw_key_hash_close(open), &outer);
	else
		gw_encap_ipv6(out, backend, packet, &outer);
}

/*
 * The two halves of a link are a MAC and 16 bits each; the type goes into the place of the last,
 * which is GW_LINK_RESOLVED.
 */
static __rte_always_inline void write_ethernet(
	uint8_t *frame, uint64_t first, uint64_t second, uint16_t type)
{
	GW_WIRE_STORE(uint64_t, frame, first);
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) {
		second ^= (uint64_t)(GW_HTONS(type) ^ GW_LINK_RESOLVED) << 48;
		GW_WIRE_STORE(uint64_t, frame + RTE_ETHER_ADDR_LEN, second);
	} else {
		GW_WIRE_STORE(uint64_t, frame + RTE_ETHER_ADDR_LEN, second);
		gw_wire_store16(frame + 2 * RTE_ETHER_ADDR_LEN, type);
	}
}

/*
 * Where the frame begins and how long it is, and clear_offloads, for a frame in one piece; fields
 * that lie together are written together, for stores are what this stage waits for.
 */
static __rte_always_inline void write_mbuf(struct rte_mbuf *mbuf, uint32_t front, uint32_t length)
{
	uint8_t *to = (uint8_t *)mbuf + offsetof(struct rte_mbuf, packet_type);

	_Static_assert(offsetof(struct rte_mbuf, vlan_tci) ==
				       offsetof(struct rte_mbuf, packet_type) + 10 &&
			       offsetof(struct rte_mbuf, data_len) ==
				       offsetof(struct rte_mbuf, packet_type) + 8 &&
			       offsetof(struct rte_mbuf, pkt_len) ==
				       offsetof(struct rte_mbuf, packet_type) + 4,
		"the fields lie in this order");
	mbuf->data_off = (uint16_t)front;
	gw_wire_store_words(to, 0, length);
	GW_WIRE_STORE(uint32_t, to + 8, gw_wire_halves((uint16_t)length, 0));
	mbuf->ol_flags &= RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	mbuf->tx_offload = 0;
}

/* Verdict TX by that port; three fields that lie together. */
static __rte_always_inline void write_verdict(struct gw_result *result, uint16_t port)
{
	_Static_assert(GW_VERDICT_TX == 0 &&
			       offsetof(struct gw_result, verdict) ==
				       offsetof(struct gw_result, egress) + 2 &&
			       offsetof(struct gw_result, reason) ==
				       offsetof(struct gw_result, egress) + 3,
		"the fields lie in this order");
	GW_WIRE_STORE(uint32_t, &result->egress, gw_wire_halves(port, 0));
}

/* gw_burst_hash, before its last step (gw_key_hash_close). */
static __rte_noinline uint64_t hash_open(
	struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	return gw_key_hash_close(gw_burst_hash(worker, burst, i));
}

/* The same, whose common case is straight too: GUE wants it of each packet. */
static __rte_always_inline uint64_t hash_straight(
	struct gw_worker *worker, struct gw_burst *burst, const struct straight *one)
{
	const uint8_t *at = (const uint8_t *)&one->packet->key;
	const struct gw_key_seed *seed = &worker->table_seed;
	uint64_t key[GW_KEY_WORDS] = {};

	if (unlikely(one->result->hashed) || !GW_KEY_IN_WORDS ||
		unlikely(!(burst->service_word[*one->place] & GW_SERVICE_WORD_5TUPLE)))
		return hash_open(worker, burst, *one->place);
	if (likely(one->packet->family == GW_IPV4)) {
		key[1] = GW_WIRE_LOAD(uint64_t, at + 8);
		key[3] = GW_WIRE_LOAD(uint64_t, at + 24);
		key[4] = GW_WIRE_LOAD(uint64_t, at + 32);
		return gw_key_hash_open(seed, GW_IPV4, key);
	}
	KEEP_POINTER(at); /* or it would be loaded before the question, and more of it */
	KEEP_POINTER(seed);
	for (int n = 0; n < GW_KEY_WORDS; n++)
		key[n] = GW_WIRE_LOAD(uint64_t, at + 8 * n);
	return gw_key_hash_open(seed, GW_IPV6, key);
}

/*
 * The common packet: one segment that is ours to write, one resolved way without a tag, a size that
 * each of the MTUs alone allows, to a backend of the kind of the last three arguments, which are
 * constants. It leaves as encap_other would make it leave, in a straight line: what is asked is
 * asked before anything is written. Returns the port's bit; 0: nothing was changed.
 */
static __rte_always_inline uint32_t encap_straight(struct gw_worker *worker, struct gw_burst *burst,
	const struct encap_scope *scope, const struct straight *one, uint8_t mode, uint8_t family,
	uint32_t overhead)
{
	const struct gw_packet *packet = one->packet;
	const struct gw_departure *departure = one->departure;
	struct gw_backend record;
	struct rte_mbuf *mbuf = one->mbuf;
	uint64_t first = departure->link[0], second = departure->link[1], open = 0;
	uint32_t size = packet->l3_length + overhead, headers = GW_ETH_HEADER + overhead;
	uint32_t front = (uint32_t)mbuf->data_off + packet->l3_offset;
	uint16_t port = link_tail(first);
	uint8_t *frame;

	if (unlikely(size > scope->fits[port]) || unlikely(size > departure->most) ||
		unlikely(!gw_mbuf_is_plain(mbuf)) || unlikely(front < headers))
		return 0;
	frame = (uint8_t *)mbuf->buf_addr + front - headers;
	write_ethernet(frame, first, second, gw_encap_ethertype(family));
	write_mbuf(mbuf, front - headers, size + GW_ETH_HEADER);
	write_verdict(one->result, port);
	if (mode == GW_ENCAP_GUE)
		open = hash_straight(worker, burst, one);
	else if (family == GW_IPV4 && unlikely(!packet->dont_fragment))
		open = hash_open(worker, burst, *one->place);
	record = straight_record(departure);
	write_outer(frame + GW_ETH_HEADER, family == GW_IPV4 ? &record : one->backend, packet, open,
		mode, family, overhead);
	return 1u << port;
}

/* Places of packets that wait for the loop of their kind, in order. */
struct waiting {
	uint32_t count;
	uint8_t place[GW_BURST_MAX];
};

/*
 * Of those that wait, the packets whose backends are of that kind, whose parts are the last three
 * arguments; all are constants. The others wait on. Most pools have one kind only, and a loop of
 * one kind keeps in registers what it needs.
 */
static __rte_always_inline void encap_run(struct gw_worker *worker, struct gw_burst *burst,
	struct encap_scope *scope, struct waiting *waiting, enum gw_depart_kind kind, uint8_t mode,
	uint8_t family, uint32_t overhead)
{
	const uint8_t *at = waiting->place, *end = at + waiting->count;
	uint32_t ports = 0, left = 0;

	for (; at < end; at++) {
		struct straight one = {
			.place = at,
			.mbuf = burst->mbuf[*at],
			.packet = &burst->packet[*at],
			.result = &burst->result[*at],
		};
		uint32_t port;

		KEEP_POINTER(one.packet);
		KEEP_POINTER(one.result);
		one.departure = gw_departure_of(worker, one.result->backend);
		if (unlikely(one.departure->kind != kind)) {
			waiting->place[left++] = *at;
			continue;
		}
		one.backend = &scope->backend[one.result->backend];
		port = encap_straight(worker, burst, scope, &one, mode, family, overhead);
		ports |= port;
		if (unlikely(!port)) {
			encap_other(worker, burst, *at);
			scope->others++;
		}
	}
	scope->ports |= ports;
	waiting->count = left;
}

/* One function a kind, or the compiler would share the registers out among all their loops. */
#define ENCAP_RUN(name, kind, mode, family, overhead)                                              \
	static __rte_noinline void name(struct gw_worker *worker, struct gw_burst *burst,          \
		struct encap_scope *scope, struct waiting *waiting)                                \
	{                                                                                          \
		encap_run(worker, burst, scope, waiting, kind, mode, family, overhead);            \
	}
ENCAP_RUN(run_ipip4, GW_DEPART_IPIP4, GW_ENCAP_IPIP, GW_IPV4, 20)
ENCAP_RUN(run_ipip6, GW_DEPART_IPIP6, GW_ENCAP_IPIP, GW_IPV6, 40)
ENCAP_RUN(run_gue4, GW_DEPART_GUE4, GW_ENCAP_GUE, GW_IPV4, 28)
ENCAP_RUN(run_gue6, GW_DEPART_GUE6, GW_ENCAP_GUE, GW_IPV6, 48)

/* All that wait and have no loop of their own. */
static __rte_noinline void run_other(struct gw_worker *worker, struct gw_burst *burst,
	struct encap_scope *scope, struct waiting *waiting)
{
	uint32_t left = 0;

	for (uint32_t k = 0; k < waiting->count; k++) {
		uint8_t i = waiting->place[k];

		if (gw_departure_of(worker, burst->result[i].backend)->kind != GW_DEPART_OTHER) {
			waiting->place[left++] = i;
			continue;
		}
		encap_other(worker, burst, i);
		scope->others++;
	}
	waiting->count = left;
}

/* Those of the first one's kind: no kind is left and come upon again. */
static void encap_first_kind(struct gw_worker *worker, struct gw_burst *burst,
	struct encap_scope *scope, struct waiting *waiting)
{
	uint32_t backend = burst->result[waiting->place[0]].backend;

	switch (gw_departure_of(worker, backend)->kind) {
	case GW_DEPART_IPIP4:
		run_ipip4(worker, burst, scope, waiting);
		break;
	case GW_DEPART_IPIP6:
		run_ipip6(worker, burst, scope, waiting);
		break;
	case GW_DEPART_GUE4:
		run_gue4(worker, burst, scope, waiting);
		break;
	case GW_DEPART_GUE6:
		run_gue6(worker, burst, scope, waiting);
		break;
	default:
		run_other(worker, burst, scope, waiting);
		break;
	}
}

void gw_stage_encap(struct gw_worker *worker, struct gw_burst *burst)
{
	const struct gw_engine *engine = worker->engine;
	struct encap_scope scope = {
		.backend = worker->view->backend,
		.others = (uint16_t)(burst->count - burst->live_count),
	};
	struct waiting waiting = {.count = burst->live_count};

	for (uint16_t port = 0; port < engine->port_count; port++) {
		scope.fits[port] = engine->port[port].mtu;
		if (!scope.fits[port])
			scope.fits[port] = GW_DEFAULT_MTU;
	}
	memcpy(waiting.place, burst->live, sizeof(waiting.place));
	while (waiting.count)
		encap_first_kind(worker, burst, &scope, &waiting);
	burst->alike = !scope.others && !(scope.ports & (scope.ports - 1));
}
