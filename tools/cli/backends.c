/* SPDX-License-Identifier: BSD-2-Clause */
#include "backends.h"

#include "listing.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void backends_print(const struct cli *cli, const json_t *list)
{
	static const char *const titles[] = {"POOL", "NAME", "ADDRESS", "STATE", "HEALTH",
		LISTING_RIGHT "WEIGHT", LISTING_RIGHT "SLOTS", LISTING_RIGHT "SHARE",
		LISTING_RIGHT "PACKETS", LISTING_RIGHT "BYTES", LISTING_RIGHT "FLOWS", "WHY", NULL};
	struct listing *listing = listing_new(titles, cli->color);
	const json_t *backend;
	size_t i;

	json_array_foreach (list, i, backend) {
		char text[24];

		listing_cell(listing, "%s", value_text(backend, "pool"));
		listing_cell(listing, "%s", value_text(backend, "name"));
		listing_cell(listing, "%s", value_text(backend, "address"));
		listing_cell(listing, "%s", value_text(backend, "state"));
		listing_cell(listing, "%s", value_text(backend, "health"));
		listing_cell(listing, "%lld", value_integer(backend, "weight"));
		listing_cell(listing, "%lld", value_integer(backend, "slots"));
		listing_cell(listing, "%s", text_share(value_real(backend, "share"), text));
		listing_cell(listing, "%lld", value_integer(backend, "packets"));
		listing_cell(listing, "%s", text_bytes(value_real(backend, "bytes"), text));
		listing_cell(listing, "%lld", value_integer(backend, "active_flows"));
		listing_cell(listing, "%s%s%s", value_text(backend, "reason"),
			strcmp(value_text(backend, "health"), "down") ? "" : ": ",
			strcmp(value_text(backend, "health"), "down")
				? ""
				: value_text(backend, "last_failure"));
	}
	listing_print(listing, "no backends");
}

static int path_of(struct cli *cli, const char *pool, size_t pool_length, const char *name,
	char *path, size_t size)
{
	char pool_copy[128], *pool_escaped, *name_escaped;
	int length = -1;

	snprintf(pool_copy, sizeof(pool_copy), "%.*s", (int)pool_length, pool);
	pool_escaped = cli_escape(cli, pool_copy);
	name_escaped = cli_escape(cli, name);
	if (pool_escaped && name_escaped)
		length = snprintf(path, size, "/v1/backends/%s/%s", pool_escaped, name_escaped);
	free(pool_escaped);
	free(name_escaped);
	if (length < 0 || (size_t)length >= size) {
		cli_error("no backend \"%.80s\"", name);
		return CLI_ABSENT;
	}
	return CLI_DONE;
}

int backend_path(struct cli *cli, const char *name, char *path, size_t size)
{
	const char *slash = strchr(name, '/');
	const json_t *found = NULL, *backend;
	json_t *list;
	size_t i;
	int ret;

	if (slash)
		return path_of(cli, name, (size_t)(slash - name), slash + 1, path, size);
	ret = cli_get(cli, "/v1/backends", &list);
	if (ret)
		return ret;
	json_array_foreach (list, i, backend) {
		if (strcmp(value_text(backend, "name"), name))
			continue;
		if (found) {
			cli_error("\"%s\" is in several pools: say %s/%s or %s/%s", name,
				value_text(found, "pool"), name, value_text(backend, "pool"), name);
			json_decref(list);
			return CLI_USAGE;
		}
		found = backend;
	}
	if (found) {
		const char *pool = value_text(found, "pool");

		ret = path_of(cli, pool, strlen(pool), name, path, size);
	} else {
		cli_error("no backend \"%s\"; `guideway backend list` shows them", name);
		ret = CLI_ABSENT;
	}
	json_decref(list);
	return ret;
}

int backend_tell(struct cli *cli, const char *name, const char *sub, void (*print)(const json_t *))
{
	char path[512];
	json_t *answer;
	int ret = backend_path(cli, name, path, sizeof(path) - strlen(sub));

	if (ret)
		return ret;
	strcat(path, sub);
	ret = cli_get(cli, path, &answer);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(answer);
	else
		print(answer);
	json_decref(answer);
	return ret;
}
