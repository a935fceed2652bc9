/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"
#include "listing.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void table_print(const struct cli *cli, const json_t *table)
{
	static const char *const titles[] = {
		"BACKEND", LISTING_RIGHT "SLOTS", LISTING_RIGHT "SHARE", NULL};
	const json_t *backends = json_object_get(table, "backends");
	struct listing *listing = listing_new(titles, cli->color);
	const json_t *backend, *slot;
	char share[16];
	size_t i;

	printf("pool %s, %lld slots, version %lld, digest %s\n\n", value_text(table, "pool"),
		value_integer(table, "size"), value_integer(table, "table_version"),
		value_text(table, "digest"));
	json_array_foreach (backends, i, backend) {
		listing_cell(listing, "%s", value_text(backend, "name"));
		listing_cell(listing, "%lld", value_integer(backend, "slots"));
		listing_cell(listing, "%s", text_share(value_real(backend, "share"), share));
	}
	listing_print(listing, "no members: new flows are dropped");
	json_array_foreach (json_object_get(table, "slots"), i, slot)
		printf("%s%zu %s\n", i ? "" : "\n", i,
			value_text(json_array_get(backends, (size_t)json_integer_value(slot)),
				"name"));
}

int cmd_table_show(struct cli *cli, int count, char **words)
{
	char path[512], *pool = cli_escape(cli, words[0]);
	json_t *table;
	int ret;

	snprintf(path, sizeof(path), "/v1/pools/%s/table%s", pool ? pool : "",
		cli->full ? "?full=1" : "");
	free(pool);
	ret = cli_get(cli, path, &table);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(table);
	else
		table_print(cli, table);
	json_decref(table);
	return ret;
}

/* Members, and the smallest and largest share of slots against an even one. */
static json_t *table_stats(const json_t *table)
{
	const json_t *backends = json_object_get(table, "backends");
	long long least = 0, most = 0, members = 0;
	const json_t *backend;
	size_t i;

	json_array_foreach (backends, i, backend) {
		long long slots = value_integer(backend, "slots");

		if (!slots)
			continue;
		least = !members || slots < least ? slots : least;
		most = slots > most ? slots : most;
		members++;
	}
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:s, s:I}", "pool", value_text(table, "pool"),
		"size", (json_int_t)value_integer(table, "size"), "members", (json_int_t)members,
		"slots_least", (json_int_t)least, "slots_most", (json_int_t)most, "digest",
		value_text(table, "digest"), "table_version",
		(json_int_t)value_integer(table, "table_version"));
}

static void stats_print(const struct cli *cli, const json_t *list)
{
	static const char *const titles[] = {"POOL", LISTING_RIGHT "SLOTS", LISTING_RIGHT "MEMBERS",
		LISTING_RIGHT "LEAST", LISTING_RIGHT "MOST", LISTING_RIGHT "VERSION", "DIGEST",
		NULL};
	struct listing *listing = listing_new(titles, cli->color);
	const json_t *stats;
	size_t i;

	json_array_foreach (list, i, stats) {
		listing_cell(listing, "%s", value_text(stats, "pool"));
		listing_cell(listing, "%lld", value_integer(stats, "size"));
		listing_cell(listing, "%lld", value_integer(stats, "members"));
		listing_cell(listing, "%lld", value_integer(stats, "slots_least"));
		listing_cell(listing, "%lld", value_integer(stats, "slots_most"));
		listing_cell(listing, "%lld", value_integer(stats, "table_version"));
		listing_cell(listing, "%s", value_text(stats, "digest"));
	}
	listing_print(listing, "no pools");
}

int cmd_table_stats(struct cli *cli, int count, char **words)
{
	json_t *tables, *list;
	const json_t *table;
	size_t i;
	int ret = cli_get(cli, "/v1/pools", &tables);

	if (ret)
		return ret;
	list = json_array();
	json_array_foreach (tables, i, table)
		if (!count || !strcmp(value_text(table, "pool"), words[0]))
			json_array_append_new(list, table_stats(table));
	json_decref(tables);
	if (count && !json_array_size(list)) {
		cli_error("no pool \"%s\"", words[0]);
		ret = CLI_ABSENT;
	} else if (cli->json) {
		ret = cli_print_json(list);
	} else {
		stats_print(cli, list);
	}
	json_decref(list);
	return ret;
}
