/* SPDX-License-Identifier: BSD-2-Clause */
/* Flows: their entries in the flow table, and where the table sends them. */
#include "cli.h"
#include "control/builder.h"
#include "control/config.h"
#include "control/lookup.h"
#include "listing.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOW_MAX 512

/* A flow in one word or in three becomes one text. */
static int flow_join(int count, char **words, char text[static FLOW_MAX])
{
	size_t used = 0;

	for (int i = 0; i < count; i++) {
		used += (size_t)snprintf(
			text + used, FLOW_MAX - used, "%s%s", i ? " " : "", words[i]);
		if (used >= FLOW_MAX) {
			cli_error("a flow is not that long: \"%.60s...\"", text);
			return CLI_USAGE;
		}
	}
	return CLI_DONE;
}

static int flow_path(struct cli *cli, const char *start, const char *flow, char path[static 2048])
{
	char *escaped = cli_escape(cli, flow);

	if (!escaped) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	snprintf(path, 2048, "%s%s", start, escaped);
	free(escaped);
	return CLI_DONE;
}

int cmd_flow_show(struct cli *cli, int count, char **words)
{
	char flow[FLOW_MAX], path[2048];
	json_t *entry;
	int ret = flow_join(count, words, flow);

	if (!ret)
		ret = flow_path(cli, "/v1/flow?tuple=", flow, path);
	if (!ret)
		ret = cli_get(cli, path, &entry);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(entry);
	else
		printf("%s: %s/%s, %s, last packet %lld s ago\n", value_text(entry, "flow"),
			value_text(entry, "pool"), value_text(entry, "backend"),
			value_text(entry, "state"), value_integer(entry, "age"));
	json_decref(entry);
	return ret;
}

int cmd_flow_count(struct cli *cli, int count, char **words)
{
	static const char *const titles[] = {"BACKEND", LISTING_RIGHT "FLOWS", NULL};
	struct listing *listing;
	const json_t *backend;
	json_t *flows;
	size_t i;
	int ret = cli_get(cli, "/v1/flows", &flows);

	if (ret)
		return ret;
	if (cli->json) {
		ret = cli_print_json(flows);
		json_decref(flows);
		return ret;
	}
	printf("%lld active flows, room for %lld\n\n", value_integer(flows, "active"),
		value_integer(flows, "capacity"));
	listing = listing_new(titles, cli->color);
	json_array_foreach (json_object_get(flows, "backends"), i, backend) {
		listing_cell(
			listing, "%s/%s", value_text(backend, "pool"), value_text(backend, "name"));
		listing_cell(listing, "%lld", value_integer(backend, "active_flows"));
	}
	listing_print(listing, "no backends");
	json_decref(flows);
	return ret;
}

/* Lookup: one flow, by the daemon or from a file. */

struct lookup_source {
	struct cli *cli;
	struct gw_build *build; /* NULL: the daemon answers */
};

/* Each returns an exit status; *out holds the answer, or an object with "error", or NULL when what
 * is wrong has been said. */
static int lookup_offline(const struct gw_build *build, const char *flow, json_t **out)
{
	char error[GW_LOOKUP_ERROR];
	struct gw_lookup result;
	struct gw_flow_key key;

	if (gw_flow_parse(flow, &key, error)) {
		*out = json_pack("{s:s}", "error", error);
		return CLI_USAGE;
	}
	gw_lookup_flow(build, &key, &result);
	*out = gw_lookup_json(build, &key, &result);
	return *out ? CLI_DONE : CLI_FAILED;
}

static int lookup_one(const struct lookup_source *source, const char *flow, json_t **out)
{
	char path[2048];
	int ret;

	*out = NULL;
	if (source->build)
		return lookup_offline(source->build, flow, out);
	if (strlen(flow) >= FLOW_MAX) {
		*out = json_pack("{s:s}", "error", "a flow is not that long");
		return CLI_USAGE;
	}
	ret = flow_path(source->cli, "/v1/lookup?flow=", flow, path);
	return ret ? ret : cli_try(source->cli, path, NULL, out);
}

static void lookup_print(const json_t *result)
{
	const char *service = value_text(result, "service");
	const char *backend = value_text(result, "backend");

	printf("flow       %s\n", value_text(result, "flow"));
	printf("service    %s\n", service[0] ? service : "none");
	if (service[0]) {
		printf("pool       %s\n", value_text(result, "pool"));
		printf("hash       %s\n", value_text(result, "hash"));
		if (json_is_integer(json_object_get(result, "slot")))
			printf("slot       %lld of %lld\n", value_integer(result, "slot"),
				value_integer(result, "table_size"));
		if (value_text(result, "digest")[0])
			printf("table      version %lld, digest %s\n",
				value_integer(result, "table_version"),
				value_text(result, "digest"));
		printf("backend    %s%s%s\n", backend[0] ? backend : "none",
			value_text(result, "address")[0] ? " at " : "",
			value_text(result, "address"));
	}
	printf("why        %s%s%s\n", value_text(result, "reason"),
		value_text(result, "explanation")[0] ? ": " : "",
		value_text(result, "explanation"));
}

/* Program after program reads the answers: each line has one, a bad line an object that says so. */
static void lookup_line_json(const char *line, int ret, json_t *result)
{
	if (ret) {
		json_t *clean = json_string(line);

		json_object_set_new(result, "flow", clean ? clean : json_null());
	}
	cli_print_json_line(result);
}

static void lookup_line(const char *line, int ret, const json_t *result)
{
	if (ret)
		cli_error("%s", value_text(result, "error"));
	else
		printf("%s -> %s\n", line,
			value_text(result, "backend")[0] ? value_text(result, "backend")
							 : value_text(result, "reason"));
}

/* One flow a line; a bad one is said and makes the exit status 2, the others are answered. */
static int lookup_stream(const struct lookup_source *source)
{
	int status = CLI_DONE;
	size_t room = 0;
	char *line = NULL;
	ssize_t length;

	while ((length = getline(&line, &room, stdin)) >= 0) {
		json_t *result;
		int ret;

		line[strcspn(line, "\r\n")] = 0;
		if (!line[0] || line[0] == '#')
			continue;
		ret = lookup_one(source, line, &result);
		status = ret ? ret : status;
		if (!result)
			break;
		if (source->cli->json)
			lookup_line_json(line, ret, result);
		else
			lookup_line(line, ret, result);
		json_decref(result);
		if (ret == CLI_UNREACHABLE || ret == CLI_FAILED)
			break;
	}
	free(line);
	return status;
}

static int lookup_run(const struct lookup_source *source, int count, char **words)
{
	char flow[FLOW_MAX];
	json_t *result;
	int ret;

	if (count == 1 && !strcmp(words[0], "-"))
		return lookup_stream(source);
	ret = flow_join(count, words, flow);
	if (ret)
		return ret;
	ret = lookup_one(source, flow, &result);
	if (ret && result)
		cli_error("%s", value_text(result, "error"));
	else if (!ret && source->cli->json)
		ret = cli_print_json(result);
	else if (!ret)
		lookup_print(result);
	json_decref(result);
	return ret;
}

int cmd_lookup(struct cli *cli, int count, char **words)
{
	struct lookup_source source = {.cli = cli};
	struct gw_config_errors errors = {0};
	char error[GW_BUILD_ERROR];
	struct gw_config *config;
	int ret;

	if (!cli->config)
		return lookup_run(&source, count, words);
	ret = gw_config_load(cli->config, 0, &config, &errors);
	if (ret) {
		gw_config_errors_print(&errors, stderr);
		gw_config_errors_free(&errors);
		return CLI_INVALID;
	}
	gw_config_errors_free(&errors);
	ret = gw_build_offline(config, NULL, 0, NULL, &source.build, error);
	if (ret) {
		cli_error("%s cannot be built: %s", cli->config, error);
		gw_config_free(config);
		return CLI_INVALID;
	}
	ret = lookup_run(&source, count, words);
	gw_build_free(source.build);
	gw_config_free(config);
	return ret;
}
