/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

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

const char *report_reason_text(enum gw_drop reason)
{
	return reason < GW_DROP_COUNT ? reason_texts[reason] : "?";
}

const char *report_service(const struct gw_build *build, uint32_t id)
{
	return id < build->service_by_id_count && build->service_by_id[id]
		       ? build->service_by_id[id]->name
		       : NULL;
}

const char *report_backend(const struct gw_build *build, uint32_t id)
{
	return id < build->backend_by_id_count && build->backend_by_id[id]
		       ? build->backend_by_id[id]->name
		       : NULL;
}

static json_t *text(const char *value)
{
	return value ? json_string(value) : json_null();
}

/* What the flow table had to say. */
static const char *flow_word(enum gw_trace_flow flow)
{
	static const char *const words[] = {
		"none", "tracked", "new", "moved", "untracked", "table_only"};

	return flow < sizeof(words) / sizeof(words[0]) ? words[flow] : "?";
}

void report_json(
	FILE *stream, const struct gw_build *build, uint64_t index, const struct story *story)
{
	const struct fate *fate = &story->fate;
	bool drop = fate->verdict == GW_VERDICT_DROP;
	json_t *out = json_array();
	json_t *line;

	for (size_t i = 0; i < fate->out_count; i++)
		json_array_append_new(out, json_integer((json_int_t)(story->first_out + i)));
	line = json_pack("{s:I,s:s,s:b,s:o,s:o,s:o,s:o}", "index", (json_int_t)index, "verdict",
		report_verdict(fate->verdict), "held", story->held, "reason",
		text(drop ? report_reason(fate->reason) : NULL), "service",
		text(report_service(build, fate->service)), "backend",
		text(drop ? NULL : report_backend(build, fate->backend)), "out", out);
	if (fate->service != GW_NONE)
		json_object_set_new(line, "hash", json_sprintf("%016" PRIx64, fate->hash));
	if (fate->slot != GW_NONE)
		json_object_set_new(line, "slot", json_integer(fate->slot));
	if (!drop && fate->flow != GW_TRACE_NONE)
		json_object_set_new(line, "flow", json_string(flow_word(fate->flow)));
	json_dumpf(line, stream, JSON_COMPACT);
	fputc('\n', stream);
	json_decref(line);
}

void report_line(
	FILE *stream, const struct gw_build *build, uint64_t index, const struct story *story)
{
	const struct fate *fate = &story->fate;
	const char *service = report_service(build, fate->service);
	const char *backend = report_backend(build, fate->backend);

	fprintf(stream, "%8" PRIu64 "  %-8s", index, report_verdict(fate->verdict));
	if (fate->verdict == GW_VERDICT_DROP)
		fprintf(stream, " %-12s", report_reason(fate->reason));
	else if (backend)
		fprintf(stream, " %-12s", backend);
	fprintf(stream, "%s%s\n", service ? " service " : "", service ? service : "");
}
