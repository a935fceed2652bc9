/* SPDX-License-Identifier: BSD-2-Clause */
/* Files: YAML that is none, bounds, includes, the seed's file. */
#include "config_expect.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/gw-config-test-XXXXXX";

/* The path of a file in the test's folder; valid until the next call but three. */
static const char *file_path(const char *name)
{
	static char paths[4][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, PATH_MAX, "%s/%s", folder, name);
	return path;
}

static void file_write(const char *name, const char *text)
{
	FILE *file = fopen(file_path(name), "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

/* The files must give this one error in the file named, at line and column. */
static void expect_file_error(const char *file, unsigned int line, unsigned int column,
	const char *path, const char *message)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};
	struct expected want = {path, message};

	CU_ASSERT_EQUAL(gw_config_load(file_path("main.yaml"), GW_CONFIG_DAEMON, &config, &errors),
		-EINVAL);
	CU_ASSERT_PTR_NULL(config);
	CU_ASSERT_EQUAL(errors.count, 1);
	if (errors.count != 1)
		gw_config_errors_print(&errors, stderr);
	if (errors.count) {
		CU_ASSERT_STRING_EQUAL(errors.list[0].place.file, file_path(file));
		error_compare(&errors.list[0], &want, line, column);
	}
	gw_config_errors_free(&errors);
}

static struct gw_config *load_files(void)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};

	if (gw_config_load(file_path("main.yaml"), GW_CONFIG_DAEMON, &config, &errors))
		gw_config_errors_print(&errors, stderr);
	gw_config_errors_free(&errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(config);
	return config;
}

static void text_that_is_no_yaml_has_its_place(void)
{
	EXPECT_ERRORS("version: 1\npools: [a, b\n@", {"", "YAML syntax"});
	EXPECT_ERRORS("version: 1\n@\tpools: []\n", {"", "YAML syntax"});
	EXPECT_ERRORS("version: 1\nnode: {name: @*nobody}\n", {"", "undefined alias"});
	EXPECT_ERRORS("version: 1\nnode: {name: \"@\xff\xfe\"}\n", {"", "not text in UTF-8"});
	EXPECT_ERRORS(
		"version: 1\nnode: {name: \"\xc3\xa4\xc3\xa4@\x01\"}\n", {"", "not text in UTF-8"});
	EXPECT_ERRORS("version: 1\n@--- \nversion: 1\n", {"", "a second document"});
	EXPECT_ERRORS("@", {"", "the file is empty"});
	EXPECT_ERRORS("# nothing\n@- a list\n", {"", "keys with values"});
	EXPECT_ERRORS("version: @!!int \"1\"\n", {"", "tags"});
}

static void a_byte_order_mark_is_no_part_of_the_text(void)
{
	static const char text[] = "\xef\xbb\xbf"
				   "version: 2\n";
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};

	gw_config_free(expect_config("\xef\xbb\xbf" CONFIG_HEAD CONFIG_POOL));
	CU_ASSERT_EQUAL(
		gw_config_load_string("test.yaml", text, sizeof(text) - 1, 0, &config, &errors),
		-EINVAL);
	/* columns count without it */
	CU_ASSERT(errors.count > 0);
	if (errors.count)
		error_compare(&errors.list[errors.count - 1],
			&(struct expected){"version", "is not a version"}, 1, 10);
	gw_config_errors_free(&errors);
}

static void nesting_has_a_limit(void)
{
	/* the root is one level, so the 16th bracket is one too many */
	expect_errors_with(0, "version: [[[[[[[[[[[[[[[@[]]]]]]]]]]]]]]]]\n",
		&(struct expected){"", "nested deeper than 16 levels"}, 1);
	expect_errors_with(0, "version: @[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]\n",
		&(struct expected){"version", "not a list"}, 1);
}

static void aliases_stand_for_values_but_not_for_themselves(void)
{
	struct gw_config *config = expect_config(
		CONFIG_HEAD "pools:\n"
			    "  - {name: a, healthcheck: &hc {type: tcp, port: 80, interval: 3s}}\n"
			    "  - {name: b, healthcheck: *hc}\n");

	CU_ASSERT_EQUAL(config->pools[1].check.interval_ms, 3000);
	gw_config_free(config);
	EXPECT_ERRORS(CONFIG_HEAD "pools: &p [@*p]\n", {"", "an alias inside what it stands for"});
}

/* 999 pools with 4000 backends each from 60 kB; each is an error on top. */
static void aliases_cannot_multiply_without_end(void)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};
	char text[65536];
	size_t at = (size_t)snprintf(
		text, sizeof(text), "version: 1\npools:\n  - name: a\n    backends: &a\n");

	for (int i = 0; i < 4000; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "      - {}\n");
	for (int i = 0; i < 999; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "  - backends: *a\n");
	CU_ASSERT_FATAL(at < sizeof(text));
	CU_ASSERT_EQUAL(gw_config_load_string("test.yaml", text, at, 0, &config, &errors), -EINVAL);
	CU_ASSERT_EQUAL(errors.count, GW_CONFIG_ERRORS_MAX);
	CU_ASSERT(errors.omitted > 0);
	gw_config_errors_free(&errors);
}

static void more_than_a_thousand_aliases_are_refused(void)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};
	char text[16384];
	size_t at = (size_t)snprintf(text, sizeof(text), "version: &a 1\npools: [");

	for (int i = 0; i < 1001; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s*a", i ? ", " : "");
	at += (size_t)snprintf(text + at, sizeof(text) - at, "]\n");
	CU_ASSERT_EQUAL(gw_config_load_string("test.yaml", text, at, 0, &config, &errors), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(errors.count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors.list[0].message, "more than 1000 aliases"));
	gw_config_errors_free(&errors);
}

static void files_over_8_mib_are_refused(void)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};
	size_t size = 8 * 1024 * 1024;
	char *text = malloc(size + 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	memset(text, ' ', size + 1);
	memcpy(text, "version: 1\n#", 12);
	CU_ASSERT_EQUAL(
		gw_config_load_string("big.yaml", text, size + 1, 0, &config, &errors), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(errors.count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors.list[0].message, "larger than 8 MiB"));
	gw_config_errors_free(&errors);
	CU_ASSERT_EQUAL(gw_config_load_string("big.yaml", text, size, 0, &config, &errors), 0);
	gw_config_errors_free(&errors);
	gw_config_free(config);
	free(text);
}

static void what_cannot_be_read_is_said_without_a_line(void)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};
	char text[256];

	CU_ASSERT_EQUAL(gw_config_load("/nonexistent/gw.yaml", 0, &config, &errors), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(errors.count, 1);
	gw_config_error_format(&errors.list[0], text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(
		text, "/nonexistent/gw.yaml: cannot be read: No such file or directory");
	gw_config_errors_free(&errors);
	unlink(file_path("main.yaml"));
	CU_ASSERT_EQUAL_FATAL(mkfifo(file_path("main.yaml"), 0600), 0);
	expect_file_error("main.yaml", 0, 0, "", "not a regular file");
	unlink(file_path("main.yaml"));
	CU_ASSERT_EQUAL_FATAL(mkdir(file_path("main.yaml"), 0700), 0);
	expect_file_error("main.yaml", 0, 0, "", "Is a directory");
	rmdir(file_path("main.yaml"));
}

static void included_files_join_the_lists(void)
{
	struct gw_config *config;

	mkdir(file_path("conf.d"), 0700);
	file_write("main.yaml", CONFIG_HEAD "include: conf.d/*.yaml\n" CONFIG_POOL);
	file_write("conf.d/20-b.yaml", "services: [{name: s, pool: api, protocol: tcp, ports: [80],"
				       " addresses: [203.0.113.10]}]\n");
	file_write("conf.d/10-a.yaml", "version: 1\npools: [{name: api}]\nhash_seed: 7\n");
	file_write("conf.d/30-c.yml", "not: read\n");
	config = load_files();
	CU_ASSERT_EQUAL(config->pool_count, 2);
	CU_ASSERT_STRING_EQUAL(config->pools[0].name, "web");
	CU_ASSERT_PTR_EQUAL(config->services[0].pool, &config->pools[1]);
	CU_ASSERT_EQUAL(config->hash_seed, 7);
	CU_ASSERT_EQUAL_FATAL(config->file_count, 3);
	CU_ASSERT_STRING_EQUAL(config->files[1], file_path("conf.d/10-a.yaml"));
	CU_ASSERT_STRING_EQUAL(config->pools[1].place.file, file_path("conf.d/10-a.yaml"));
	gw_config_free(config);
}

static void errors_of_included_files_name_them(void)
{
	file_write("conf.d/10-a.yaml", "pools:\n  - {name: api, weight: 1}\n");
	expect_file_error("conf.d/10-a.yaml", 2, 17, "pools[api].weight", "unknown key");
	file_write("conf.d/10-a.yaml", "pools: [{name: api}, {name: web}]\n");
	expect_file_error("conf.d/10-a.yaml", 1, 22, "pools[web].name", "main.yaml line 5");
	file_write("conf.d/10-a.yaml", "pools: [{name: api}]\nnode: {name: lb2}\n");
	expect_file_error("conf.d/10-a.yaml", 2, 7, "node", "is given in");
	/* what is broken is not reported as missing as well */
	file_write("conf.d/10-a.yaml", "pools: [{name: api\n");
	expect_file_error("conf.d/10-a.yaml", 2, 1, "", "YAML syntax");
	file_write("conf.d/10-a.yaml", "pools: [{name: api}]\ninclude: other.yaml\n");
	expect_file_error("conf.d/10-a.yaml", 2, 10, "include", "cannot include others");
	file_write("conf.d/10-a.yaml", "pools: [{name: api}]\n");
	file_write("main.yaml", CONFIG_HEAD "include: missing.yaml\n");
	expect_file_error("main.yaml", 4, 10, "include", "no such file");
	file_write("main.yaml", CONFIG_HEAD "include: [conf.d/10-a.yaml, \"conf.d/10-?.yaml\"]\n");
	expect_file_error("main.yaml", 4, 29, "include", "is included twice");
	file_write("main.yaml", CONFIG_HEAD "include: nothing.d/*.yaml\n");
	gw_config_free(load_files());
}

#define MEMBERS_MAIN                                                                               \
	"version: 1\nnode: {source_ipv4: 10.82.0.11}\n"                                            \
	"dataplane: {path: xdp, interfaces: [{name: eth1}]}\n"                                     \
	"defaults: {healthcheck: {type: none}}\n"                                                  \
	"pools:\n  - {name: web, members_file: web.members}\n"

static void members_may_come_from_a_file_of_their_own(void)
{
	static const char *const files[] = {"- {name: b1, address: 10.82.0.101}\n- {name: b2, "
					    "address: 10.82.0.102, weight: 3}\n",
		"backends:\n  - {name: b1, address: 10.82.0.101}\n"
		"  - {name: b2, address: 10.82.0.102, weight: 3}\n"};

	file_write("main.yaml", MEMBERS_MAIN);
	for (size_t i = 0; i < 2; i++) {
		struct gw_config *config;

		file_write("web.members", files[i]);
		config = load_files();
		CU_ASSERT_EQUAL_FATAL(config->pools[0].backend_count, 2);
		CU_ASSERT_STRING_EQUAL(config->pools[0].backends[1].name, "b2");
		CU_ASSERT_EQUAL(config->pools[0].backends[1].weight, 3);
		CU_ASSERT_STRING_EQUAL(config->pools[0].members_file, file_path("web.members"));
		CU_ASSERT_EQUAL_FATAL(config->text_count, 2);
		CU_ASSERT_EQUAL(config->texts[0].kind, GW_CONFIG_TEXT_MAIN);
		CU_ASSERT_EQUAL(config->texts[1].kind, GW_CONFIG_TEXT_MEMBERS);
		CU_ASSERT_STRING_EQUAL(config->texts[1].text, files[i]);
		gw_config_free(config);
	}
}

static void a_members_file_that_is_bad_is_refused_at_its_place(void)
{
	file_write("main.yaml", MEMBERS_MAIN);
	file_write("web.members",
		"- {name: b1, address: 10.82.0.101}\n- {name: b2, adress: 10.82.0.102, "
		"address: 10.82.0.102}\n");
	expect_file_error("web.members", 2, 14, "pools[web].members_file[b2].adress",
		"the nearest valid key is \"address\"");
	file_write("web.members", "[]\n");
	expect_file_error("web.members", 1, 1, "pools[web].members_file", "names no backend");
	file_write("web.members", "backends: []\n");
	expect_file_error("web.members", 1, 1, "pools[web].members_file", "names no backend");
	file_write("web.members", "");
	expect_file_error("web.members", 1, 1, "", "the file is empty");
	remove(file_path("web.members"));
	expect_file_error("main.yaml", 6, 31, "pools[web].members_file", "No such file");
	file_write("web.members", "- {name: b1, address: 10.82.0.101}\n");
	file_write("main.yaml",
		"version: 1\nnode: {source_ipv4: 10.82.0.11}\n"
		"dataplane: {path: xdp, interfaces: [{name: eth1}]}\n"
		"defaults: {healthcheck: {type: none}}\n"
		"pools:\n  - {name: web, members_file: web.members,\n     backends: []}\n");
	expect_file_error("main.yaml", 6, 31, "pools[web].members_file", "excludes backends");
}

/* What rollback and a start without its members files stand on. */
static void a_configuration_can_be_loaded_again_as_it_was(void)
{
	struct gw_config_errors errors = {0};
	struct gw_config *config, *again = NULL;

	file_write("main.yaml", MEMBERS_MAIN "include: conf.d/10-*.yaml\n");
	file_write("web.members", "- {name: b1, address: 10.82.0.101}\n");
	mkdir(file_path("conf.d"), 0700);
	file_write("conf.d/10-a.yaml", "pools: [{name: a}]\n");
	config = load_files();
	remove(file_path("web.members"));
	remove(file_path("conf.d/10-a.yaml"));
	file_write("main.yaml", "version: 2\n");
	CU_ASSERT_EQUAL(gw_config_load_texts(config->texts, config->text_count, GW_CONFIG_DAEMON,
				&again, &errors),
		0);
	gw_config_free(config);
	CU_ASSERT_PTR_NOT_NULL_FATAL(again);
	CU_ASSERT_EQUAL(again->pool_count, 2);
	CU_ASSERT_EQUAL(again->pools[0].backend_count, 1);
	CU_ASSERT_EQUAL(again->text_count, 3);
	gw_config_free(again);
	gw_config_errors_free(&errors);
}

static void seeds_may_come_from_a_file_of_their_own(void)
{
	struct gw_config *config;
	json_t *dump;

	file_write("main.yaml", CONFIG_HEAD "hash_seed_file: seed\n");
	file_write("seed", "0x0123456789abcdef\n");
	config = load_files();
	CU_ASSERT_EQUAL(config->hash_seed, 0x0123456789abcdefull);
	dump = gw_config_dump(config);
	CU_ASSERT_PTR_NULL(json_object_get(dump, "hash_seed"));
	json_decref(dump);
	gw_config_free(config);
	file_write("main.yaml", CONFIG_HEAD "hash_seed: 1\nhash_seed_file: seed\n");
	expect_file_error("main.yaml", 5, 17, "hash_seed_file", "excludes hash_seed");
	file_write("main.yaml", CONFIG_HEAD "hash_seed_file: nowhere\n");
	expect_file_error("main.yaml", 4, 17, "hash_seed_file", "No such file");
}

static void a_bad_seed_is_not_shown(void)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};

	file_write("main.yaml", CONFIG_HEAD "hash_seed_file: seed\n");
	file_write("seed", "hunter2\n");
	CU_ASSERT_EQUAL(gw_config_load(file_path("main.yaml"), 0, &config, &errors), -EINVAL);
	CU_ASSERT_EQUAL_FATAL(errors.count, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors.list[0].message, "does not hold one number"));
	CU_ASSERT_PTR_NULL(strstr(errors.list[0].message, "hunter2"));
	gw_config_errors_free(&errors);
}

static void text_from_outside_opens_no_files(void)
{
	expect_errors_with(GW_CONFIG_NO_FILES,
		CONFIG_HEAD "include: @/etc/*.yaml\nhash_seed_file: @/etc/hostname\n",
		(const struct expected[]){
			{"include", "cannot be used"}, {"hash_seed_file", "cannot be used"}},
		2);
}

static void reports_have_the_exit_status_of_the_contract(void)
{
	char text[1024] = "", wrong[1024] = "";
	FILE *out = fmemopen(text, sizeof(text), "w"), *err = fmemopen(wrong, sizeof(wrong), "w");
	json_t *report;

	file_write("main.yaml", CONFIG_HEAD CONFIG_POOL);
	CU_ASSERT_EQUAL(gw_config_check_report(file_path("main.yaml"), false, out, err), 0);
	fflush(out);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "1 pool, 1 backend"));
	file_write("main.yaml", CONFIG_HEAD "poools: []\n");
	rewind(out);
	CU_ASSERT_EQUAL(gw_config_check_report(file_path("main.yaml"), true, out, err), 5);
	fclose(out);
	CU_ASSERT_EQUAL(gw_config_check_report(file_path("main.yaml"), false, stdout, err), 5);
	fclose(err);
	CU_ASSERT_PTR_NOT_NULL(strstr(wrong, "main.yaml:4:1: poools: unknown key"));
	report = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT(json_is_false(json_object_get(report, "valid")));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(report, "errors")), 1);
	json_decref(report);
}

static const struct gw_test tests[] = {
	GW_TEST(text_that_is_no_yaml_has_its_place),
	GW_TEST(a_byte_order_mark_is_no_part_of_the_text),
	GW_TEST(nesting_has_a_limit),
	GW_TEST(aliases_stand_for_values_but_not_for_themselves),
	GW_TEST(aliases_cannot_multiply_without_end),
	GW_TEST(more_than_a_thousand_aliases_are_refused),
	GW_TEST(files_over_8_mib_are_refused),
	GW_TEST(what_cannot_be_read_is_said_without_a_line),
	GW_TEST(included_files_join_the_lists),
	GW_TEST(errors_of_included_files_name_them),
	GW_TEST(members_may_come_from_a_file_of_their_own),
	GW_TEST(a_members_file_that_is_bad_is_refused_at_its_place),
	GW_TEST(a_configuration_can_be_loaded_again_as_it_was),
	GW_TEST(seeds_may_come_from_a_file_of_their_own),
	GW_TEST(a_bad_seed_is_not_shown),
	GW_TEST(text_from_outside_opens_no_files),
	GW_TEST(reports_have_the_exit_status_of_the_contract),
};

static void folder_remove(void)
{
	static const char *const names[] = {"conf.d/10-a.yaml", "conf.d/20-b.yaml",
		"conf.d/30-c.yml", "conf.d", "main.yaml", "seed", "web.members", ""};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove(file_path(names[i]));
}

int main(int argc, char **argv)
{
	int status;

	if (!mkdtemp(folder))
		return 1;
	status = gw_suite_run("config_files", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	folder_remove();
	return status;
}
