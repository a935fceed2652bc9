/* SPDX-License-Identifier: BSD-2-Clause */
/* `guideway-control -t` and `guideway config check`: is this file good, and if not, all that is
 * wrong with it. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#define EXIT_OK	     0
#define EXIT_FAILED  1
#define EXIT_INVALID 5

static size_t backend_total(const struct gw_config *config)
{
	size_t total = 0;

	for (size_t i = 0; i < config->pool_count; i++)
		total += config->pools[i].backend_count;
	return total;
}

static void report_text(const char *path, const struct gw_config *config,
	const struct gw_config_errors *errors, FILE *out, FILE *err)
{
	if (!config) {
		gw_config_errors_print(errors, err);
		return;
	}
	fprintf(out, "%s: valid: %zu service%s, %zu pool%s, %zu backend%s, path %s\n", path,
		config->service_count, config->service_count == 1 ? "" : "s", config->pool_count,
		config->pool_count == 1 ? "" : "s", backend_total(config),
		backend_total(config) == 1 ? "" : "s", gw_config_path_name(config->dataplane.path));
}

static bool report_json(const char *path, const struct gw_config *config,
	const struct gw_config_errors *errors, FILE *out)
{
	json_t *list = config ? json_array() : gw_config_errors_json(errors);
	json_t *object = json_pack("{s:b,s:s,s:o,s:I}", "valid", config != NULL, "file", path,
		"errors", list, "omitted", (json_int_t)errors->omitted);
	bool done;

	if (!object)
		return false;
	if (config) {
		json_object_set_new(
			object, "services", json_integer((json_int_t)config->service_count));
		json_object_set_new(object, "pools", json_integer((json_int_t)config->pool_count));
		json_object_set_new(
			object, "backends", json_integer((json_int_t)backend_total(config)));
	}
	done = json_dumpf(object, out, JSON_COMPACT) == 0;
	fputc('\n', out);
	json_decref(object);
	return done;
}

int gw_config_check_report(const char *path, bool json, FILE *out, FILE *err)
{
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;
	int error = gw_config_load(path, GW_CONFIG_DAEMON, &config, &errors);
	int status = !error ? EXIT_OK : error == -ENOMEM ? EXIT_FAILED : EXIT_INVALID;

	if (!json)
		report_text(path, config, &errors, out, err);
	else if (!report_json(path, config, &errors, out))
		status = EXIT_FAILED;
	if (error == -ENOMEM)
		fputs("no memory\n", err);
	gw_config_errors_free(&errors);
	gw_config_free(config);
	return status;
}
