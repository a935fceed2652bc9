/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Entity tags: what a person or a program may change about a resource, hashed. Counters and health
 * are left out, so the tag stays while nobody interferes, and If-Match means "if nobody has changed
 * it since I looked" (RFC 9110, section 13.1.1; comparison is strong, a weak tag never matches).
 */
#include "api_routes.h"
#include "control/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Consumes value. */
static bool etag_of(json_t *value, char etag[static GW_HTTP_ETAG])
{
	char *text =
		value ? json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;

	json_decref(value);
	if (!text)
		return false;
	snprintf(etag, GW_HTTP_ETAG, "\"%016llx\"",
		(unsigned long long)XXH3_64bits(text, strlen(text)));
	free(text);
	return true;
}

static json_t *backend_part(const struct gw_runtime_backend *known)
{
	return json_pack("{s:s, s:s, s:i, s:I, s:o}", "pool", known->pool, "name", known->name,
		"state", (int)known->file_state, "weight", (json_int_t)known->file_weight,
		"override",
		api_override_given(known) ? api_override_json(&known->override) : json_null());
}

bool api_etag_backend(
	struct gw_daemon *daemon, const struct api_call *call, char etag[static GW_HTTP_ETAG])
{
	const struct gw_runtime_backend *known =
		gw_runtime_find(gw_state_runtime(daemon->state), call->words[0], call->words[1]);

	return known && etag_of(backend_part(known), etag);
}

bool api_etag_overrides(
	struct gw_daemon *daemon, const struct api_call *call, char etag[static GW_HTTP_ETAG])
{
	const struct gw_runtime *runtime = gw_state_runtime(daemon->state);
	json_t *list = json_array();

	for (size_t i = 0; i < gw_runtime_count(runtime); i++)
		if (api_override_given(gw_runtime_at(runtime, i)))
			json_array_append_new(list, backend_part(gw_runtime_at(runtime, i)));
	return etag_of(list, etag);
}

bool api_etag_config(
	struct gw_daemon *daemon, const struct api_call *call, char etag[static GW_HTTP_ETAG])
{
	return etag_of(gw_config_dump(daemon->config), etag);
}

bool api_etag_node(
	struct gw_daemon *daemon, const struct api_call *call, char etag[static GW_HTTP_ETAG])
{
	return etag_of(gw_node_json(daemon->node), etag);
}

/* One tag of the list at *text, which moves behind it: 1, 0 at the end, -1 when it is none. */
static int tag_next(const char **text, const char **tag, size_t *length, bool *weak)
{
	const char *at = *text + strspn(*text, " \t,");
	const char *end;

	if (!*at)
		return 0;
	*weak = !strncmp(at, "W/", 2);
	at += *weak ? 2 : 0;
	end = *at == '"' ? strchr(at + 1, '"') : NULL;
	if (!end)
		return -1;
	*tag = at;
	*length = (size_t)(end + 1 - at);
	*text = end + 1 + strspn(end + 1, " \t");
	return **text && **text != ',' ? -1 : 1;
}

enum api_match api_etag_match(const char *header, const char *etag)
{
	enum api_match match = API_MATCH_NONE;
	const char *tag;
	size_t length;
	bool weak;
	int got;

	if (!strcmp(header, "*"))
		return API_MATCH;
	if (!header[strspn(header, " \t,")])
		return API_MATCH_MALFORMED;
	while ((got = tag_next(&header, &tag, &length, &weak)) > 0)
		if (!weak && strlen(etag) == length && !memcmp(tag, etag, length))
			match = API_MATCH;
	return got < 0 ? API_MATCH_MALFORMED : match;
}
