/* SPDX-License-Identifier: BSD-2-Clause */
/* The node as a whole: whether it wants traffic. */
#include "api_routes.h"

#include <stdio.h>
#include <string.h>

void api_node(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply)
{
	reply->body = gw_node_json(daemon->node);
}

/* For whoever decides by a request whether this node gets traffic: 503 when it should not. */
void api_ready(struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply)
{
	bool ready = gw_node_announces(daemon->node) && daemon->datapath.present &&
		     daemon->datapath.in_force;

	reply->status = ready ? 200 : 503;
	reply->body = json_pack("{s:b}", "ready", ready);
}

void api_node_change(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_api_reply *reply)
{
	json_t *body = api_body(call, reply);
	const char *action = json_string_value(json_object_get(body, "action"));
	const char *why = json_string_value(json_object_get(body, "reason"));
	bool drain = action && !strcmp(action, "drain"), changed;
	char who[64];
	int error;

	if (!body)
		return;
	if (!drain && (!action || strcmp(action, "undrain"))) {
		api_error(reply, 400, "\"action\" is \"drain\" or \"undrain\"");
		json_decref(body);
		return;
	}
	api_caller_name(call, who, sizeof(who));
	error = gw_node_drain(
		daemon->node, drain, who, why ? why : "", gw_time_wall_ms(), &changed);
	if (error) {
		api_error(reply, 500, "cannot write the state: %s; nothing was changed",
			strerror(-error));
	} else {
		if (changed)
			gw_events_add(daemon->events, "node", "", drain ? "serving" : "drained",
				drain ? "drained" : "serving", "%s%s%s", who, why ? ": " : "",
				why ? why : "");
		reply->body = gw_node_json(daemon->node);
		json_object_set_new(reply->body, "changed", json_boolean(changed));
	}
	json_decref(body);
}
