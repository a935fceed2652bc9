/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"
#include "listing.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void flows_print(const struct cli *cli, const json_t *answer)
{
	static const char *const titles[] = {
		"FLOW", "BACKEND", "STATE", LISTING_RIGHT "AGE", LISTING_RIGHT "SINCE", NULL};
	const json_t *flows = json_object_get(answer, "flows"), *flow;
	struct listing *listing = listing_new(titles, cli->color);
	size_t i;

	json_array_foreach (flows, i, flow) {
		char text[24];

		listing_cell(listing, "%s", value_text(flow, "flow"));
		listing_cell(
			listing, "%s/%s", value_text(flow, "pool"), value_text(flow, "backend"));
		listing_cell(listing, "%s", value_text(flow, "state"));
		listing_cell(listing, "%llds", value_integer(flow, "age"));
		listing_cell(
			listing, "%s", text_duration(value_integer(flow, "since") * 1000, text));
	}
	listing_print(listing, "no flow in the sample");
	printf("\nA sample: of new flows the last in each of %lld places is kept; %zu are shown%s, "
	       "%lld flows\nare active (as of the last sweep). `flow show` is exact, `flow count` "
	       "counts all.\n",
		value_integer(answer, "places"), json_array_size(flows),
		json_is_true(json_object_get(answer, "whole")) ? "" : " and more are there",
		value_integer(answer, "active"));
}

/* Adds "&pool=web&backend=b1" for "web/b1", or the backend alone. */
static int filter_add(struct cli *cli, const char *name, char *path, size_t size)
{
	const char *slash = strchr(name, '/');
	char *pool = slash ? strndup(name, (size_t)(slash - name)) : NULL;
	char *pool_escaped = pool ? cli_escape(cli, pool) : NULL;
	char *escaped = cli_escape(cli, slash ? slash + 1 : name);
	size_t used = strlen(path);
	int length = -1;

	if (escaped)
		length = snprintf(path + used, size - used, "&backend=%s%s%s", escaped,
			pool_escaped ? "&pool=" : "", pool_escaped ? pool_escaped : "");
	free(pool);
	free(pool_escaped);
	free(escaped);
	if (length >= 0 && (size_t)length < size - used)
		return CLI_DONE;
	cli_error("no backend \"%.80s\"", name);
	return CLI_ABSENT;
}

int cmd_flow_list(struct cli *cli, int count, char **words)
{
	char path[512];
	json_t *answer;
	int ret = CLI_DONE;

	snprintf(path, sizeof(path), "/v1/flows/list?limit=%llu", cli->limit ? cli->limit : 100);
	if (count)
		ret = filter_add(cli, words[0], path, sizeof(path));
	if (!ret)
		ret = cli_get(cli, path, &answer);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(answer);
	else
		flows_print(cli, answer);
	json_decref(answer);
	return ret;
}
