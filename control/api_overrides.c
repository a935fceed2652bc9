/* SPDX-License-Identifier: BSD-2-Clause */
/* What people say about backends at run time. */
#include "api_routes.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define TTL_MAX_MS (365ll * 24 * 3600 * 1000)

struct change {
	const char *action;
	json_int_t weight;
	json_int_t ttl_ms; /* 0: none */
	const char *reason;
};

static const struct api_field change_fields[] = {
	{"action", API_TEXT, 0, 16, "drain, enable, disable, weight or clear"},
	{"weight", API_INTEGER, 0, UINT32_MAX, NULL},
	{"reason", API_TEXT, 0, GW_RUNTIME_WHY - 1, NULL},
	{"ttl_ms", API_INTEGER, 1000, TTL_MAX_MS, NULL},
};

static bool change_read(json_t *body, struct change *change, struct gw_http_reply *reply)
{
	const json_t *weight = json_object_get(body, "weight");
	bool weighs;

	change->action = json_string_value(json_object_get(body, "action"));
	change->reason = json_string_value(json_object_get(body, "reason"));
	change->weight = json_integer_value(weight);
	change->ttl_ms = json_integer_value(json_object_get(body, "ttl_ms"));
	weighs = !strcmp(change->action, "weight");
	if (weighs && !weight) {
		api_error(reply, 400, "\"weight\" is missing: an integer from 0 to %u", UINT32_MAX);
		return false;
	}
	if (!weighs && weight) {
		api_error(
			reply, 400, "\"weight\" has no meaning with action \"%s\"", change->action);
		return false;
	}
	return true;
}

/* A token of scope drain takes backends out and puts them back, if nobody disabled them. */
static bool change_allowed(struct gw_daemon *daemon, const struct api_call *call,
	const struct change *change, struct gw_http_reply *reply)
{
	const struct gw_runtime_backend *known =
		gw_runtime_find(gw_state_runtime(daemon->state), call->words[0], call->words[1]);

	if (call->caller.scope > GW_CONFIG_SCOPE_DRAIN)
		return true;
	if (strcmp(change->action, "drain") != 0 && strcmp(change->action, "enable") != 0) {
		api_error(reply, 403, "%s may drain and enable, not \"%s\"", call->caller.name,
			change->action);
		return false;
	}
	if (known && (known->override.has_state ? known->override.state : known->file_state) ==
			     GW_CONFIG_DISABLED) {
		api_error(reply, 403, "%s/%s is disabled: only who has scope admin ends that",
			call->words[0], call->words[1]);
		return false;
	}
	return true;
}

/* As gw_runtime_override_*: 1 changed, 0 was so; -EINVAL for an unknown action. */
static int change_apply(
	struct gw_daemon *daemon, const struct api_call *call, const struct change *change)
{
	static const struct {
		const char *action;
		enum gw_config_backend_state state;
	} states[] = {
		{"drain", GW_CONFIG_DRAIN},
		{"enable", GW_CONFIG_ACTIVE},
		{"disable", GW_CONFIG_DISABLED},
	};
	struct gw_runtime *runtime = gw_state_runtime(daemon->state);
	const char *why = change->reason ? change->reason : "";
	const char *pool = call->words[0], *name = call->words[1];
	int64_t now = gw_clock_wall_ms();

	if (!strcmp(change->action, "clear"))
		return gw_runtime_override_clear(runtime, pool, name, now);
	if (!strcmp(change->action, "weight"))
		return gw_runtime_override_weight(
			runtime, pool, name, (uint32_t)change->weight, call->caller.name, why, now);
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(change->action, states[i].action))
			return gw_runtime_override_state(
				runtime, pool, name, states[i].state, call->caller.name, why, now);
	return -EINVAL;
}

static void change_tell(
	struct gw_daemon *daemon, const struct api_call *call, const struct change *change)
{
	char subject[GW_PART_MAX + GW_NAME_MAX + 2], to[32];

	snprintf(subject, sizeof(subject), "%s/%s", call->words[0], call->words[1]);
	if (!strcmp(change->action, "weight"))
		snprintf(to, sizeof(to), "weight %lld", (long long)change->weight);
	else
		snprintf(to, sizeof(to), "%s", change->action);
	gw_cause_add(&daemon->cause, call->caller.name, "%s: %s%s%s", subject, to,
		change->reason ? ", " : "", change->reason ? change->reason : "");
	gw_events_add(daemon->events, "override", subject, "", to, "by %s%s%s", call->caller.name,
		change->reason ? ": " : "", change->reason ? change->reason : "");
}

/* What people said is on disk before they hear that it is done, and packets follow it at once. */
static void change_take(struct gw_daemon *daemon)
{
	int ret = gw_state_writer_flush(daemon->writer);

	if (ret)
		gw_log_error("cannot write the state in %s: %s; the change is lost if "
			     "guideway-control crashes",
			gw_daemon_state_dir(daemon), strerror(-ret));
	gw_daemon_publish(daemon);
}

/* Said again without a time, an override stays for good. 1 when that changed something. */
static int change_until(
	struct gw_daemon *daemon, const struct api_call *call, const struct change *change)
{
	return gw_runtime_override_until(gw_state_runtime(daemon->state), call->words[0],
		       call->words[1],
		       change->ttl_ms ? gw_clock_wall_ms() + change->ttl_ms : 0) > 0;
}

static void change_do(struct gw_daemon *daemon, const struct api_call *call,
	const struct change *change, struct gw_http_reply *reply)
{
	int ret = change_apply(daemon, call, change), until;

	if (ret == -ENOENT) {
		api_error(reply, 404,
			"%s/%s is not in the configuration any more: it drains and then goes",
			call->words[0], call->words[1]);
		return;
	}
	if (ret == -EINVAL) {
		api_error(reply, 400,
			"\"action\" is \"%s\": it must be drain, enable, disable, weight or clear",
			change->action);
		return;
	}
	if (ret < 0) {
		api_error(reply, 500, "%s", strerror(-ret));
		return;
	}
	until = change_until(daemon, call, change);
	ret = ret || until;
	if (ret) {
		change_tell(daemon, call, change);
		change_take(daemon);
	}
	/* The build may be a new one: look the backend up again. */
	api_backend(daemon, call, reply);
	json_object_set_new(reply->json, "changed", json_boolean(ret));
}

void api_backend_change(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const struct gw_build_pool *pool;
	struct change change;
	json_t *body;

	if (!api_backend_find(daemon, call, &pool, reply))
		return;
	body = api_body(call, change_fields, COUNT(change_fields), reply);
	if (body && change_read(body, &change, reply) &&
		change_allowed(daemon, call, &change, reply))
		change_do(daemon, call, &change, reply);
	json_decref(body);
}

void api_overrides(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	const struct gw_runtime *runtime = gw_state_runtime(daemon->state);
	json_t *list = json_array();

	for (size_t i = 0; i < gw_runtime_count(runtime); i++) {
		const struct gw_runtime_backend *known = gw_runtime_at(runtime, i);
		json_t *object;

		if (!api_override_given(known))
			continue;
		object = api_override_json(&known->override);
		json_object_set_new(object, "pool", json_string(known->pool));
		json_object_set_new(object, "name", json_string(known->name));
		json_object_set_new(object, "until",
			json_string("the file's own value for this backend changes"));
		json_array_append_new(list, object);
	}
	reply->json = list;
}

void api_overrides_clear(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_runtime *runtime = gw_state_runtime(daemon->state);
	char subject[GW_PART_MAX + GW_NAME_MAX + 2];
	json_t *body = api_body(call, NULL, 0, reply);
	json_int_t cleared = 0;

	if (!body)
		return;
	json_decref(body);
	for (size_t i = 0; i < gw_runtime_count(runtime); i++) {
		const struct gw_runtime_backend *known = gw_runtime_at(runtime, i);

		if (!api_override_given(known) || gw_runtime_override_clear(runtime, known->pool,
							  known->name, gw_clock_wall_ms()) <= 0)
			continue;
		snprintf(subject, sizeof(subject), "%s/%s", known->pool, known->name);
		gw_events_add(daemon->events, "override", subject, "set", "clear", "by %s",
			call->caller.name);
		gw_cause_add(&daemon->cause, call->caller.name, "%s: override cleared", subject);
		cleared++;
	}
	if (cleared)
		change_take(daemon);
	reply->json = json_pack("{s:I}", "cleared", cleared);
}
