/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"
#include "control/config.h"
#include "listing.h"
#include "value.h"

#include <errno.h>
#include <stdio.h>
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

static void plan_service_print(const struct cli *cli, const json_t *service)
{
	static const char *const titles[] = {"BACKEND", "ADDRESS", LISTING_RIGHT "SLOTS BEFORE",
		LISTING_RIGHT "SLOTS AFTER", NULL};
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
	}
	listing_print(listing, "  no backends");
}

static void plan_print(const struct cli *cli, const json_t *plan)
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
	if (!changed)
		puts("no service changes and no flow moves");
	else
		puts("\nTracked flows stay on backends that remain; only new ones follow the new "
		     "tables.");
}

/*
 * The daemon opens no file that a client names: it gets the whole model, includes and defaults
 * filled in, and the seed's value in place of a file that holds it.
 */
static json_t *plan_request(const struct gw_config *config)
{
	json_t *model = gw_config_dump(config);

	if (model && config->hash_seed_file) {
		json_object_del(model, "hash_seed_file");
		json_object_set_new(
			model, "hash_seed", json_integer((json_int_t)config->hash_seed));
	}
	return model;
}

int cmd_config_plan(struct cli *cli, int count, char **words)
{
	struct gw_config *config;
	json_t *plan;
	int ret;

	config = config_load(words[0], &ret);
	if (!config)
		return ret;
	ret = cli_post(cli, "/v1/config/plan", plan_request(config), &plan);
	gw_config_free(config);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(plan);
	else
		plan_print(cli, plan);
	json_decref(plan);
	return ret;
}

int cmd_config_reload(struct cli *cli, int count, char **words)
{
	json_t *answer;
	int ret = cli_post(cli, "/v1/config/reload", json_object(), &answer);

	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(answer);
	else
		printf("%s accepted: %lld pools, %lld services, %lld tables made anew, version "
		       "%lld\n",
			value_text(answer, "file"), value_integer(answer, "pools"),
			value_integer(answer, "services"), value_integer(answer, "rebuilt"),
			value_integer(answer, "version"));
	json_decref(answer);
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
