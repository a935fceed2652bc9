/* SPDX-License-Identifier: BSD-2-Clause */
/* What guideway-replay says of each packet: a JSON line, a short line for people, or the whole
 * reasoning. */
#pragma once

#include "path.h"

#include <stdbool.h>
#include <stdio.h>

const char *report_verdict(enum gw_verdict verdict);
const char *report_reason(enum gw_drop reason);

/* {"index","verdict","held","reason","service","backend","out",…}; `first_out` is out[0]'s
 * position. */
void report_json(FILE *stream, const struct gw_build *build, uint64_t index,
	const struct fate *fate, uint64_t first_out);

/* One line. */
void report_line(
	FILE *stream, const struct gw_build *build, uint64_t index, const struct fate *fate);

/* Stage by stage, why. */
void report_stages(FILE *stream, const struct gw_build *build, uint64_t index, const uint8_t *frame,
	size_t length, const struct fate *fate);
