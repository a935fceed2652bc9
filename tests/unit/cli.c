/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line tool without a daemon: words, options, exit statuses, offline commands. */
#include "cli/cli.h"

#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORDS_MAX 12

static char output[65536];
static char errors[4096];

static void file_read(int fd, char *text, size_t size)
{
	ssize_t length = pread(fd, text, size - 1, 0);

	text[length > 0 ? length : 0] = 0;
	close(fd);
}

/* Runs `guideway` with these words, separated by single blanks; '|' stands for a blank inside. */
static int run(const char *line)
{
	char copy[512], *words[WORDS_MAX + 1] = {(char *)"guideway"}, *rest = copy, *word;
	int out = memfd_create("out", 0), err = memfd_create("err", 0);
	int saved_out = dup(STDOUT_FILENO), saved_err = dup(STDERR_FILENO);
	int count = 1, status;

	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, " ")) && count < WORDS_MAX)
		if (word[0])
			words[count++] = word;
	for (int i = 1; i < count; i++)
		for (char *c = words[i]; *c; c++)
			*c = *c == '|' ? ' ' : *c;
	words[count] = NULL;
	fflush(NULL);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	status = cli_main(count, words);
	fflush(NULL);
	dup2(saved_out, STDOUT_FILENO);
	dup2(saved_err, STDERR_FILENO);
	close(saved_out);
	close(saved_err);
	file_read(out, output, sizeof(output));
	file_read(err, errors, sizeof(errors));
	return status;
}

static void no_command_is_wrong_use(void)
{
	CU_ASSERT_EQUAL(run(""), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "--help"));
	CU_ASSERT_STRING_EQUAL(output, "");
}

static void unknown_commands_are_quoted(void)
{
	CU_ASSERT_EQUAL(run("frobnicate"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\"frobnicate\""));
	CU_ASSERT_EQUAL(run("backend explode"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\"backend explode\""));
	CU_ASSERT_EQUAL(run("backend"), CLI_USAGE);
}

static void unknown_options_are_quoted(void)
{
	CU_ASSERT_EQUAL(run("status --frob"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "--frob"));
	CU_ASSERT_EQUAL(run("status --full"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "status takes no --full"));
	CU_ASSERT_EQUAL(run("status --socket"), CLI_USAGE);
}

static void words_are_counted(void)
{
	CU_ASSERT_EQUAL(run("backend drain"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "BACKEND"));
	CU_ASSERT_EQUAL(run("status now"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\"now\""));
}

static void bad_weights_are_refused_before_the_daemon_is_asked(void)
{
	static const char *const lines[] = {"backend weight b1 -1", "backend weight b1 4294967301",
		"backend weight b1 1.5", "backend weight b1 x", "backend weight b1 +1",
		"backend weight b1 99999999999999999999999"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CU_ASSERT_EQUAL(run(lines[i]), CLI_USAGE);
		CU_ASSERT_PTR_NOT_NULL(strstr(errors, strrchr(lines[i], ' ') + 1));
	}
}

static void a_daemon_out_of_reach_is_its_own_status(void)
{
	static const char *const lines[] = {"status", "service list", "backend list",
		"backend drain b1", "drops", "table show web", "flow count", "events",
		"config reload", "lookup tcp|192.0.2.1:1|203.0.113.10:80"};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char line[256];

		snprintf(line, sizeof(line), "%s --socket /nonexistent/gw.sock", lines[i]);
		CU_ASSERT_EQUAL(run(line), CLI_UNREACHABLE);
		CU_ASSERT_PTR_NOT_NULL(strstr(errors, "/nonexistent/gw.sock"));
		CU_ASSERT_STRING_EQUAL(output, "");
	}
}

static void the_socket_comes_from_the_environment(void)
{
	setenv("GUIDEWAY_SOCKET", "/nonexistent/env.sock", 1);
	CU_ASSERT_EQUAL(run("status"), CLI_UNREACHABLE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "/nonexistent/env.sock"));
	CU_ASSERT_EQUAL(run("status -s /nonexistent/option.sock"), CLI_UNREACHABLE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "/nonexistent/option.sock"));
	unsetenv("GUIDEWAY_SOCKET");
}

/* Every row of the table answers --help with its own usage line, on standard output. */
static void every_command_has_help(void)
{
	for (size_t i = 0; i < cli_command_count; i++) {
		const struct cli_command *command = &cli_commands[i];
		char line[128], usage[128];

		snprintf(usage, sizeof(usage), "guideway %s%s%s",
			command->group ? command->group : "", command->group ? " " : "",
			command->verb);
		snprintf(line, sizeof(line), "%s --help", usage + strlen("guideway "));
		CU_ASSERT_EQUAL(run(line), CLI_DONE);
		CU_ASSERT_PTR_NOT_NULL(strstr(output, usage));
		CU_ASSERT_PTR_NOT_NULL(strstr(output, command->help));
		CU_ASSERT_STRING_EQUAL(errors, "");
	}
	CU_ASSERT_EQUAL(run("--help"), CLI_DONE);
	CU_ASSERT_EQUAL(run("help backend"), CLI_DONE);
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "backend drain"));
	CU_ASSERT_PTR_NULL(strstr(output, "guideway drops"));
}

static void help_names_only_the_options_a_command_takes(void)
{
	CU_ASSERT_EQUAL(run("table show --help"), CLI_DONE);
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "--full"));
	CU_ASSERT_PTR_NULL(strstr(output, "--follow"));
}

static void override_clear_wants_one_backend_or_all(void)
{
	CU_ASSERT_EQUAL(run("override clear"), CLI_USAGE);
	CU_ASSERT_EQUAL(run("override clear b1 --all"), CLI_USAGE);
}

static const char config_text[] =
	"version: 1\n"
	"node: {name: lb1, source_ipv4: 10.82.0.11, source_ipv6: \"fd82::11\"}\n"
	"hash_seed: 0\n"
	"dataplane:\n"
	"  path: dpdk\n"
	"  interfaces: [%s]\n"
	"%s"
	"  poll: busy\n"
	"  flows: 65536\n"
	"  socket: /run/x.sock\n"
	"pools:\n"
	"  - {name: web, table_size: 7, backends: [{name: b1, address: 10.82.0.101},\n"
	"     {name: b2, address: 10.82.0.102}]}\n"
	"services:\n"
	"  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80], pool: web}\n";

static char config_path[] = "/tmp/gw-test-cli-XXXXXX";

static void config_write_cpus(const char *interface, const char *cpus)
{
	FILE *file = fopen(config_path, "w");

	fprintf(file, config_text, interface, cpus);
	fclose(file);
}

static void config_write(const char *interface)
{
	config_write_cpus(interface, "  cpus: \"1-2\"\n");
}

static void args_are(const char *interface, const char *expected)
{
	char line[256];

	config_write(interface);
	snprintf(line, sizeof(line), "dataplane-args --config %s --steer /x/steer.bpf.o",
		config_path);
	CU_ASSERT_EQUAL(run(line), CLI_DONE);
	CU_ASSERT_STRING_EQUAL(output, expected);
}

static void dataplane_args_follow_the_file(void)
{
	args_are("{name: eth1}",
		"--port net_af_xdp0,kernel=eth1,steer --cpus 1-2 --flows 65536 --socket "
		"/run/x.sock "
		"--poll busy -- --vdev=net_af_xdp0,iface=eth1,xdp_prog=/x/steer.bpf.o --no-pci\n");
	args_are("{vdev: \"net_af_packet0,iface=eth1\"}",
		"--port net_af_packet0 --cpus 1-2 --flows 65536 --socket /run/x.sock --poll busy "
		"-- "
		"--vdev=net_af_packet0,iface=eth1 --no-pci\n");
	args_are("{pci: \"0000:01:00.0\"}", "--port 0000:01:00.0 --cpus 1-2 --flows 65536 --socket "
					    "/run/x.sock --poll busy -- -a "
					    "0000:01:00.0\n");
}

/* guideway-dataplane refuses to start without --cpus, and the file need not name any. */
static void dataplane_args_name_a_worker_where_the_file_does_not(void)
{
	char line[256];

	config_write_cpus("{name: eth1}", "");
	snprintf(line, sizeof(line), "dataplane-args --config %s", config_path);
	CU_ASSERT_EQUAL(run(line), CLI_DONE);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(output, sysconf(_SC_NPROCESSORS_ONLN) > 1 ? " --cpus 1 " : " --cpus 0 "));
}

static void an_invalid_file_is_its_own_status(void)
{
	char line[256];

	config_write("{nmae: eth1}");
	snprintf(line, sizeof(line), "dataplane-args --config %s", config_path);
	CU_ASSERT_EQUAL(run(line), CLI_INVALID);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "nmae"));
	snprintf(line, sizeof(line), "lookup --config %s tcp|192.0.2.1:1|203.0.113.10:80",
		config_path);
	CU_ASSERT_EQUAL(run(line), CLI_INVALID);
	snprintf(line, sizeof(line), "config check %s", config_path);
	CU_ASSERT_EQUAL(run(line), CLI_INVALID);
}

/* Flow and file; the backend is one of the two, the shape contract.md's. */
static void lookup_offline_answers_in_text_and_json(void)
{
	json_t *answer;
	char line[256];

	config_write("{name: eth1}");
	snprintf(line, sizeof(line), "lookup --config %s tcp 192.0.2.1:1 203.0.113.10:80",
		config_path);
	CU_ASSERT_EQUAL(run(line), CLI_DONE);
	CU_ASSERT_PTR_NOT_NULL(strstr(output, "service    web"));
	snprintf(line, sizeof(line), "lookup --json --config %s tcp|192.0.2.1:1|203.0.113.10:80",
		config_path);
	CU_ASSERT_EQUAL(run(line), CLI_DONE);
	answer = json_loads(output, 0, NULL);
	CU_ASSERT_EQUAL(strlen(json_string_value(json_object_get(answer, "hash"))), 16);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(answer, "table_size")), 7);
	CU_ASSERT_PTR_NOT_NULL(json_string_value(json_object_get(answer, "backend")));
	json_decref(answer);
	snprintf(line, sizeof(line), "lookup --config %s tcp|192.0.2.1|203.0.113.10:80",
		config_path);
	CU_ASSERT_EQUAL(run(line), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "192.0.2.1"));
}

/* Whoever reads the answers line by line needs as many as there were questions. */
static void a_bad_line_of_a_lookup_has_an_answer_too(void)
{
	static const char lines[] = "tcp 192.0.2.1:1 203.0.113.10:80\nnonsense\n"
				    "tcp 192.0.2.2:2 203.0.113.10:80\n";
	int saved = dup(STDIN_FILENO), questions = memfd_create("in", 0), answered = 0;
	char line[256], *rest = output, *text;

	config_write("{name: eth1}");
	CU_ASSERT_EQUAL(write(questions, lines, strlen(lines)), (ssize_t)strlen(lines));
	lseek(questions, 0, SEEK_SET);
	dup2(questions, STDIN_FILENO);
	snprintf(line, sizeof(line), "lookup --json --config %s -", config_path);
	CU_ASSERT_EQUAL(run(line), CLI_USAGE);
	dup2(saved, STDIN_FILENO);
	close(saved);
	close(questions);
	for (; (text = strsep(&rest, "\n")) && text[0]; answered++) {
		json_t *answer = json_loads(text, 0, NULL);
		const char *error = json_string_value(json_object_get(answer, "error"));

		CU_ASSERT_PTR_NOT_NULL(answer);
		CU_ASSERT_EQUAL(error != NULL, answered == 1);
		if (error)
			CU_ASSERT_STRING_EQUAL(
				json_string_value(json_object_get(answer, "flow")), "nonsense");
		json_decref(answer);
	}
	CU_ASSERT_EQUAL(answered, 3);
}

static void waiting_has_its_own_options(void)
{
	CU_ASSERT_EQUAL(run("backend drain b1 --until-flows 3"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "--wait"));
	CU_ASSERT_EQUAL(run("backend drain b1 --wait --timeout 5"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\"5\""));
	CU_ASSERT_EQUAL(run("backend drain b1 --wait --until-flows few"), CLI_USAGE);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "\"few\""));
}

static const struct gw_test tests[] = {
	GW_TEST(no_command_is_wrong_use),
	GW_TEST(unknown_commands_are_quoted),
	GW_TEST(unknown_options_are_quoted),
	GW_TEST(words_are_counted),
	GW_TEST(bad_weights_are_refused_before_the_daemon_is_asked),
	GW_TEST(a_daemon_out_of_reach_is_its_own_status),
	GW_TEST(the_socket_comes_from_the_environment),
	GW_TEST(every_command_has_help),
	GW_TEST(help_names_only_the_options_a_command_takes),
	GW_TEST(override_clear_wants_one_backend_or_all),
	GW_TEST(dataplane_args_follow_the_file),
	GW_TEST(dataplane_args_name_a_worker_where_the_file_does_not),
	GW_TEST(an_invalid_file_is_its_own_status),
	GW_TEST(lookup_offline_answers_in_text_and_json),
	GW_TEST(a_bad_line_of_a_lookup_has_an_answer_too),
	GW_TEST(waiting_has_its_own_options),
};

int main(int argc, char **argv)
{
	int fd = mkstemp(config_path), status;

	if (fd < 0)
		return 1;
	close(fd);
	status = gw_suite_run("cli", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	unlink(config_path);
	return status;
}
