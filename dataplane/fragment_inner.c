/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A packet that its tunnel makes larger than the egress MTU, and that may be fragmented (IPv4, DF
 * clear): the inner packet is cut, not the outer one, so that each frame carries something that a
 * decapsulator can hand on by itself. Cutting is RFC 791's, section 3.2: pieces are multiples of
 * eight bytes, offsets and MF go on from those of a packet that already was a fragment, and only
 * options with the copied flag go into later pieces. TTL, id and TOS stay.
 *
 * The pieces are copies in buffers of their own: ports whose buffers are shared with the kernel
 * (af_xdp) cannot send chains that point into other packets. rte_ip_frag's copying function leaves
 * checksums to its caller, refuses pieces longer than a buffer and trusts the lengths of options.
 */
#include "abi/encap.h"
#include "engine.h"
#include "pipeline.h"

#include <string.h>

#define PIECES_OF_ONE 64 /* what replay and others may count with */
#define HEADER_MAX    60
#define OPTION_COPIED 0x80
#define OPTION_END    0
#define OPTION_NOP    1

/* What all pieces of one packet are made from. */
struct cut {
	const struct rte_mbuf *mbuf;
	const struct gw_packet *packet;
	uint8_t first[HEADER_MAX]; /* the packet's own header … */
	uint8_t later[HEADER_MAX]; /* … and that of pieces behind the first */
	uint32_t first_length;
	uint32_t later_length;
	uint32_t payload; /* bytes behind the header */
	uint32_t room;	  /* for a piece, header included */
	uint16_t field;	  /* the packet's own flags and offset */
	uint16_t error;	  /* the header's folded sum; 0xffff: its checksum is right */
};

static uint16_t header_sum(const uint8_t *header, uint32_t length)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < length; i += 2)
		sum += gw_wire_load16(header + i);
	return (uint16_t)gw_encap_halves(gw_encap_halves(sum));
}

/* Writes the options that every piece carries to `out`; returns their length, padded to words. */
static uint32_t copy_options(const uint8_t *options, uint32_t length, uint8_t *out)
{
	uint32_t at = 0, to = 0;

	while (at < length && options[at] != OPTION_END) {
		uint32_t size = 1;

		if (options[at] != OPTION_NOP) {
			size = at + 1 < length ? options[at + 1] : 0;
			if (size < 2 || at + size > length)
				break; /* nonsense: the first piece has it, for the backend to judge
					*/
			if (options[at] & OPTION_COPIED) {
				memcpy(out + to, options + at, size);
				to += size;
			}
		}
		at += size;
	}
	while (to % 4)
		out[to++] = OPTION_END;
	return to;
}

static bool cut_begin(
	struct cut *cut, const struct rte_mbuf *mbuf, const struct gw_packet *packet, uint32_t room)
{
	uint32_t length = packet->l4_offset - packet->l3_offset;
	const uint8_t *header = rte_pktmbuf_read(mbuf, packet->l3_offset, length, cut->first);

	if (!header)
		return false;
	if (header != cut->first)
		memcpy(cut->first, header, length);
	memcpy(cut->later, cut->first, GW_IPV4_HEADER);
	cut->mbuf = mbuf;
	cut->packet = packet;
	cut->first_length = length;
	cut->later_length =
		GW_IPV4_HEADER + copy_options(cut->first + GW_IPV4_HEADER, length - GW_IPV4_HEADER,
					 cut->later + GW_IPV4_HEADER);
	cut->later[0] = (uint8_t)(0x40 | cut->later_length / 4);
	cut->payload = packet->l3_length - length;
	cut->room = room;
	cut->field = gw_wire_load16(cut->first + 6);
	cut->error = header_sum(cut->first, length);
	/* No piece without payload, no offset beyond what the field can say. */
	return room >= length + 8 &&
	       (cut->field & GW_IPV4_OFFSET) + cut->payload / 8 <= GW_IPV4_OFFSET;
}

static bool append(struct rte_mbuf *piece, const void *bytes, uint32_t length)
{
	char *to = rte_pktmbuf_append(piece, (uint16_t)length);

	if (to)
		memcpy(to, bytes, length);
	return to != NULL;
}

/* The packet's payload from `at` on, into as many buffers as it takes. */
static bool append_payload(
	struct rte_mbuf *piece, const struct cut *cut, uint32_t at, uint32_t length)
{
	at += cut->packet->l4_offset;
	while (length) {
		struct rte_mbuf *last = rte_pktmbuf_lastseg(piece);
		uint32_t part = RTE_MIN(length, rte_pktmbuf_tailroom(last));
		const void *from;
		char *to;

		if (!part) {
			last = rte_pktmbuf_alloc(piece->pool);
			if (!last || rte_pktmbuf_chain(piece, last) != 0) {
				rte_pktmbuf_free(last);
				return false;
			}
			continue;
		}
		to = rte_pktmbuf_append(piece, (uint16_t)part);
		from = rte_pktmbuf_read(cut->mbuf, at, part, to);
		if (!from)
			return false;
		if (from != to)
			memcpy(to, from, part);
		at += part;
		length -= part;
	}
	return true;
}

/*
 * A header as it leaves, with its checksum. Where the packet's own was wrong, so is each piece's,
 * by the same difference: a corruption on the way is not made good here.
 */
static void finish_header(
	const struct cut *cut, uint8_t *header, uint32_t length, uint32_t total, uint32_t field)
{
	uint32_t check;

	gw_wire_store16(header + 2, (uint16_t)total);
	gw_wire_store16(header + 6, (uint16_t)field);
	gw_wire_store16(header + 10, 0);
	check = (uint16_t)~header_sum(header, length);
	if (cut->error != 0xffff)
		check = gw_encap_halves(check + cut->error);
	gw_wire_store16(header + 10, (uint16_t)check);
}

/* The piece whose payload begins at `at`; *length is how much of it there is. NULL: no buffer. */
static struct rte_mbuf *make_piece(
	const struct cut *cut, struct rte_mempool *pool, uint32_t at, uint32_t *length)
{
	uint32_t header_length = at ? cut->later_length : cut->first_length;
	uint32_t part = (cut->room - header_length) & ~7u, field = cut->field;
	struct rte_mbuf *piece = rte_pktmbuf_alloc(pool);
	uint8_t header[HEADER_MAX];

	if (!piece)
		return NULL;
	if (part >= cut->payload - at)
		part = cut->payload - at;
	else
		field |= GW_IPV4_MF;
	memcpy(header, at ? cut->later : cut->first, header_length);
	finish_header(cut, header, header_length, header_length + part, field + at / 8);
	if (!append(piece, header, header_length) || !append_payload(piece, cut, at, part)) {
		rte_pktmbuf_free(piece);
		return NULL;
	}
	*length = part;
	return piece;
}

/* Makes the pieces behind worker->piece_count; returns how many, 0 for want of buffers. */
static uint16_t make_pieces(struct gw_worker *worker, const struct cut *cut,
	const struct gw_backend *backend, uint64_t hash, const struct gw_link *link)
{
	struct rte_mbuf **piece = &worker->piece[worker->piece_count];
	uint16_t room = (uint16_t)RTE_MIN(GW_PIECES_MAX - worker->piece_count, PIECES_OF_ONE);
	uint16_t count = 0;

	for (uint32_t at = 0, length; at < cut->payload; at += length) {
		struct gw_packet packet = *cut->packet;

		piece[count] =
			count < room ? make_piece(cut, worker->engine->pool, at, &length) : NULL;
		if (!piece[count])
			goto fail;
		packet.l3_offset = 0;
		packet.l3_length = piece[count++]->pkt_len;
		if (!gw_encap_frame(piece[count - 1], &packet, backend, hash, link))
			goto fail;
	}
	return count;

fail:
	rte_pktmbuf_free_bulk(piece, count);
	return 0;
}

void gw_fragment_inner(struct gw_worker *worker, struct gw_burst *burst, uint8_t i,
	const struct gw_link *link, uint32_t mtu)
{
	struct gw_result *result = &burst->result[i];
	const struct gw_backend *backend = &worker->view->backend[result->backend];
	struct cut cut;
	uint16_t count;

	if (mtu < backend->overhead ||
		!cut_begin(&cut, burst->mbuf[i], &burst->packet[i], mtu - backend->overhead)) {
		gw_result_drop(result, GW_DROP_TOO_BIG);
		return;
	}
	count = make_pieces(worker, &cut, backend, gw_burst_hash(worker, burst, i), link);
	if (!count) {
		gw_result_drop(result, GW_DROP_FRAG_FULL);
		return;
	}
	result->piece_first = worker->piece_count;
	result->piece_count = count;
	worker->piece_count = (uint16_t)(worker->piece_count + count);
	result->verdict = GW_VERDICT_TX;
	result->egress = link->port;
}

void gw_fragment_push(
	struct gw_worker *worker, const struct gw_result *result, struct rte_mbuf *mbuf)
{
	for (uint16_t k = 0; k < result->piece_count; k++)
		gw_tx_push(worker, result->egress, worker->piece[result->piece_first + k]);
	rte_pktmbuf_free(mbuf);
}
