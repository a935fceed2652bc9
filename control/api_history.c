/* SPDX-License-Identifier: BSD-2-Clause */
/* Versions that were published, and what changed between two of them. */
#include "api_routes.h"

#include <errno.h>
#include <stdlib.h>

void api_history(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	reply->json = gw_history_json(daemon->history);
}

/* False after an error was answered. */
static bool version_read(const struct api_call *call, const char *name, uint64_t *version,
	struct gw_http_reply *reply)
{
	const char *text = gw_http_argument(call->request, name);
	char *end = NULL;

	errno = 0;
	if (text && *text >= '0' && *text <= '9')
		*version = strtoull(text, &end, 10);
	if (end && !*end && !errno)
		return true;
	api_error(reply, 400, "\"%s\" is %s: it must be a version's number", name,
		text ? text : "missing");
	return false;
}

void api_history_diff(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	uint64_t from, to, missing = 0;
	int status = 0;

	if (!version_read(call, "from", &from, reply) || !version_read(call, "to", &to, reply))
		return;
	reply->json = gw_history_diff(daemon->history, from, to, &status, &missing);
	if (status == -ENOENT)
		api_error(reply, 404,
			"version %llu is not kept; there are those of table history, the oldest "
			"is %llu",
			(unsigned long long)missing,
			(unsigned long long)gw_history_oldest(daemon->history));
	else if (!reply->json)
		api_error(reply, 500, "out of memory");
}
