/* SPDX-License-Identifier: BSD-2-Clause */
#include "backends.h"
#include "cli.h"
#include "listing.h"
#include "value.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_SIZE 512

int cmd_backend_list(struct cli *cli, int count, char **words)
{
	char path[PATH_SIZE] = "/v1/backends";
	json_t *list;
	int ret;

	if (count) {
		char *pool = cli_escape(cli, words[0]);

		snprintf(path, sizeof(path), "/v1/backends?pool=%s", pool ? pool : "");
		free(pool);
	}
	ret = cli_get(cli, path, &list);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(list);
	else
		backends_print(cli, list);
	json_decref(list);
	return ret;
}

static void override_print(const json_t *override)
{
	if (!json_is_object(override))
		return;
	printf("override      ");
	if (value_text(override, "state")[0])
		printf("%s ", value_text(override, "state"));
	if (json_is_integer(json_object_get(override, "weight")))
		printf("weight %lld ", value_integer(override, "weight"));
	printf("by %s since %s%s%s\n", value_text(override, "who"), value_text(override, "since"),
		value_text(override, "why")[0] ? ": " : "", value_text(override, "why"));
}

static void backend_print(const json_t *backend)
{
	char text[24];

	printf("backend       %s/%s\n", value_text(backend, "pool"), value_text(backend, "name"));
	printf("address       %s\n", value_text(backend, "address"));
	if (strcmp(value_text(backend, "key"), value_text(backend, "address")))
		printf("member key    %s\n", value_text(backend, "key"));
	printf("state         %s since %s: %s\n", value_text(backend, "state"),
		value_text(backend, "since")[0] ? value_text(backend, "since") : "the start",
		value_text(backend, "reason"));
	printf("health        %s\n", value_text(backend, "health"));
	if (value_text(backend, "last_failure")[0])
		printf("last failure  %s, %s\n", value_text(backend, "last_failure"),
			value_text(backend, "last_failure_at"));
	if (value_text(backend, "drain_until")[0])
		printf("drains until  %s\n", value_text(backend, "drain_until"));
	override_print(json_object_get(backend, "override"));
	if (value_text(backend, "held_until")[0])
		printf("held until    %s\n", value_text(backend, "held_until"));
	printf("weight        %lld, effective %g\n", value_integer(backend, "weight"),
		value_real(backend, "effective_weight"));
	printf("slots         %lld (%s)\n", value_integer(backend, "slots"),
		text_share(value_real(backend, "share"), text));
	printf("traffic       %lld packets, %s, %lld active flows\n",
		value_integer(backend, "packets"), text_bytes(value_real(backend, "bytes"), text),
		value_integer(backend, "active_flows"));
}

int cmd_backend_show(struct cli *cli, int count, char **words)
{
	return backend_tell(cli, words[0], "", backend_print);
}

int backend_change(struct cli *cli, const char *name, json_t *body)
{
	char path[PATH_SIZE], share[16];
	json_t *backend;
	int ret = backend_path(cli, name, path, sizeof(path));

	if (ret) {
		json_decref(body);
		return ret;
	}
	if (cli->reason)
		json_object_set_new(body, "reason", json_string(cli->reason));
	if (cli->ttl_ms)
		json_object_set_new(body, "ttl_ms", json_integer((json_int_t)cli->ttl_ms));
	ret = cli_post(cli, path, body, &backend);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(backend);
	else
		printf("%s/%s: %s%s, weight %lld, share %s%s\n", value_text(backend, "pool"),
			value_text(backend, "name"),
			json_is_true(json_object_get(backend, "changed")) ? "" : "already ",
			value_text(backend, "state"), value_integer(backend, "weight"),
			text_share(value_real(backend, "share"), share),
			strcmp(value_text(backend, "health"), "down") ? "" : ", health down");
	json_decref(backend);
	return ret;
}

int cmd_backend_enable(struct cli *cli, int count, char **words)
{
	return backend_change(cli, words[0], json_pack("{s:s}", "action", "enable"));
}

int cmd_backend_disable(struct cli *cli, int count, char **words)
{
	return backend_change(cli, words[0], json_pack("{s:s}", "action", "disable"));
}

int cmd_backend_weight(struct cli *cli, int count, char **words)
{
	unsigned long long weight;
	char *end;

	errno = 0;
	weight = strtoull(words[1], &end, 10);
	if (errno || *end || words[1][0] < '0' || words[1][0] > '9' || weight > UINT32_MAX) {
		cli_error("a weight is a number from 0 to %u, not \"%s\"", UINT32_MAX, words[1]);
		return CLI_USAGE;
	}
	return backend_change(cli, words[0],
		json_pack("{s:s, s:I}", "action", "weight", "weight", (json_int_t)weight));
}

int cmd_override_list(struct cli *cli, int count, char **words)
{
	static const char *const titles[] = {
		"BACKEND", "STATE", LISTING_RIGHT "WEIGHT", "WHO", "SINCE", "UNTIL", "WHY", NULL};
	struct listing *listing;
	const json_t *item;
	json_t *list;
	size_t i;
	int ret = cli_get(cli, "/v1/overrides", &list);

	if (ret)
		return ret;
	if (cli->json) {
		ret = cli_print_json(list);
		json_decref(list);
		return ret;
	}
	listing = listing_new(titles, cli->color);
	json_array_foreach (list, i, item) {
		listing_cell(listing, "%s/%s", value_text(item, "pool"), value_text(item, "name"));
		listing_cell(listing, "%s",
			value_text(item, "state")[0] ? value_text(item, "state") : "-");
		if (json_is_integer(json_object_get(item, "weight")))
			listing_cell(listing, "%lld", value_integer(item, "weight"));
		else
			listing_cell(listing, "-");
		listing_cell(listing, "%s", value_text(item, "who"));
		listing_cell(listing, "%s", value_text(item, "since"));
		listing_cell(listing, "%s",
			value_text(item, "ends")[0] ? value_text(item, "ends") : "-");
		listing_cell(listing, "%s", value_text(item, "why"));
	}
	listing_print(listing, "no overrides: everything is as the file says");
	if (json_array_size(list))
		puts("\nEach lasts until `override clear`, or until the file's own value for the "
		     "backend changes.");
	json_decref(list);
	return ret;
}

int cmd_override_clear(struct cli *cli, int count, char **words)
{
	json_t *answer;
	int ret;

	if (cli->all == (count > 0)) {
		cli_error("override clear takes one BACKEND, or --all");
		return CLI_USAGE;
	}
	if (count)
		return backend_change(cli, words[0], json_pack("{s:s}", "action", "clear"));
	ret = cli_post(cli, "/v1/overrides/clear", json_object(), &answer);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(answer);
	else
		printf("%lld overrides cleared\n", value_integer(answer, "cleared"));
	json_decref(answer);
	return ret;
}
