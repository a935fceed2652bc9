/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include "abi/parse.h"
#include "base/address.h"

#include <jansson.h>

#include <inttypes.h>

static const char *const verdicts[] = {"tx", "reply", "host", "consumed", "held", "drop"};

#define REASON_NAME(NAME, name, text) name,
static const char *const reason_names[] = {GW_DROP_REASONS(REASON_NAME)};
#define REASON_TEXT(NAME, name, text) text,
static const char *const reason_texts[] = {GW_DROP_REASONS(REASON_TEXT)};

const char *report_verdict(enum gw_verdict verdict)
{
	return verdict <= GW_VERDICT_DROP ? verdicts[verdict] : "?";
}

const char *report_reason(enum gw_drop reason)
{
	return reason < GW_DROP_COUNT ? reason_names[reason] : "?";
}

static const char *service_name(const struct gw_build *build, uint32_t id)
{
	return id < build->service_by_id_count && build->service_by_id[id]
		       ? build->service_by_id[id]->name
		       : NULL;
}

static const char *backend_name(const struct gw_build *build, uint32_t id)
{
	return id < build->backend_by_id_count && build->backend_by_id[id]
		       ? build->backend_by_id[id]->name
		       : NULL;
}

static json_t *text(const char *value)
{
	return value ? json_string(value) : json_null();
}

void report_json(FILE *stream, const struct gw_build *build, uint64_t index,
	const struct fate *fate, uint64_t first_out)
{
	bool drop = fate->verdict == GW_VERDICT_DROP;
	json_t *out = json_array();
	json_t *line;

	for (size_t i = 0; i < fate->out_count; i++)
		json_array_append_new(out, json_integer((json_int_t)(first_out + i)));
	line = json_pack("{s:I,s:s,s:b,s:o,s:o,s:o,s:o}", "index", (json_int_t)index, "verdict",
		report_verdict(fate->verdict), "held", 0, "reason",
		text(drop ? report_reason(fate->reason) : NULL), "service",
		text(service_name(build, fate->service)), "backend",
		text(drop ? NULL : backend_name(build, fate->backend)), "out", out);
	if (fate->service != GW_NONE)
		json_object_set_new(line, "hash", json_sprintf("%016" PRIx64, fate->hash));
	if (fate->slot != GW_NONE)
		json_object_set_new(line, "slot", json_integer(fate->slot));
	json_dumpf(line, stream, JSON_COMPACT);
	fputc('\n', stream);
	json_decref(line);
}

void report_line(
	FILE *stream, const struct gw_build *build, uint64_t index, const struct fate *fate)
{
	const char *service = service_name(build, fate->service);
	const char *backend = backend_name(build, fate->backend);

	fprintf(stream, "%8" PRIu64 "  %-8s", index, report_verdict(fate->verdict));
	if (fate->verdict == GW_VERDICT_DROP)
		fprintf(stream, " %-12s", report_reason(fate->reason));
	else if (backend)
		fprintf(stream, " %-12s", backend);
	fprintf(stream, "%s%s\n", service ? " service " : "", service ? service : "");
}

static void stage_parse(FILE *stream, const uint8_t *frame, size_t length, struct gw_packet *packet)
{
	char source[GW_ADDRESS_TEXT], destination[GW_ADDRESS_TEXT];
	int parsed = gw_parse_destination(frame, frame + length, packet);

	if (parsed != GW_PARSE_OK) {
		fprintf(stream, "  parse    %zu bytes, no IP packet that a service could have\n",
			length);
		return;
	}
	fprintf(stream, "  parse    %zu bytes, IPv%u, %s -> %s\n", length, packet->family,
		gw_address_format(packet->key.source.bytes, source),
		gw_address_format(packet->key.destination.bytes, destination));
}

static void stage_service(FILE *stream, const struct gw_build *build, const uint8_t *frame,
	size_t length, struct gw_packet *packet, const struct fate *fate)
{
	const char *service = service_name(build, fate->service);

	if (fate->verdict == GW_VERDICT_HOST && !service) {
		fputs("  service  none has this address: the host's\n", stream);
		return;
	}
	if (gw_parse_transport(frame, frame + length, (uint32_t)length, packet) == GW_PARSE_OK)
		fprintf(stream, "  packet   protocol %u, ports %u -> %u, %u bytes of IP\n",
			packet->protocol, GW_NTOHS(packet->key.source_port),
			GW_NTOHS(packet->key.destination_port), packet->l3_length);
	if (service)
		fprintf(stream, "  service  %s\n", service);
}

static void stage_backend(FILE *stream, const struct gw_build *build, const struct fate *fate)
{
	static const char *const flows[] = {"not asked", "tracked: stays where it is",
		"new: remembered", "tracked, but its backend may not keep it: moved",
		"not remembered: no room in the flow table, or lost a race"};
	const struct gw_build_pool *pool = NULL;
	const struct gw_build_backend *backend = gw_build_backend_at(build, fate->backend, &pool);
	char address[GW_ADDRESS_TEXT];

	if (fate->service == GW_NONE)
		return;
	fprintf(stream, "  flow     hash %016" PRIx64 ", %s\n", fate->hash, flows[fate->flow]);
	if (fate->slot != GW_NONE)
		fprintf(stream, "  table    slot %u\n", fate->slot);
	if (backend)
		fprintf(stream, "  backend  %s/%s at %s\n", pool->name, backend->name,
			gw_address_format(backend->address, address));
}

void report_stages(FILE *stream, const struct gw_build *build, uint64_t index, const uint8_t *frame,
	size_t length, const struct fate *fate)
{
	struct gw_packet packet = {0};

	fprintf(stream, "packet %" PRIu64 "\n", index);
	stage_parse(stream, frame, length, &packet);
	if (packet.family)
		stage_service(stream, build, frame, length, &packet, fate);
	stage_backend(stream, build, fate);
	for (size_t i = 0; i < fate->out_count; i++)
		fprintf(stream, "  out      %zu bytes\n", fate->out[i].length);
	if (fate->verdict == GW_VERDICT_DROP)
		fprintf(stream, "  verdict  drop, %s: %s\n", report_reason(fate->reason),
			reason_texts[fate->reason]);
	else
		fprintf(stream, "  verdict  %s\n", report_verdict(fate->verdict));
}
