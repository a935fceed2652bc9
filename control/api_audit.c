/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line a change, in the log and in `events`: who asked (the Unix peer's uid, which the kernel
 * tells, or the token's name and where it came from), what for, what was answered and the version
 * that was made last then. Requests that were refused to a known caller are told too.
 */
#include "api_routes.h"

#include <stdio.h>
#include <string.h>

#define BODY_SHOWN 200

/* What the body said, on one line, without what a terminal or a log could stumble over. */
static void body_show(const struct gw_http_request *request, char text[static BODY_SHOWN + 4])
{
	size_t length = request->body_length < BODY_SHOWN ? request->body_length : BODY_SHOWN;
	size_t made = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)request->body[i];

		if (c == '\n' || c == '\r' || c == '\t' || c == ' ') {
			if (made && text[made - 1] != ' ')
				text[made++] = ' ';
		} else {
			text[made++] = c < 0x20 || c >= 0x7f ? '?' : (char)c;
		}
	}
	strcpy(text + made, length < request->body_length ? "..." : "");
}

void api_audit(
	struct gw_daemon *daemon, const struct api_call *call, const struct gw_http_reply *reply)
{
	const struct gw_http_request *request = call->request;
	const char *error = reply->status < 400
				    ? NULL
				    : json_string_value(json_object_get(reply->json, "error"));
	char subject[160], status[16], body[BODY_SHOWN + 4];

	body_show(request, body);
	snprintf(subject, sizeof(subject), "%s %s", request->method, request->path);
	snprintf(status, sizeof(status), "%u", reply->status);
	daemon->api.changes++;
	if (error)
		gw_events_warn(daemon->events, "audit", subject, "", status, "%s (%s): %s: %s",
			call->caller.name, call->caller.origin, error, body[0] ? body : "{}");
	else
		gw_events_add(daemon->events, "audit", subject, "", status,
			"%s (%s), version %llu: %s", call->caller.name, call->caller.origin,
			(unsigned long long)daemon->build->version, body[0] ? body : "{}");
}
