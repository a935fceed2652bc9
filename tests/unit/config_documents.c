/* SPDX-License-Identifier: BSD-2-Clause */
/* The manual page has the schema's keys, all of them and no others; the examples load. */
#include "config_expect.h"
#include "control/config_schema.h"

#include <errno.h>
#include <glob.h>

#define KEYS_MAX 256

/* SOURCE_ROOT is the project's folder, from the build. */
#define MANUAL	 SOURCE_ROOT "/docs/guideway.yaml.5"
#define EXAMPLES SOURCE_ROOT "/config/*.yaml"

struct keys {
	size_t count;
	char name[KEYS_MAX][CONFIG_PATH_MAX];
};

static struct keys schema, manual;

static void key_add(void *owner, const char *name)
{
	struct keys *keys = owner;

	CU_ASSERT_FATAL(keys->count < KEYS_MAX);
	snprintf(keys->name[keys->count++], CONFIG_PATH_MAX, "%s", name);
}

static void keys_collect(void)
{
	char line[256], name[256];
	FILE *page = fopen(MANUAL, "r");

	CU_ASSERT_PTR_NOT_NULL_FATAL(page);
	schema.count = manual.count = 0;
	config_schema_each(key_add, &schema);
	while (fgets(line, sizeof(line), page)) {
		if (sscanf(line, ".It Ic %255s", name) == 1)
			key_add(&manual, name);
	}
	fclose(page);
}

static size_t keys_have(const struct keys *keys, const char *name)
{
	size_t found = 0;

	for (size_t i = 0; i < keys->count; i++)
		found += !strcmp(keys->name[i], name);
	return found;
}

static void keys_subset(const struct keys *keys, const struct keys *of, const char *missing_in)
{
	for (size_t i = 0; i < keys->count; i++) {
		size_t found = keys_have(of, keys->name[i]);

		CU_ASSERT_EQUAL(found, 1);
		if (found != 1)
			fprintf(stderr, "  %s: %zu times in %s\n", keys->name[i], found,
				missing_in);
	}
}

static void the_manual_explains_every_key_once(void)
{
	keys_collect();
	CU_ASSERT(schema.count > 50);
	CU_ASSERT_EQUAL(keys_have(&schema, "pools[].backends[].weight"), 1);
	CU_ASSERT_EQUAL(keys_have(&schema, "pools[].backends[].port"), 0);
	keys_subset(&schema, &manual, "the manual");
}

static void the_manual_explains_no_key_that_is_not_there(void)
{
	keys_collect();
	keys_subset(&manual, &schema, "the schema");
}

static void examples_are_valid(void)
{
	glob_t files;

	CU_ASSERT_EQUAL_FATAL(glob(EXAMPLES, 0, NULL, &files), 0);
	CU_ASSERT(files.gl_pathc >= 3);
	for (size_t i = 0; i < files.gl_pathc; i++)
		CU_ASSERT_EQUAL(
			gw_config_check_report(files.gl_pathv[i], false, stdout, stderr), 0);
	globfree(&files);
}

static const struct gw_test tests[] = {
	GW_TEST(the_manual_explains_every_key_once),
	GW_TEST(the_manual_explains_no_key_that_is_not_there),
	GW_TEST(examples_are_valid),
};

GW_SUITE("config_documents", tests)
