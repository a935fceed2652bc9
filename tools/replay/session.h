/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run of guideway-replay: the frames of the capture go through the path one by one; verdicts
 * come back, some of them later than their packet, and are told in the packets' order.
 */
#pragma once

#include "capture.h"
#include "path.h"

#include <stdbool.h>

struct session_options {
	const struct path *path;
	const char *in;
	const char *out;  /* NULL: not wanted */
	const char *host; /* same */
	uint64_t flows;
	uint16_t mtu;
	const struct gw_paths *ways; /* of next hops that have several */
	bool untraced;
	bool json;
	bool verbose;
};

/* Plays the whole capture. 0, or -1 after a message. */
int session_run(const struct session_options *options, const struct gw_build *build);
