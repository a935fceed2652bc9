/* SPDX-License-Identifier: BSD-2-Clause */
#include "api_routes.h"
#include "control/config.h"
#include "control/plan.h"

#include <errno.h>

void api_config(struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	reply->json = gw_config_dump(daemon->config);
}

void api_config_reload(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	json_t *body = api_body(call, NULL, 0, reply);

	if (!body)
		return;
	json_decref(body);
	if (gw_daemon_reload(
		    daemon, &(const struct gw_daemon_wish){.why = "config reload"}, NULL)) {
		api_errors(reply, 422, "the file is invalid, the configuration in use goes on",
			json_incref(daemon->load.errors));
		return;
	}
	reply->json = json_pack("{s:s, s:I, s:I, s:I, s:I}", "file", daemon->options.config,
		"version", (json_int_t)daemon->build->version, "pools",
		(json_int_t)daemon->build->pool_count, "services",
		(json_int_t)daemon->build->service_count, "rebuilt",
		(json_int_t)daemon->build->rebuilt_count);
}

static json_t *lines_of(const struct gw_config_errors *errors)
{
	json_t *lines = json_array();
	char line[1024];

	for (size_t i = 0; i < errors->count; i++) {
		gw_config_error_format(&errors->list[i], line, sizeof(line));
		json_array_append_new(lines, api_text(line));
	}
	return lines;
}

/* The body is a configuration, YAML or JSON; it may open no files. Nothing is changed. */
void api_config_plan(
	struct gw_daemon *daemon, const struct api_call *call, struct gw_http_reply *reply)
{
	struct gw_config_errors errors = {0};
	char error[GW_BUILD_ERROR];
	struct gw_config *config;
	struct gw_build *build;
	int ret;

	ret = gw_config_load_string("plan", call->request->body, call->request->body_length,
		GW_CONFIG_DAEMON | GW_CONFIG_NO_FILES, &config, &errors);
	if (ret) {
		api_errors(reply, ret == -EINVAL ? 422 : 500, "the configuration is invalid",
			lines_of(&errors));
		gw_config_errors_free(&errors);
		return;
	}
	gw_config_errors_free(&errors);
	ret = gw_daemon_build_trial(
		daemon, config, daemon->build->version + 1, true, &build, error);
	if (ret) {
		api_error(reply, 422, "the configuration cannot be built: %s", error);
	} else {
		reply->json = gw_plan_json(daemon->build, build);
		gw_build_free(build);
	}
	gw_config_free(config);
}
