/* SPDX-License-Identifier: BSD-2-Clause */
#include "dataplane/args.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Parses a command line in one string, its words parted by blanks; messages are not shown. */
static int parse(struct gw_args *args, const char *line)
{
	static char copy[1024];
	static char program[] = "guideway-dataplane";
	static char *argv[64];
	int argc = 1, status, errors = dup(STDERR_FILENO), output = dup(STDOUT_FILENO);
	int nowhere = open("/dev/null", O_WRONLY);
	char *rest = copy;

	snprintf(copy, sizeof(copy), "%s", line);
	argv[0] = program;
	while (*copy && (argv[argc] = strsep(&rest, " ")))
		argc++;
	argv[argc] = NULL;
	fflush(stdout);
	dup2(nowhere, STDERR_FILENO);
	dup2(nowhere, STDOUT_FILENO);
	optind = 0; /* glibc: begin anew */
	status = gw_args_parse(args, argc, argv);
	fflush(stdout);
	dup2(errors, STDERR_FILENO);
	dup2(output, STDOUT_FILENO);
	close(errors);
	close(output);
	close(nowhere);
	return status;
}

static void defaults_are_those_of_the_manual(void)
{
	struct gw_args args;

	CU_ASSERT_EQUAL(parse(&args, "--port net_null0 --cpus 1"), GW_ARGS_RUN);
	CU_ASSERT_EQUAL(args.port_count, 1);
	CU_ASSERT_STRING_EQUAL(args.port[0].name, "net_null0");
	CU_ASSERT_STRING_EQUAL(args.port[0].kernel, "");
	CU_ASSERT_FALSE(args.port[0].steer);
	CU_ASSERT_EQUAL(args.cpu_count, 1);
	CU_ASSERT_EQUAL(args.cpu[0], 1);
	CU_ASSERT_EQUAL(args.flows, 1048576);
	CU_ASSERT_STRING_EQUAL(args.socket, "/run/guideway/dataplane.sock");
	CU_ASSERT_FALSE(args.busy_poll);
	CU_ASSERT_EQUAL(args.eal_count, 0);
}

static void options_and_eals_part_at_two_dashes(void)
{
	struct gw_args args;

	CU_ASSERT_EQUAL(parse(&args, "--port net_af_xdp0,kernel=eth1,steer --port 0000:01:00.0 "
				     "--cpus 4-6,2 --flows 65536 --socket /tmp/s --poll busy "
				     "-v -- --no-huge -m 256 --vdev net_af_xdp0,iface=eth1"),
		GW_ARGS_RUN);
	CU_ASSERT_EQUAL(args.port_count, 2);
	CU_ASSERT_STRING_EQUAL(args.port[0].name, "net_af_xdp0");
	CU_ASSERT_STRING_EQUAL(args.port[0].kernel, "eth1");
	CU_ASSERT_TRUE(args.port[0].steer);
	CU_ASSERT_STRING_EQUAL(args.port[1].name, "0000:01:00.0");
	CU_ASSERT_EQUAL(args.cpu_count, 4);
	CU_ASSERT_EQUAL(args.cpu[0], 2);
	CU_ASSERT_EQUAL(args.cpu[3], 6);
	CU_ASSERT_EQUAL(args.flows, 65536);
	CU_ASSERT_STRING_EQUAL(args.socket, "/tmp/s");
	CU_ASSERT_TRUE(args.busy_poll);
	CU_ASSERT_TRUE(args.verbose);
	CU_ASSERT_EQUAL(args.eal_count, 5);
	CU_ASSERT_STRING_EQUAL(args.eal[0], "--no-huge");
}

static void help_and_version_end_well(void)
{
	struct gw_args args;

	CU_ASSERT_EQUAL(parse(&args, "--help"), 0);
	CU_ASSERT_EQUAL(parse(&args, "--version"), 0);
}

static void wrong_use_ends_with_2(void)
{
	static const char *const lines[] = {"", "--port net_null0", "--cpus 1",
		"--port net_null0 --cpus", "--port net_null0 --cpus x",
		"--port net_null0 --cpus 1 --flows 0", "--port net_null0 --cpus 1 --flows -1",
		"--port net_null0 --cpus 1 --flows 5x",
		"--port net_null0 --cpus 1 --flows 2147483649",
		"--port net_null0 --cpus 1 --poll lazy", "--port net_null0 --cpus 1 --nonsense",
		"--port net_null0 --cpus 1 --mbufs 7", "--port net_null0 --cpus 1 stray",
		"--port net_null0 --port net_null0 --cpus 1", "--port ,steer --cpus 1",
		"--port net_null0,colour=red --cpus 1", "--port net_null0,kernel= --cpus 1",
		"--port net_null0,kernel=a234567890123456 --cpus 1",
		"--port net_null0 --cpus 1 -- -l 2", "--port net_null0 --cpus 1 -- --lcores=2",
		"--port net_null0 --cpus 1 -- -c3", "--port net_null0 --cpus 1 -- --lcores 2"};
	struct gw_args args;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		int status = parse(&args, lines[i]);

		CU_ASSERT_EQUAL(status, 2);
		if (status != 2)
			printf("\n  \"%s\" gave %d\n", lines[i], status);
	}
	/* Their like that are not ours. */
	CU_ASSERT_EQUAL(parse(&args, "--port net_null0 --cpus 1 -- --log-level=debug --legacy-mem"),
		GW_ARGS_RUN);
}

static void cpu_lists_are_sorted_and_bounded(void)
{
	uint32_t cpus[GW_WORKERS_MAX] = {99};

	CU_ASSERT_EQUAL(gw_cpu_list_parse("3,1,2-4,3", cpus), 4);
	CU_ASSERT_EQUAL(cpus[0], 1);
	CU_ASSERT_EQUAL(cpus[1], 2);
	CU_ASSERT_EQUAL(cpus[2], 3);
	CU_ASSERT_EQUAL(cpus[3], 4);
	CU_ASSERT_EQUAL(gw_cpu_list_parse("0-63", cpus), 64);
	CU_ASSERT_EQUAL(gw_cpu_list_parse("0-64", cpus), -ERANGE);
	CU_ASSERT_EQUAL(gw_cpu_list_parse("0-4294967295", cpus), -ERANGE);
	CU_ASSERT_EQUAL(gw_cpu_list_parse("99999999999999999999", cpus), -ERANGE);
	static const char *const bad[] = {
		"", ",", "1,", ",1", "1-", "-1", "2-1", "1 2", "a", "1--2", "0x1", "+1", "1.5"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CU_ASSERT_EQUAL(gw_cpu_list_parse(bad[i], cpus), -EINVAL);
	CU_ASSERT_EQUAL(cpus[63], 63);
}

static const struct gw_test tests[] = {
	GW_TEST(defaults_are_those_of_the_manual),
	GW_TEST(options_and_eals_part_at_two_dashes),
	GW_TEST(help_and_version_end_well),
	GW_TEST(wrong_use_ends_with_2),
	GW_TEST(cpu_lists_are_sorted_and_bounded),
};

GW_SUITE("dp_args", tests)
