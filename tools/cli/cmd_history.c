/* SPDX-License-Identifier: BSD-2-Clause */
/* Versions of the tables: which there were and why, and what changed from one to another. */
#include "cli.h"
#include "listing.h"
#include "plan_print.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void history_print(const struct cli *cli, const json_t *list)
{
	static const char *const titles[] = {LISTING_RIGHT "VERSION", "PUBLISHED",
		LISTING_RIGHT "TABLES", LISTING_RIGHT "CONFIG", "WHO", "CAUSE", NULL};
	struct listing *listing = listing_new(titles, cli->color);
	const json_t *version;
	size_t i;

	json_array_foreach (list, i, version) {
		const char *who = value_text(version, "who");

		listing_cell(listing, "%lld", value_integer(version, "version"));
		listing_cell(listing, "%s", value_text(version, "published"));
		listing_cell(listing, "%zu", json_array_size(json_object_get(version, "changed")));
		listing_cell(listing, "%lld", value_integer(version, "config"));
		listing_cell(listing, "%s", who[0] ? who : "-");
		listing_cell(listing, "%s", value_text(version, "cause"));
	}
	listing_print(listing, "no version was published yet");
	if (json_array_size(list))
		puts("\nTABLES: how many changed. CONFIG: the configuration in use, for `config "
		     "rollback`.");
}

int cmd_table_history(struct cli *cli, int count, char **words)
{
	json_t *list;
	int ret = cli_get(cli, "/v1/history", &list);

	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(list);
	else
		history_print(cli, list);
	json_decref(list);
	return ret;
}

int cmd_table_diff(struct cli *cli, int count, char **words)
{
	char path[128], *from = cli_escape(cli, words[0]), *to = cli_escape(cli, words[1]);
	json_t *diff;
	int ret;

	snprintf(path, sizeof(path), "/v1/history/diff?from=%.40s&to=%.40s", from ? from : "",
		to ? to : "");
	free(from);
	free(to);
	ret = cli_get(cli, path, &diff);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(diff);
	else
		plan_print(cli, diff);
	json_decref(diff);
	return ret;
}
