/* SPDX-License-Identifier: BSD-2-Clause */
/* Who may talk to the daemon, and where: what the file may say about it, and secrets in files. */
#include "config_expect.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOKEN_1 "0123456789abcdef0123456789abcdef"
#define TOKEN_2 "fedcba9876543210fedcba9876543210"

static char folder[64];

static void folder_make(void)
{
	strcpy(folder, "/tmp/gw-test-tokens-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static void folder_remove(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r -- '%s'", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

static void file_write(const char *name, const char *text, mode_t mode)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	CU_ASSERT_EQUAL(chmod(path, mode), 0);
}

/* %s in format is the folder; the text is the caller's to free. */
static char *text_make(const char *format)
{
	char *text = NULL;

	CU_ASSERT_FATAL(asprintf(&text, format, folder, folder, folder) > 0);
	return text;
}

#define TCP(rest) CONFIG_HEAD CONFIG_POOL "api:\n  tcp:\n    listen: 127.0.0.1:9390\n" rest

static void a_token_is_kept_as_its_digest_only(void)
{
	/* printf 0123456789abcdef0123456789abcdef | sha256sum */
	static const uint8_t digest[4] = {0x3e, 0xb1, 0xbd, 0x43};
	struct gw_config *config;
	char *text;
	json_t *dump;

	folder_make();
	file_write("one", TOKEN_1 "\n", 0600);
	text = text_make(
		TCP("    tokens: [{name: ops, file: %s/one, scope: drain, pools: [web]}]\n"));
	config = expect_config(text);
	CU_ASSERT_EQUAL_FATAL(config->api.tcp.token_count, 1);
	CU_ASSERT(config->api.tcp.tokens[0].present);
	CU_ASSERT_EQUAL(config->api.tcp.tokens[0].scope, GW_CONFIG_SCOPE_DRAIN);
	CU_ASSERT_STRING_EQUAL(config->api.tcp.tokens[0].pools[0], "web");
	CU_ASSERT_EQUAL(memcmp(config->api.tcp.tokens[0].digest, digest, 4), 0);
	dump = gw_config_dump(config);
	free(text);
	text = json_dumps(dump, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "/one"));
	CU_ASSERT_PTR_NULL(strstr(text, "0123456789"));
	json_decref(dump);
	free(text);
	gw_config_free(config);
	folder_remove();
}

static void expect_token_error(const char *file_text, mode_t mode, const char *message)
{
	char *text;
	struct expected want = {"api.tcp.tokens[ops]", message};

	folder_make();
	file_write("one", file_text, mode);
	text = text_make(TCP("    tokens:\n      - @{name: ops, file: %s/one, scope: admin}\n"));
	expect_errors_with(GW_CONFIG_DAEMON, text, &want, 1);
	free(text);
	folder_remove();
}

static void a_token_file_that_others_may_read_or_write_is_refused(void)
{
	expect_token_error(TOKEN_1, 0604, "not readable by others");
	expect_token_error(TOKEN_1, 0620, "writable by its owner only");
}

static void a_token_that_is_short_or_has_blanks_is_refused_and_not_repeated(void)
{
	expect_token_error("short", 0600, "does not hold one token");
	expect_token_error("", 0600, "does not hold one token");
	expect_token_error("0123456789 0123456789 0123456789", 0600, "does not hold one token");
}

static void tokens_have_names_and_secrets_of_their_own(void)
{
	static const struct expected want[] = {
		{"api.tcp.tokens", "hold the same token"},
		{"api.tcp.tokens", "two tokens are named \"a\""},
	};
	char *text;

	folder_make();
	file_write("one", TOKEN_1, 0600);
	file_write("two", TOKEN_2, 0600);
	text = text_make(TCP("    tokens:\n"
			     "      - {name: a, file: %s/one, scope: view}\n"
			     "      - @{name: b, file: %s/one, scope: view}\n"
			     "      - @{name: a, file: %s/two, scope: view}\n"));
	expect_errors_with(GW_CONFIG_DAEMON, text, want, 2);
	free(text);
	folder_remove();
}

static void the_api_outside_loopback_wants_tls(void)
{
#define LISTEN(at, rest)                                                                           \
	CONFIG_HEAD "api:\n  tcp: @{listen: \"" at "\", " rest                                     \
		    "tokens: [{name: a, file: /nonexistent, scope: view}]}\n"
	struct expected want = {"api.tcp.certificate", "outside loopback"};

	expect_errors_with(0, LISTEN("192.0.2.1:9390", ""), &want, 1);
	expect_errors_with(0, LISTEN("[2001:db8::1]:9390", ""), &want, 1);
	expect_errors_with(0, LISTEN("0.0.0.0:9390", ""), &want, 1);
	want = (struct expected){"api.tcp.key", "is missing"};
	expect_errors_with(0, LISTEN("192.0.2.1:9390", "certificate: /c, "), &want, 1);
#undef LISTEN
}

static void a_drain_token_names_pools_that_are_there(void)
{
	struct expected want = {"api.tcp.tokens[a].pools", "is missing"};

	expect_errors_with(
		0, TCP("    tokens: [@{name: a, file: /nonexistent, scope: drain}]\n"), &want, 1);
	want = (struct expected){"api.tcp.tokens[a].pools", "has no meaning with scope view"};
	expect_errors_with(0,
		TCP("    tokens: [{name: a, file: /nonexistent, scope: view, pools: @[web]}]\n"),
		&want, 1);
	want = (struct expected){"api.tcp.tokens", "pool \"wob\", which is not there"};
	expect_errors_with(0,
		TCP("    tokens: [@{name: a, file: /nonexistent, scope: drain, pools: [wob]}]\n"),
		&want, 1);
	want = (struct expected){"api.tcp.tokens", "is empty"};
	expect_errors_with(0, TCP("    tokens: @[]\n"), &want, 1);
}

static void sockets_have_modes_and_paths_of_their_own(void)
{
	struct gw_config *config = expect_config(
		CONFIG_HEAD "api: {group: adm, mode: \"0600\", read_only: {unix: /run/r.sock}}\n");

	CU_ASSERT_EQUAL(config->api.control.mode, 0600);
	CU_ASSERT_STRING_EQUAL(config->api.control.group, "adm");
	CU_ASSERT_STRING_EQUAL(config->api.read_only.path, "/run/r.sock");
	CU_ASSERT_EQUAL(config->api.read_only.mode, 0666);
	gw_config_free(config);
	EXPECT_ERRORS(CONFIG_HEAD "api: {mode: @0777}\n", {"api.mode", "is not the mode"});
	EXPECT_ERRORS(CONFIG_HEAD "api: {mode: @0060}\n", {"api.mode", "is not the mode"});
	EXPECT_ERRORS(CONFIG_HEAD "api: {mode: @rw}\n", {"api.mode", "is not the mode"});
	EXPECT_ERRORS(CONFIG_HEAD "api: {unix: /run/x, read_only: @{unix: /run/x}}\n",
		{"api.read_only", "one socket cannot be both"});
}

static const struct gw_test tests[] = {
	GW_TEST(a_token_is_kept_as_its_digest_only),
	GW_TEST(a_token_file_that_others_may_read_or_write_is_refused),
	GW_TEST(a_token_that_is_short_or_has_blanks_is_refused_and_not_repeated),
	GW_TEST(tokens_have_names_and_secrets_of_their_own),
	GW_TEST(the_api_outside_loopback_wants_tls),
	GW_TEST(a_drain_token_names_pools_that_are_there),
	GW_TEST(sockets_have_modes_and_paths_of_their_own),
};

GW_SUITE("config_api", tests)
