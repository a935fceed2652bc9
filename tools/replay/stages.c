/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The packet tracer: stage by stage, why a packet went where it went. What was decided is the
 * path's own word (struct fate, its flow table); what is only read from the frame or the snapshot
 * is read by the code that both paths share (abi/parse.h, abi/service.h).
 */
#include "abi/encap.h"
#include "abi/fragment.h"
#include "abi/icmp.h"
#include "abi/parse.h"
#include "abi/service.h"
#include "base/address.h"
#include "report.h"

#include <inttypes.h>
#include <string.h>

#define STAGE(stream, name, ...)                                                                   \
	do {                                                                                       \
		fprintf(stream, "  %-10s", name);                                                  \
		fprintf(stream, __VA_ARGS__);                                                      \
		fputc('\n', stream);                                                               \
	} while (0)

/* One packet under the tracer. */
struct trace {
	FILE *stream;
	const struct gw_build *build;
	const struct story *story;
	const uint8_t *frame;
	size_t length;
	struct gw_packet packet;
	int parsed; /* GW_PARSE_* or the enum gw_drop */
	const struct gw_vip *vip;
};

static const void *section(const struct gw_build *build, const struct gw_section *at)
{
	return (const uint8_t *)build->snapshot->data + at->offset;
}

static const char *address(const struct gw_address *value, char text[GW_ADDRESS_TEXT])
{
	return gw_address_format(value->bytes, text);
}

/* Frame and addresses ----------------------------------------------------------------------- */

static void stage_frame(const struct trace *trace)
{
	const uint8_t *frame = trace->frame;
	uint32_t tags = trace->packet.l3_offset ? (trace->packet.l3_offset - GW_ETH_HEADER) / 4 : 0;

	if (trace->length < GW_ETH_HEADER) {
		STAGE(trace->stream, "frame", "%zu bytes: no Ethernet header", trace->length);
		return;
	}
	fprintf(trace->stream,
		"  %-10s%zu bytes, to %02x:%02x:%02x:%02x:%02x:%02x from "
		"%02x:%02x:%02x:%02x:%02x:%02x",
		"frame", trace->length, frame[0], frame[1], frame[2], frame[3], frame[4], frame[5],
		frame[6], frame[7], frame[8], frame[9], frame[10], frame[11]);
	for (uint32_t i = 0; i < tags; i++)
		fprintf(trace->stream, ", VLAN %u",
			gw_wire_load16(frame + GW_ETH_HEADER + 4 * i) & 0xfff);
	fprintf(trace->stream, ", type 0x%04x\n",
		gw_wire_load16(frame + (tags ? trace->packet.l3_offset - 2 : 12)));
}

static void stage_addresses(const struct trace *trace)
{
	char source[GW_ADDRESS_TEXT], destination[GW_ADDRESS_TEXT];

	if (!trace->packet.family) {
		STAGE(trace->stream, "addresses", "no IP packet that a service could have");
		return;
	}
	STAGE(trace->stream, "addresses", "IPv%u, %s -> %s", trace->packet.family,
		address(&trace->packet.key.source, source),
		address(&trace->packet.key.destination, destination));
}

static bool has_prefix(const struct gw_address *value, const struct gw_vip *vip)
{
	uint32_t bytes = vip->prefix_length / 8, bits = vip->prefix_length % 8;

	if (memcmp(value->bytes, vip->address.bytes, bytes) != 0)
		return false;
	return !bits || !((value->bytes[bytes] ^ vip->address.bytes[bytes]) >> (8 - bits));
}

/* The service address: longest prefix. */
static const struct gw_vip *find_vip(const struct trace *trace)
{
	const struct gw_section *vips = &trace->build->snapshot->data->vips;
	const struct gw_vip *vip = section(trace->build, vips), *best = NULL;

	for (uint64_t i = 0; i < vips->count; i++)
		if (has_prefix(&trace->packet.key.destination, &vip[i]) &&
			(!best || vip[i].prefix_length > best->prefix_length))
			best = &vip[i];
	return best;
}

static void stage_vip(const struct trace *trace)
{
	char text[GW_ADDRESS_TEXT];
	uint32_t bits;

	if (!trace->vip) {
		STAGE(trace->stream, "vip", "no service has this address: the host's");
		return;
	}
	bits = trace->vip->prefix_length;
	if (gw_address_is_ipv4(&trace->vip->address))
		bits -= 96;
	STAGE(trace->stream, "vip", "%s/%u%s", address(&trace->vip->address, text), bits,
		trace->vip->flags & GW_VIP_NO_SERVICE_HOST ? ", what no service takes is the host's"
							   : "");
}

/* Headers ----------------------------------------------------------------------------------- */

static void stage_fragment(const struct trace *trace)
{
	const struct gw_packet *packet = &trace->packet;
	const struct story *story = trace->story;
	const char *what = "";

	if (packet->fragment == GW_WHOLE)
		return;
	if (packet->fragment == GW_FRAGMENT_FIRST)
		what = story->fate.verdict == GW_VERDICT_DROP
			       ? "first: dropped, nothing is remembered"
			       : "first: its decision is remembered for the later ones";
	else if (story->fate.reason == GW_DROP_FRAG_EMPTY && story->fate.verdict == GW_VERDICT_DROP)
		what = "without payload";
	else if (story->fate.service != GW_NONE || story->fate.verdict == GW_VERDICT_HOST)
		what = "later: follows its first one's decision";
	else
		what = "later: its first one's decision is not known";
	STAGE(trace->stream, "fragment", "id %u, protocol %u: %s", packet->fragment_id,
		packet->fragment_protocol, what);
	if (story->held)
		STAGE(trace->stream, "held", "for %.3f ms, %s",
			(double)(story->ended_ns - story->came_ns) / 1e6,
			story->fate.verdict == GW_VERDICT_DROP ? "in vain"
							       : "until its first one came");
}

static void flags_print(FILE *stream, uint8_t flags)
{
	static const char *const names[] = {"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};

	for (int i = 0; i < 8; i++)
		if (flags >> i & 1)
			fprintf(stream, " %s", names[i]);
}

static void stage_headers(const struct trace *trace)
{
	const struct gw_packet *packet = &trace->packet;
	bool judged = packet->l4_offset != 0;

	if (!judged) {
		STAGE(trace->stream, "headers", "%s",
			trace->parsed >= 0 ? report_reason((enum gw_drop)trace->parsed) : "unread");
		return;
	}
	fprintf(trace->stream,
		"  %-10s%u bytes of IP, %u of headers, protocol %u, ttl %u, tos 0x%02x%s",
		"headers", packet->l3_length, packet->l4_offset - packet->l3_offset,
		packet->protocol, packet->ttl, packet->tos,
		packet->family == GW_IPV4 && packet->dont_fragment ? ", DF" : "");
	if (packet->key.source_port || packet->key.destination_port)
		fprintf(trace->stream, ", ports %u -> %u", GW_NTOHS(packet->key.source_port),
			GW_NTOHS(packet->key.destination_port));
	if (packet->protocol == GW_PROTO_TCP && packet->tcp_flags)
		flags_print(trace->stream, packet->tcp_flags);
	if (trace->parsed >= 0)
		fprintf(trace->stream, ": %s", report_reason((enum gw_drop)trace->parsed));
	fputc('\n', trace->stream);
}

/* What an ICMP message is, and which flow its quote is about. */
static void stage_icmp(const struct trace *trace)
{
	const struct gw_packet *packet = &trace->packet;
	const uint8_t *icmp = trace->frame + packet->l4_offset;
	char from[GW_ADDRESS_TEXT], to[GW_ADDRESS_TEXT];
	struct gw_flow_key key = packet->key;

	if (trace->parsed != GW_PARSE_ICMP)
		return;
	if (gw_icmp_kind(packet->family, icmp[0]) != GW_ICMP_KIND_ERROR) {
		STAGE(trace->stream, "icmp", "type %u, code %u", icmp[0], icmp[1]);
		return;
	}
	if (!gw_icmp_quoted_flow(
		    icmp + GW_ICMP_HEADER, gw_icmp_quote_length(packet), packet->family, &key)) {
		STAGE(trace->stream, "icmp",
			"error, type %u, code %u; its quote is no flow of the service", icmp[0],
			icmp[1]);
		return;
	}
	STAGE(trace->stream, "icmp", "error, type %u, code %u, about the flow %s %u -> %s %u",
		icmp[0], icmp[1], address(&key.source, from), GW_NTOHS(key.source_port),
		address(&key.destination, to), GW_NTOHS(key.destination_port));
}

/* The decision ------------------------------------------------------------------------------ */

static const struct gw_span_run *run_of(const struct gw_vip *vip, uint8_t protocol)
{
	return protocol == GW_PROTO_TCP	   ? &vip->tcp
	       : protocol == GW_PROTO_UDP  ? &vip->udp
	       : protocol == GW_PROTO_SCTP ? &vip->sctp
					   : NULL;
}

/* Which span of the address's ports the packet fell into. */
static const struct gw_span *find_span(const struct trace *trace)
{
	const struct gw_span *spans = section(trace->build, &trace->build->snapshot->data->spans);
	const struct gw_span_run *run = run_of(trace->vip, trace->packet.protocol);
	uint16_t port = GW_NTOHS(trace->packet.key.destination_port);

	for (uint32_t i = 0; run && i < run->count; i++)
		if (port >= spans[run->first + i].first && port <= spans[run->first + i].last)
			return &spans[run->first + i];
	return NULL;
}

static void stage_service(const struct trace *trace)
{
	const char *name = report_service(trace->build, trace->story->fate.service);
	const struct gw_span *span = trace->vip ? find_span(trace) : NULL;

	if (!trace->vip || trace->parsed >= 0 || (!name && trace->parsed == GW_PARSE_ICMP))
		return;
	if (!name)
		STAGE(trace->stream, "service", "none takes protocol %u here%s",
			trace->packet.protocol,
			trace->packet.fragment == GW_FRAGMENT_LATER ? " without ports" : "");
	else if (trace->parsed == GW_PARSE_OK && span)
		STAGE(trace->stream, "service", "%s, by ports %u-%u", name, span->first,
			span->last);
	else if (trace->parsed == GW_PARSE_OK)
		STAGE(trace->stream, "service", "%s, which takes what no port span does", name);
	else
		STAGE(trace->stream, "service", "%s", name);
}

static const char *flow_text(uint64_t word, const struct gw_build *build, char *text, size_t size)
{
	static const char *const states[] = {"free", "NEW", "ESTABLISHED", "CLOSING"};
	const char *backend = report_backend(build, gw_flow_backend(word));

	if (word == GW_FLOW_EMPTY || gw_flow_state(word) == GW_FLOW_FREE)
		return "nothing";
	snprintf(text, size, "%s on %s", states[gw_flow_state(word) & 3], backend ? backend : "?");
	return text;
}

static void stage_flow(const struct trace *trace)
{
	static const char *const flows[] = {"not asked", "tracked: stays where it is",
		"new: remembered", "tracked, but its backend may not keep it: moved",
		"not remembered: no room in the flow table, or lost a race",
		"not tracked: the service says so, and the table decides"};
	const struct story *story = trace->story;
	char before[128], after[128];

	if (story->fate.service == GW_NONE)
		return;
	if (trace->parsed != GW_PARSE_OK) {
		STAGE(trace->stream, "flow", "hash %016" PRIx64 ", the flow table is not touched",
			story->fate.hash);
		return;
	}
	STAGE(trace->stream, "flow", "hash %016" PRIx64 ", %s", story->fate.hash,
		flows[story->fate.flow]);
	STAGE(trace->stream, "", "before: %s; after: %s",
		flow_text(story->flow_before, trace->build, before, sizeof(before)),
		flow_text(story->flow_after, trace->build, after, sizeof(after)));
}

static void stage_table(const struct trace *trace, const struct gw_build_pool *pool)
{
	char digest[33];

	if (trace->story->fate.slot == GW_NONE)
		return;
	if (!pool)
		STAGE(trace->stream, "table", "slot %u", trace->story->fate.slot);
	else
		STAGE(trace->stream, "table", "slot %u of %u in pool %s, digest %s, version %llu",
			trace->story->fate.slot, pool->table_size, pool->name,
			gw_digest_format(&pool->digest, digest),
			(unsigned long long)pool->table_version);
}

static const char *encap_name(uint8_t encap)
{
	static const char *const names[] = {"ipip", "gue", "gre", "l2"};

	return encap < sizeof(names) / sizeof(names[0]) ? names[encap] : "?";
}

/* Where there are several, which one the flow's hash chose. */
static void stage_way(const struct trace *trace, const struct gw_backend *record)
{
	const struct gw_build *build = trace->build;
	const struct gw_next_hop *hop =
		(const struct gw_next_hop *)section(build, &build->snapshot->data->next_hops) +
		record->next_hop;
	uint32_t bucket = gw_paths_bucket(trace->story->fate.hash);
	const uint8_t *mac = trace->story->ways->link[bucket].destination_mac;

	if (hop->link.flags & GW_LINK_MULTIPATH)
		STAGE(trace->stream, "way",
			"%02x:%02x:%02x:%02x:%02x:%02x, by bucket %u of the hash's %d", mac[0],
			mac[1], mac[2], mac[3], mac[4], mac[5], bucket, GW_PATH_BUCKETS);
}

static void stage_backend(const struct trace *trace)
{
	static const char *const states[] = {"free", "active", "draining", "down", "disabled"};
	const struct gw_build *build = trace->build;
	const struct fate *fate = &trace->story->fate;
	const struct gw_build_pool *pool = NULL;
	const struct gw_build_backend *backend = gw_build_backend_at(build, fate->backend, &pool);
	const struct gw_backend *record;
	char from[GW_ADDRESS_TEXT], to[GW_ADDRESS_TEXT];

	stage_table(trace, pool);
	if (!backend)
		return;
	record = (const struct gw_backend *)section(build, &build->snapshot->data->backends) +
		 fate->backend;
	STAGE(trace->stream, "backend", "%s/%s, %s", pool->name, backend->name,
		states[record->state <= GW_BACKEND_DISABLED ? record->state : 0]);
	if (record->encap == GW_ENCAP_L2)
		STAGE(trace->stream, "tunnel", "l2, none: to %s by its MAC address",
			address(&record->outer_destination, to));
	else
		STAGE(trace->stream, "tunnel", "%s, %s -> %s", encap_name(record->encap),
			address(&record->outer_source, from),
			address(&record->outer_destination, to));
	stage_way(trace, record);
	STAGE(trace->stream, "size", "%u + %u bytes, the link takes %u", trace->packet.l3_length,
		record->overhead, gw_mtu_lower(record->mtu, trace->story->mtu));
}

/* The end ----------------------------------------------------------------------------------- */

static void stage_out(const struct trace *trace)
{
	const struct fate *fate = &trace->story->fate;

	for (size_t i = 0; i < fate->out_count; i++) {
		const uint8_t *frame = fate->out[i].bytes;
		struct gw_packet packet;
		char from[GW_ADDRESS_TEXT], to[GW_ADDRESS_TEXT];

		fprintf(trace->stream,
			"  %-10s%" PRIu64 ": %zu bytes, to %02x:%02x:%02x:%02x:%02x:%02x", "out",
			trace->story->first_out + i, fate->out[i].length, frame[0], frame[1],
			frame[2], frame[3], frame[4], frame[5]);
		if (gw_parse_destination(frame, frame + fate->out[i].length, &packet) ==
			GW_PARSE_OK)
			fprintf(trace->stream, ", %s -> %s", address(&packet.key.source, from),
				address(&packet.key.destination, to));
		fputc('\n', trace->stream);
	}
	if (fate->verdict == GW_VERDICT_DROP)
		STAGE(trace->stream, "verdict", "drop, %s: %s", report_reason(fate->reason),
			report_reason_text(fate->reason));
	else
		STAGE(trace->stream, "verdict", "%s", report_verdict(fate->verdict));
}

void report_stages(FILE *stream, const struct gw_build *build, uint64_t index, const uint8_t *frame,
	size_t length, const struct story *story)
{
	struct trace trace = {stream, build, story, frame, length, .parsed = GW_PARSE_HOST};

	fprintf(stream, "packet %" PRIu64 "\n", index);
	gw_parse_destination(frame, frame + length, &trace.packet);
	stage_frame(&trace);
	if (length >= GW_ETH_HEADER)
		stage_addresses(&trace);
	if (trace.packet.family) {
		trace.vip = find_vip(&trace);
		stage_vip(&trace);
	}
	if (trace.vip) {
		trace.parsed =
			gw_parse_transport(frame, frame + length, (uint32_t)length, &trace.packet);
		stage_headers(&trace);
		stage_fragment(&trace);
		stage_icmp(&trace);
		stage_service(&trace);
		stage_flow(&trace);
		stage_backend(&trace);
	}
	stage_out(&trace);
}
