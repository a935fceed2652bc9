/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any text as a configuration. It loads, or gives errors that have a place and can be printed; what
 * loads must survive being written and read again. No other file is opened.
 */
#include "control/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static bool printable(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	}
	return true;
}

static void errors_check(const struct gw_config_errors *errors)
{
	char text[2048];

	require(errors->count > 0);
	for (size_t i = 0; i < errors->count; i++) {
		const struct gw_config_error *error = &errors->list[i];

		require(*error->message && error->place.line && error->place.column);
		require(gw_config_error_format(error, text, sizeof(text)) > 0);
		require(printable(text));
	}
}

/* Without DAEMON in both: a port that was taken from a service is written as the pool's own. */
static void dump_check(const struct gw_config *config)
{
	struct gw_config_errors errors = {0};
	struct gw_config *again = NULL;
	json_t *before = gw_config_dump(config), *after;
	char *text = json_dumps(before, JSON_COMPACT);

	require(before && text);
	if (gw_config_load_string("dump", text, strlen(text), GW_CONFIG_NO_FILES, &again, &errors))
		abort();
	after = gw_config_dump(again);
	require(json_equal(before, after));
	json_decref(before);
	json_decref(after);
	free(text);
	gw_config_errors_free(&errors);
	gw_config_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;
	int error = gw_config_load_string(
		"fuzz", (const char *)data, size, GW_CONFIG_NO_FILES, &config, &errors);

	require(error == 0 || error == -EINVAL);
	require((error == 0) == (config != NULL));
	if (error)
		errors_check(&errors);
	else
		dump_check(config);
	gw_config_errors_free(&errors);
	gw_config_free(config);
	return 0;
}
