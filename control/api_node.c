/* SPDX-License-Identifier: BSD-2-Clause */
/* The node as a whole: whether it wants traffic. */
#include "api_routes.h"

#include <stdio.h>
#include <string.h>

void api_node(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	reply->json = gw_node_json(daemon->node);
}

/* For whoever decides by a request whether this node gets traffic: 503 when it should not. */
void api_ready(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	bool ready = gw_node_announces(daemon->node) && daemon->datapath.present &&
		     daemon->datapath.in_force;

	reply->status = ready ? 200 : 503;
	reply->json = json_pack("{s:b}", "ready", ready);
}

void api_node_change(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	static const struct api_field fields[] = {
		{"action", API_TEXT, 0, 16, "drain or undrain"},
		{"reason", API_TEXT, 0, GW_RUNTIME_WHY - 1, NULL},
	};
	json_t *body = api_body(call, fields, sizeof(fields) / sizeof(fields[0]), reply);
	const char *action = json_string_value(json_object_get(body, "action"));
	const char *why = json_string_value(json_object_get(body, "reason"));
	const char *who = call->caller.name;
	bool drain, changed;
	int error;

	if (!body)
		return;
	drain = !strcmp(action, "drain");
	if (!drain && strcmp(action, "undrain") != 0) {
		api_error(reply, 400, "\"action\" is \"%s\": it must be drain or undrain", action);
		json_decref(body);
		return;
	}
	error = gw_node_drain(
		daemon->node, drain, who, why ? why : "", gw_time_wall_ms(), &changed);
	if (error) {
		api_error(reply, 500, "cannot write the state: %s; nothing was changed",
			strerror(-error));
	} else {
		gw_daemon_node_follow(daemon);
		if (changed)
			gw_events_add(daemon->events, "node", "", drain ? "serving" : "drained",
				drain ? "drained" : "serving", "%s%s%s", who, why ? ": " : "",
				why ? why : "");
		reply->json = gw_node_json(daemon->node);
		json_object_set_new(reply->json, "changed", json_boolean(changed));
	}
	json_decref(body);
}
