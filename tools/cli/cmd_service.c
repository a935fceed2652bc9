/* SPDX-License-Identifier: BSD-2-Clause */
#include "backends.h"
#include "cli.h"
#include "listing.h"
#include "value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "203.0.113.10,2001:db8:113::10" and "80,443,8000-8099" from a JSON array. */
static void list_join(const json_t *list, char *text, size_t size)
{
	const json_t *item;
	size_t i, used = 0;

	text[0] = 0;
	json_array_foreach (list, i, item) {
		char number[24];
		const char *word = json_string_value(item);

		if (!word) {
			snprintf(number, sizeof(number), "%lld",
				(long long)json_integer_value(item));
			word = number;
		}
		if (used < size)
			used += (size_t)snprintf(
				text + used, size - used, "%s%s", i ? "," : "", word);
	}
}

static void services_print(const struct cli *cli, const json_t *list)
{
	static const char *const titles[] = {"SERVICE", "ADDRESSES", "PROTOCOL", "PORTS", "POOL",
		LISTING_RIGHT "HEALTHY", LISTING_RIGHT "PACKETS", LISTING_RIGHT "BYTES", NULL};
	struct listing *listing = listing_new(titles, cli->color);
	const json_t *service;
	size_t i;

	json_array_foreach (list, i, service) {
		char text[512], bytes[16];

		listing_cell(listing, "%s", value_text(service, "name"));
		list_join(json_object_get(service, "addresses"), text, sizeof(text));
		listing_cell(listing, "%s", text);
		listing_cell(listing, "%s", value_text(service, "protocol"));
		list_join(json_object_get(service, "ports"), text, sizeof(text));
		listing_cell(listing, "%s", text);
		listing_cell(listing, "%s", value_text(service, "pool"));
		listing_cell(listing, "%lld/%lld", value_integer(service, "healthy"),
			value_integer(service, "backends"));
		listing_cell(listing, "%lld", value_integer(service, "packets"));
		listing_cell(listing, "%s", text_bytes(value_real(service, "bytes"), bytes));
	}
	listing_print(listing, "no services");
}

int cmd_service_list(struct cli *cli, int count, char **words)
{
	json_t *list;
	int ret = cli_get(cli, "/v1/services", &list);

	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(list);
	else
		services_print(cli, list);
	json_decref(list);
	return ret;
}

static void service_print(const struct cli *cli, const json_t *service)
{
	char text[512];

	printf("service    %s\n", value_text(service, "name"));
	list_join(json_object_get(service, "addresses"), text, sizeof(text));
	printf("addresses  %s\n", text);
	list_join(json_object_get(service, "ports"), text, sizeof(text));
	printf("ports      %s %s\n", value_text(service, "protocol"), text);
	printf("affinity   %s\n", value_text(service, "affinity"));
	if (json_is_false(json_object_get(service, "track_flows")))
		printf("flows      not tracked: each packet goes by the table\n");
	printf("pool       %s (%s), %lld of %lld backends healthy%s\n", value_text(service, "pool"),
		value_text(service, "encap"), value_integer(service, "healthy"),
		value_integer(service, "backends"),
		json_is_true(json_object_get(service, "panic")) ? ", in panic" : "");
	printf("traffic    %lld packets, %s\n\n", value_integer(service, "packets"),
		text_bytes(value_real(service, "bytes"), text));
	backends_print(cli, json_object_get(service, "pool_backends"));
}

int cmd_service_show(struct cli *cli, int count, char **words)
{
	char path[512], *name = cli_escape(cli, words[0]);
	json_t *service;
	int ret;

	snprintf(path, sizeof(path), "/v1/services/%s", name ? name : "");
	free(name);
	ret = cli_get(cli, path, &service);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(service);
	else
		service_print(cli, service);
	json_decref(service);
	return ret;
}
