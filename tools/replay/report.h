/* SPDX-License-Identifier: BSD-2-Clause */
/* What guideway-replay says of each packet: a JSON line, a short line for people, or the whole
 * reasoning. */
#pragma once

#include "path.h"

#include <stdbool.h>
#include <stdio.h>

/* What became of a packet, and what the tracer wants to know besides. */
struct story {
	struct fate fate; /* its frames are valid only while they are reported */
	bool held;
	uint64_t first_out; /* position of its first frame in --out */
	uint64_t came_ns;
	uint64_t ended_ns;
	uint16_t mtu;		     /* of the egress link */
	const struct gw_paths *ways; /* of next hops that have several */
	struct gw_flow_key key;	     /* its flow … */
	uint64_t flow_before; /* … and that flow's word before and after it, GW_FLOW_EMPTY: none */
	uint64_t flow_after;
};

/* Names for people; NULL where the build has none such. */
const char *report_service(const struct gw_build *build, uint32_t id);
const char *report_backend(const struct gw_build *build, uint32_t id);
const char *report_verdict(enum gw_verdict verdict);
const char *report_reason(enum gw_drop reason);
const char *report_reason_text(enum gw_drop reason);

/* {"index","verdict","held","reason","service","backend","out",…} */
void report_json(
	FILE *stream, const struct gw_build *build, uint64_t index, const struct story *story);

/* One line. */
void report_line(
	FILE *stream, const struct gw_build *build, uint64_t index, const struct story *story);

/* Stage by stage, why. */
void report_stages(FILE *stream, const struct gw_build *build, uint64_t index, const uint8_t *frame,
	size_t length, const struct story *story);
