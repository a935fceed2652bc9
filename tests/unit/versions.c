/* SPDX-License-Identifier: BSD-2-Clause */
/* What was published and from which configuration: history, the store, comparisons, plan's notes.
 */
#include "control/config_compare.h"
#include "control/config_store.h"
#include "control/history.h"
#include "control/plan_notes.h"
#include "control_fixture.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define TWO_POOLS(weight, size, affinity, more)                                                    \
	FIXTURE_NODE                                                                               \
	"defaults: {healthcheck: {type: none}}\n"                                                  \
	"pools:\n"                                                                                 \
	"  - name: web\n"                                                                          \
	"    table_size: " size "\n"                                                               \
	"    backends:\n"                                                                          \
	"      - {name: b1, address: 10.82.0.101, weight: " weight "}\n"                           \
	"      - {name: b2, address: 10.82.0.102}\n" more "  - name: dns\n"                        \
	"    table_size: 1021\n"                                                                   \
	"    backends: [{name: d1, address: 10.82.0.111}]\n"                                       \
	"services:\n"                                                                              \
	"  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80], pool: web,"        \
	" affinity: " affinity "}\n"                                                               \
	"  - {name: dns, addresses: [203.0.113.11], protocol: udp, ports: [53], pool: dns}\n"
#define FIRST  TWO_POOLS("1", "1021", "5tuple", "")
#define SECOND TWO_POOLS("3", "1021", "5tuple", "      - {name: b3, address: 10.82.0.103}\n")

static struct gw_build *build_of(const char *text, uint64_t version)
{
	struct gw_build *build = fixture_build(text);

	gw_build_renumber(build, version);
	return build;
}

static void keep(struct gw_history *history, const char *text, uint64_t version, const char *cause,
	const char *who)
{
	struct gw_build *build = build_of(text, version);
	struct gw_cause because = {0};

	gw_cause_add(&because, who, "%s", cause);
	CU_ASSERT_EQUAL(gw_history_add(history, build, 1, &because, 1000 * (int64_t)version), 0);
	gw_build_free(build);
}

static const char *text_at(const json_t *list, size_t i, const char *key)
{
	return json_string_value(json_object_get(json_array_get(list, i), key));
}

static void versions_tell_why_and_who_and_which_tables_changed(void)
{
	struct gw_history *history = gw_history_new();
	const json_t *changed;
	json_t *list;

	keep(history, FIRST, 7, "start", NULL);
	keep(history, SECOND, 9, "config reload", "root");
	gw_history_in_force(history, 9, 9100);
	list = gw_history_json(history);
	CU_ASSERT_EQUAL_FATAL(json_array_size(list), 2);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_array_get(list, 0), "version")), 9);
	CU_ASSERT_STRING_EQUAL(text_at(list, 0, "cause"), "config reload");
	CU_ASSERT_STRING_EQUAL(text_at(list, 0, "who"), "root");
	CU_ASSERT_STRING_EQUAL(text_at(list, 0, "in_force"), "1970-01-01T00:00:09.100Z");
	CU_ASSERT_PTR_NULL(text_at(list, 1, "in_force"));
	CU_ASSERT_PTR_NULL(text_at(list, 1, "who"));
	changed = json_object_get(json_array_get(list, 0), "changed");
	CU_ASSERT_EQUAL_FATAL(json_array_size(changed), 1);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_array_get(changed, 0)), "web");
	json_decref(list);
	gw_history_free(history);
}

static void several_causes_are_one_version(void)
{
	struct gw_history *history = gw_history_new();
	struct gw_build *build = build_of(FIRST, 3);
	struct gw_cause cause = {0};
	json_t *list;

	gw_cause_add(&cause, NULL, "web/b2 down: http 503, 3 of 3");
	gw_cause_add(&cause, "root", "web/b1: drain");
	gw_cause_add(&cause, NULL, "dns/d1 down: no answer");
	CU_ASSERT_EQUAL(gw_history_add(history, build, 1, &cause, 1), 0);
	list = gw_history_json(history);
	CU_ASSERT_STRING_EQUAL(
		text_at(list, 0, "cause"), "web/b2 down: http 503, 3 of 3, and 2 more");
	json_decref(list);
	gw_build_free(build);
	gw_history_free(history);
}

/* As a plan between the two builds says it, made again from members and weights alone. */
static void two_versions_differ_as_their_plan_says(void)
{
	struct gw_history *history = gw_history_new();
	struct gw_build *first = build_of(FIRST, 7), *second = build_of(SECOND, 9);
	json_t *plan = gw_plan_json(first, second), *diff;
	uint64_t missing = 0;
	int status;

	keep(history, FIRST, 7, "start", NULL);
	keep(history, SECOND, 9, "reload", NULL);
	diff = gw_history_diff(history, 7, 9, &status, &missing);
	CU_ASSERT_PTR_NOT_NULL_FATAL(diff);
	CU_ASSERT_TRUE(
		json_equal(json_object_get(plan, "services"), json_object_get(diff, "services")));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(diff, "from")), 7);
	json_decref(diff);
	CU_ASSERT_PTR_NULL(gw_history_diff(history, 8, 9, &status, &missing));
	CU_ASSERT_EQUAL(status, -ENOENT);
	CU_ASSERT_EQUAL(missing, 8);
	json_decref(plan);
	gw_build_free(first);
	gw_build_free(second);
	gw_history_free(history);
}

static void a_hundred_versions_are_kept(void)
{
	struct gw_history *history = gw_history_new();
	struct gw_build *build = fixture_build(FIRST);
	struct gw_cause cause = {.text = "again"};
	json_t *list;

	for (uint64_t version = 1; version <= 250; version++) {
		gw_build_renumber(build, version);
		CU_ASSERT_EQUAL(gw_history_add(history, build, 1, &cause, 1), 0);
	}
	list = gw_history_json(history);
	CU_ASSERT_EQUAL(json_array_size(list), 100);
	CU_ASSERT_EQUAL(gw_history_oldest(history), 151);
	json_decref(list);
	gw_build_free(build);
	gw_history_free(history);
}

/* ---- the store ----------------------------------------------------------------------------- */

static void configurations_are_found_by_the_version_they_were_in_use_at(void)
{
	char dir[] = "/tmp/gw-versions-XXXXXX", path[64];
	struct gw_config *first, *second;
	struct gw_config_bundle bundle;
	struct stat status;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
	first = fixture_config(FIRST);
	second = fixture_config(SECOND);
	CU_ASSERT_EQUAL(gw_config_store_read(dir, 5, &bundle), -ENOENT);
	CU_ASSERT_EQUAL(gw_config_store_write(dir, 7, first), 0);
	CU_ASSERT_EQUAL(gw_config_store_write(dir, 9, second), 0);
	CU_ASSERT_EQUAL(gw_config_store_read(dir, 6, &bundle), -ENOENT);
	CU_ASSERT_EQUAL_FATAL(gw_config_store_read(dir, 8, &bundle), 0);
	CU_ASSERT_EQUAL(bundle.version, 7);
	CU_ASSERT_TRUE(
		gw_config_texts_equal(bundle.texts, bundle.count, first->texts, first->text_count));
	CU_ASSERT_FALSE(gw_config_texts_equal(
		bundle.texts, bundle.count, second->texts, second->text_count));
	gw_config_bundle_clear(&bundle);
	snprintf(path, sizeof(path), "%s/configs/%020d.json", dir, 9);
	CU_ASSERT_EQUAL(stat(path, &status), 0);
	CU_ASSERT_EQUAL(status.st_mode & 0777, 0600);
	CU_ASSERT_EQUAL(truncate(path, 10), 0);
	CU_ASSERT_EQUAL(gw_config_store_read(dir, 9, &bundle), -EINVAL);
	unlink(path);
	snprintf(path, sizeof(path), "%s/configs/%020d.json", dir, 7);
	unlink(path);
	snprintf(path, sizeof(path), "%s/configs", dir);
	CU_ASSERT_EQUAL(rmdir(path), 0); /* no temporary file is left */
	rmdir(dir);
	gw_config_free(first);
	gw_config_free(second);
}

/* ---- comparisons --------------------------------------------------------------------------- */

static void differences_are_named_by_their_keys(void)
{
	struct gw_config *before = fixture_config(FIRST), *after = fixture_config(SECOND);
	json_t *list = gw_config_differences(before, after);

	CU_ASSERT_EQUAL_FATAL(json_array_size(list), 2);
	CU_ASSERT_STRING_EQUAL(text_at(list, 0, "path"), "pools[web].backends[b1].weight");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_array_get(list, 0), "before")), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_array_get(list, 0), "after")), 3);
	CU_ASSERT_STRING_EQUAL(text_at(list, 1, "path"), "pools[web].backends[b3]");
	CU_ASSERT_PTR_NULL(json_object_get(json_array_get(list, 1), "before"));
	json_decref(list);
	gw_config_free(before);
	gw_config_free(after);
}

static void what_moves_everybody_is_named(void)
{
	struct gw_config *before = fixture_config(FIRST), *same = fixture_config(SECOND);
	struct gw_config *after =
		fixture_config("hash_seed: 5\n" TWO_POOLS("1", "2039", "source_ip", ""));
	json_t *none = gw_config_moves(before, same), *list = gw_config_moves(before, after);

	CU_ASSERT_EQUAL(json_array_size(none), 0);
	CU_ASSERT_EQUAL_FATAL(json_array_size(list), 3);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(json_string_value(json_array_get(list, 0)), "hash_seed changes"));
	CU_ASSERT_PTR_NOT_NULL(strstr(json_string_value(json_array_get(list, 1)),
		"pools[web].table_size changes from 1021 to 2039"));
	CU_ASSERT_PTR_NOT_NULL(strstr(json_string_value(json_array_get(list, 2)),
		"services[web].affinity changes from 5tuple to source_ip"));
	json_decref(none);
	json_decref(list);
	gw_config_free(before);
	gw_config_free(same);
	gw_config_free(after);
}

static void a_plan_names_backends_and_what_is_unwise(void)
{
	struct gw_config *before = fixture_config(FIRST);
	struct gw_config *after = fixture_config(TWO_POOLS(
		"3", "251", "5tuple", "      - {name: b3, address: 10.82.0.103, weight: 0}\n"));
	struct gw_build *build;
	json_t *plan = json_object();
	const json_t *list;
	char error[GW_BUILD_ERROR];

	CU_ASSERT_EQUAL_FATAL(gw_build_offline(after, NULL, 0, NULL, &build, error), 0);
	CU_ASSERT_EQUAL(gw_plan_notes(plan, before, after, build), 0);
	list = json_object_get(plan, "backends");
	CU_ASSERT_EQUAL_FATAL(json_array_size(list), 2);
	CU_ASSERT_STRING_EQUAL(text_at(list, 0, "name"), "b1");
	CU_ASSERT_STRING_EQUAL(text_at(list, 0, "change"), "changed");
	CU_ASSERT_STRING_EQUAL(text_at(list, 1, "change"), "added");
	list = json_object_get(plan, "warnings");
	CU_ASSERT_EQUAL_FATAL(json_array_size(list), 3);
	CU_ASSERT_PTR_NOT_NULL(strstr(json_string_value(json_array_get(list, 0)),
		"pool web: table_size 251 is less than 100 x 3"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(json_string_value(json_array_get(list, 1)), "announce is none"));
	json_decref(plan);
	gw_build_free(build);
	gw_config_free(before);
	gw_config_free(after);
}

#define DNS_ONLY(state, more)                                                                      \
	FIXTURE_NODE                                                                               \
	"defaults: {healthcheck: {type: none}}\n"                                                  \
	"pools:\n"                                                                                 \
	"  - name: dns\n"                                                                          \
	"    table_size: 1021\n"                                                                   \
	"    backends: [{name: d1, address: 10.82.0.111}, {name: d2, address: 10.82.0.112"         \
	", state: " state "}]\n"                                                                   \
	"services:\n"                                                                              \
	"  - {name: dns, addresses: [203.0.113.11], protocol: udp, ports: [53], pool: dns,"        \
	" announce: l2" more "}\n"

/* The warnings about service dns, joined. */
static char *warnings_between(const char *before_text, const char *after_text, char text[512])
{
	struct gw_config *before = fixture_config(before_text), *after = fixture_config(after_text);
	char error[GW_BUILD_ERROR];
	json_t *plan = json_object(), *line;
	struct gw_build *build;
	size_t i;

	text[0] = '\0';
	CU_ASSERT_EQUAL_FATAL(gw_build_offline(after, NULL, 0, NULL, &build, error), 0);
	CU_ASSERT_EQUAL(gw_plan_notes(plan, before, after, build), 0);
	json_array_foreach (json_object_get(plan, "warnings"), i, line)
		strncat(text, json_string_value(line), 511 - strlen(text));
	json_decref(plan);
	gw_build_free(build);
	gw_config_free(before);
	gw_config_free(after);
	return text;
}

static void a_plan_tells_what_it_means_not_to_track_flows(void)
{
	char text[512];

	CU_ASSERT_STRING_EQUAL(
		warnings_between(DNS_ONLY("active", ""), DNS_ONLY("drain", ""), text), "");
	warnings_between(DNS_ONLY("active", ", track_flows: false"),
		DNS_ONLY("drain", ", track_flows: false"), text);
	CU_ASSERT_STRING_EQUAL(text,
		"service dns: track_flows is false: what drains in pool dns (1) loses its packets "
		"at once");
	warnings_between(DNS_ONLY("active", ""), DNS_ONLY("active", ", track_flows: false"), text);
	CU_ASSERT_STRING_EQUAL(text,
		"service dns: track_flows becomes false: flows that are not where the table has "
		"them would move at once");
	CU_ASSERT_STRING_EQUAL(warnings_between(DNS_ONLY("active", ", track_flows: false"),
				       DNS_ONLY("active", ""), text),
		"");
}

static const struct gw_test tests[] = {
	GW_TEST(versions_tell_why_and_who_and_which_tables_changed),
	GW_TEST(several_causes_are_one_version),
	GW_TEST(two_versions_differ_as_their_plan_says),
	GW_TEST(a_hundred_versions_are_kept),
	GW_TEST(configurations_are_found_by_the_version_they_were_in_use_at),
	GW_TEST(differences_are_named_by_their_keys),
	GW_TEST(what_moves_everybody_is_named),
	GW_TEST(a_plan_names_backends_and_what_is_unwise),
	GW_TEST(a_plan_tells_what_it_means_not_to_track_flows),
};

int main(int argc, char **argv)
{
	return gw_suite_run("versions", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
