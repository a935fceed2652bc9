/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan_print.h"

#include "listing.h"
#include "value.h"

#include <stdio.h>
#include <string.h>

static void plan_service_print(const struct cli *cli, const json_t *service)
{
	static const char *const titles[] = {"BACKEND", "ADDRESS", LISTING_RIGHT "SLOTS BEFORE",
		LISTING_RIGHT "SLOTS AFTER", LISTING_RIGHT "LOAD BEFORE",
		LISTING_RIGHT "LOAD AFTER", NULL};
	const json_t *backends = json_object_get(service, "per_backend");
	struct listing *listing;
	const json_t *backend;
	char moved[16], ideal[16];
	size_t i;

	printf("service %s (pool %s): %s; %s of new flows move, at best %s would\n",
		value_text(service, "service"), value_text(service, "pool"),
		value_text(service, "change"),
		text_share(value_real(service, "moved_share"), moved),
		text_share(value_real(service, "ideal_share"), ideal));
	listing = listing_new(titles, cli->color);
	json_array_foreach (backends, i, backend) {
		listing_cell(listing, "  %s", value_text(backend, "name"));
		listing_cell(listing, "%s", value_text(backend, "address"));
		listing_cell(listing, "%lld", value_integer(backend, "slots_before"));
		listing_cell(listing, "%lld", value_integer(backend, "slots_after"));
		listing_cell(listing, "%s", text_share(value_real(backend, "share_before"), moved));
		listing_cell(listing, "%s", text_share(value_real(backend, "share_after"), moved));
	}
	listing_print(listing, "  no backends");
}

void lines_print(const json_t *object, const char *key, const char *word)
{
	const json_t *line;
	size_t i;

	json_array_foreach (json_object_get(object, key), i, line)
		printf("%s: %s\n", word, json_string_value(line));
}

static void backends_note_print(const json_t *plan)
{
	const json_t *backend, *keys, *key;
	size_t i, k;

	json_array_foreach (json_object_get(plan, "backends"), i, backend) {
		keys = json_object_get(backend, "keys");
		printf("backend %s/%s: %s", value_text(backend, "pool"),
			value_text(backend, "name"), value_text(backend, "change"));
		json_array_foreach (keys, k, key)
			printf("%s %s", k ? "," : ":", json_string_value(key));
		putchar('\n');
	}
}

void plan_print(const struct cli *cli, const json_t *plan)
{
	const json_t *services = json_object_get(plan, "services");
	const json_t *service;
	size_t changed = 0, i;

	json_array_foreach (services, i, service) {
		if (!strcmp(value_text(service, "change"), "none") ||
			!strcmp(value_text(service, "change"), "unchanged"))
			continue;
		if (changed++)
			putchar('\n');
		plan_service_print(cli, service);
	}
	backends_note_print(plan);
	lines_print(plan, "warnings", "warning");
	lines_print(plan, "moves", "needs --accept-moves");
	lines_print(plan, "restarts", "not by a reload");
	if (!changed)
		puts("no service changes and no flow moves");
	else
		puts("\nTracked flows stay on backends that remain; only new ones follow the new "
		     "tables.");
}
