/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"
#include "control/config.h"
#include "control/plan_notes.h"
#include "plan_print.h"
#include "value.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_DEFAULT "/etc/guideway/config.yaml"

int cmd_config_check(struct cli *cli, int count, char **words)
{
	const char *path = cli->config ? cli->config : CONFIG_DEFAULT;

	if (count && cli->config) {
		cli_error("config check takes one file: \"%s\" or \"%s\"?", words[0], cli->config);
		return CLI_USAGE;
	}
	return gw_config_check_report(count ? words[0] : path, cli->json, stdout, stderr);
}

/* NULL after the errors were printed; the exit status in *ret. */
static struct gw_config *config_load(const char *path, int *ret)
{
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;

	*ret = gw_config_load(path, GW_CONFIG_DAEMON, &config, &errors);
	if (*ret) {
		gw_config_errors_print(&errors, stderr);
		*ret = *ret == -ENOMEM ? CLI_FAILED : CLI_INVALID;
	}
	gw_config_errors_free(&errors);
	return config;
}

/*
 * The daemon opens no file that a client names: it gets the whole model, includes and defaults
 * filled in, and the seed's value in place of a file that holds it.
 */
static json_t *plan_request(const struct gw_config *config)
{
	json_t *model = gw_config_dump(config), *pool;
	size_t i;

	if (model && config->hash_seed_file) {
		json_object_del(model, "hash_seed_file");
		json_object_set_new(
			model, "hash_seed", json_integer((json_int_t)config->hash_seed));
	}
	/* The members themselves are there. */
	json_array_foreach (json_object_get(model, "pools"), i, pool)
		json_object_del(pool, "members_file");
	return model;
}

static int plan_end(const struct cli *cli, json_t *plan)
{
	int ret = CLI_DONE;

	if (cli->json)
		ret = cli_print_json(plan);
	else
		plan_print(cli, plan);
	json_decref(plan);
	return ret;
}

/* Both as their files state them, every backend healthy. */
static int plan_offline(struct cli *cli, const struct gw_config *after)
{
	char error[GW_BUILD_ERROR] = "out of memory";
	struct gw_build *was = NULL, *is = NULL;
	struct gw_config *before;
	json_t *plan = NULL;
	int ret;

	before = config_load(cli->against, &ret);
	if (!before)
		return ret;
	if (!gw_build_offline(before, NULL, 0, NULL, &was, error) &&
		!gw_build_offline(after, NULL, 0, NULL, &is, error))
		plan = gw_plan_json(was, is);
	if (plan && gw_plan_notes(plan, before, after, is)) {
		json_decref(plan);
		plan = NULL;
	}
	gw_build_free(was);
	gw_build_free(is);
	gw_config_free(before);
	if (plan)
		return plan_end(cli, plan);
	cli_error("%s", error);
	return CLI_FAILED;
}

int cmd_config_plan(struct cli *cli, int count, char **words)
{
	struct gw_config *config;
	json_t *plan;
	int ret;

	config = config_load(words[0], &ret);
	if (!config)
		return ret;
	if (cli->against)
		ret = plan_offline(cli, config);
	else
		ret = cli_post(cli, "/v1/config/plan", plan_request(config), &plan);
	gw_config_free(config);
	return ret || cli->against ? ret : plan_end(cli, plan);
}

static void taken_print(const json_t *answer)
{
	const char *until = value_text(answer, "confirm_until");

	if (!json_is_true(json_object_get(answer, "changed")))
		printf("%s is the same: nothing changes, version %lld\n",
			value_text(answer, "file"), value_integer(answer, "version"));
	else
		printf("%s accepted: %lld pools, %lld services, %lld tables made anew, version "
		       "%lld\n",
			json_is_true(json_object_get(answer, "set_aside"))
				? "the earlier configuration is"
				: value_text(answer, "file"),
			value_integer(answer, "pools"), value_integer(answer, "services"),
			value_integer(answer, "rebuilt"), value_integer(answer, "version"));
	if (until[0])
		printf("it goes back by itself at %s unless `guideway config confirm`\n", until);
	if (json_is_true(json_object_get(answer, "set_aside")))
		printf("%s is set aside until it changes or `guideway config reload`\n",
			value_text(answer, "file"));
}

static int config_change(struct cli *cli, const char *path, json_t *body)
{
	json_t *answer;
	int ret = cli_post(cli, path, body, &answer);

	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(answer);
	else
		taken_print(answer);
	json_decref(answer);
	return ret;
}

int cmd_config_reload(struct cli *cli, int count, char **words)
{
	json_t *body = json_object();

	if (cli->accept_moves)
		json_object_set_new(body, "accept_moves", json_true());
	if (cli->confirm_ms)
		json_object_set_new(
			body, "confirm_within_ms", json_integer((json_int_t)cli->confirm_ms));
	return config_change(cli, "/v1/config/reload", body);
}

int cmd_config_rollback(struct cli *cli, int count, char **words)
{
	unsigned long long version;
	json_t *body;
	char *end;

	errno = 0;
	version = strtoull(words[0], &end, 10);
	if (errno || *end || words[0][0] < '0' || words[0][0] > '9' || !version ||
		version > INT64_MAX) {
		cli_error("a version is a number, as in `table history`, not \"%s\"", words[0]);
		return CLI_USAGE;
	}
	body = json_pack("{s:I}", "version", (json_int_t)version);
	if (cli->accept_moves)
		json_object_set_new(body, "accept_moves", json_true());
	return config_change(cli, "/v1/config/rollback", body);
}

int cmd_config_confirm(struct cli *cli, int count, char **words)
{
	json_t *answer;
	int ret = cli_post(cli, "/v1/config/confirm", json_object(), &answer);

	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(answer);
	else
		puts("confirmed: the configuration in use stays");
	json_decref(answer);
	return ret;
}

static void value_print(const char *mark, const json_t *value)
{
	char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);

	printf("  %s %s\n", mark, text ? text : "");
	free(text);
}

static void diff_print(const json_t *diff)
{
	const json_t *change;
	size_t i;

	json_array_foreach (json_object_get(diff, "changes"), i, change) {
		printf("%s\n", value_text(change, "path"));
		if (json_object_get(change, "before"))
			value_print("-", json_object_get(change, "before"));
		if (json_object_get(change, "after"))
			value_print("+", json_object_get(change, "after"));
	}
	lines_print(diff, "moves", "needs --accept-moves");
	lines_print(diff, "restarts", "not by a reload");
	if (json_is_true(json_object_get(diff, "same")))
		printf("%s is what is in use\n", value_text(diff, "file"));
}

int cmd_config_diff(struct cli *cli, int count, char **words)
{
	json_t *diff;
	int ret = cli_get(cli, "/v1/config/diff", &diff);

	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(diff);
	else
		diff_print(diff);
	json_decref(diff);
	return ret;
}

int cmd_config_dump(struct cli *cli, int count, char **words)
{
	struct gw_config *config;
	json_t *model = NULL;
	int ret;

	if (!cli->config) {
		ret = cli_get(cli, "/v1/config", &model);
	} else {
		config = config_load(cli->config, &ret);
		if (!config)
			return ret;
		model = gw_config_dump(config);
		gw_config_free(config);
		if (!model)
			ret = CLI_FAILED;
	}
	if (ret)
		return ret;
	ret = cli_print_json(model);
	json_decref(model);
	return ret;
}

int cmd_config_schema(struct cli *cli, int count, char **words)
{
	json_t *schema = gw_config_json_schema();
	int ret = schema ? cli_print_json(schema) : CLI_FAILED;

	json_decref(schema);
	return ret;
}
