/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"
#include "listing.h"
#include "value.h"

#include <stdio.h>

static void snapshot_print(const json_t *status)
{
	const json_t *snapshot = json_object_get(status, "snapshot");
	long long built = value_integer(snapshot, "built");
	long long in_force = value_integer(snapshot, "in_force");

	printf("snapshot   %lld in force", in_force);
	if (built != in_force)
		printf(", %lld waits", built);
	if (value_text(snapshot, "since")[0])
		printf(", since %s (built in %.1f ms, put in force in %.1f ms)",
			value_text(snapshot, "since"), value_real(snapshot, "build_ms"),
			value_real(snapshot, "swap_ms"));
	putchar('\n');
}

static void pools_print(const struct cli *cli, const json_t *pools)
{
	static const char *const titles[] = {"POOL", LISTING_RIGHT "BACKENDS",
		LISTING_RIGHT "HEALTHY", LISTING_RIGHT "MEMBERS", LISTING_RIGHT "SLOTS", "DIGEST",
		NULL};
	struct listing *listing = listing_new(titles, cli->color);
	const json_t *pool;
	size_t i;

	json_array_foreach (pools, i, pool) {
		listing_cell(listing, "%s", value_text(pool, "pool"));
		listing_cell(listing, "%lld", value_integer(pool, "backends"));
		listing_cell(listing, "%lld", value_integer(pool, "healthy"));
		listing_cell(listing, "%lld", value_integer(pool, "members"));
		listing_cell(listing, "%lld", value_integer(pool, "table_size"));
		listing_cell(listing, "%s", value_text(pool, "digest"));
	}
	listing_print(listing, "no pools");
}

static void status_print(const struct cli *cli, const json_t *status)
{
	const json_t *config = json_object_get(status, "config");
	const json_t *datapath = json_object_get(status, "datapath");
	const json_t *flows = json_object_get(status, "flows");
	const json_t *packets = json_object_get(status, "packets");
	const json_t *problems = json_object_get(status, "problems");
	const json_t *problem;
	char uptime[24];
	size_t i;

	printf("guideway   %s, node %s, process %lld, up %s\n", value_text(status, "version"),
		value_text(status, "node")[0] ? value_text(status, "node") : "unnamed",
		value_integer(status, "pid"),
		text_duration(value_integer(status, "uptime_ms"), uptime));
	if (!json_is_true(json_object_get(json_object_get(status, "node_state"), "announces"))) {
		fputs("node       ", stdout);
		node_print(json_object_get(status, "node_state"));
	}
	printf("config     %s, read %s%s\n", value_text(config, "file"),
		value_text(config, "loaded"),
		json_is_true(json_object_get(config, "valid")) ? "" : "; the file is INVALID now");
	printf("datapath   %s, %s\n", value_text(datapath, "path"),
		json_is_true(json_object_get(datapath, "present")) ? "present" : "ABSENT");
	snapshot_print(status);
	printf("flows      %lld of %lld\n", value_integer(flows, "active"),
		value_integer(flows, "capacity"));
	printf("packets    %lld in, %lld to backends\n", value_integer(packets, "rx"),
		value_integer(packets, "tx"));
	printf("services   %lld\n\n", value_integer(status, "services"));
	pools_print(cli, json_object_get(status, "pools"));
	json_array_foreach (problems, i, problem)
		printf("%s%sproblem: %s%s", i ? "" : "\n", cli->color ? "\033[31m" : "",
			json_string_value(problem), cli->color ? "\033[0m\n" : "\n");
}

int cmd_status(struct cli *cli, int count, char **words)
{
	json_t *status;
	int ret = cli_get(cli, "/v1/status", &status);

	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(status);
	else
		status_print(cli, status);
	json_decref(status);
	return ret;
}

int cmd_version(struct cli *cli, int count, char **words)
{
	puts(cli->json ? "{\"version\":\"" GW_VERSION "\"}" : "guideway " GW_VERSION);
	return CLI_DONE;
}
