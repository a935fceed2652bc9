/* SPDX-License-Identifier: BSD-2-Clause */
/* What guideway-bench removes of runtime folders that ends of a wire were killed too early to. */
#include "suite.h"
#include "tools/bench/ends/leftovers.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/guideway-test-XXXXXX";

static char *path_of(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static bool is_there(const char *name)
{
	return access(path_of(name), F_OK) == 0;
}

static void folder_make(const char *name)
{
	CU_ASSERT_EQUAL(mkdir(path_of(name), 0700), 0);
}

/* The number of a process that has ended. */
static int process_gone(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	CU_ASSERT_FATAL(pid > 0);
	CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
	return (int)pid;
}

static void empty_folders_of_ends_that_are_gone_go_and_nothing_else(void)
{
	char gone[48], full[48], inside[64], other[48], living[48], longer[48], file[48];
	int pid = process_gone(), fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(gone, sizeof(gone), BENCH_PREFIX_FORMAT, "subject", pid);
	snprintf(full, sizeof(full), BENCH_PREFIX_FORMAT, "generator", pid);
	snprintf(inside, sizeof(inside), "%s/config", full);
	snprintf(other, sizeof(other), "gw-other-subject-%d", pid);
	snprintf(living, sizeof(living), BENCH_PREFIX_FORMAT, "generator", (int)getppid());
	snprintf(longer, sizeof(longer), BENCH_PREFIX_FORMAT "x", "subject", pid);
	snprintf(file, sizeof(file), BENCH_PREFIX_FORMAT, "file", pid);
	folder_make(gone);
	folder_make(full);
	folder_make(inside);
	folder_make(other);
	folder_make(living);
	folder_make(longer);
	folder_make("rte");
	folder_make("gw-bench-subject-");
	fd = open(path_of(file), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	CU_ASSERT(fd >= 0);
	close(fd);
	folder_make("gw-bench-subject-1");
	bench_leftovers_remove(path_of("mine")); /* not even there */
	CU_ASSERT(!is_there(gone));
	CU_ASSERT(is_there(inside));
	CU_ASSERT(is_there(other));
	CU_ASSERT(is_there(living));
	CU_ASSERT(is_there(longer));
	CU_ASSERT(is_there("rte"));
	CU_ASSERT(is_there("gw-bench-subject-"));
	CU_ASSERT(is_there(file));
	CU_ASSERT(is_there("gw-bench-subject-1"));
	snprintf(inside, sizeof(inside), "rm -r -- '%s'", folder);
	CU_ASSERT_EQUAL(system(inside), 0);
}

static void own_folder_goes_when_it_is_empty(void)
{
	snprintf(folder, sizeof(folder), "/tmp/guideway-test-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	folder_make("mine");
	folder_make("mine/more");
	bench_leftovers_remove(path_of("mine"));
	CU_ASSERT(is_there("mine"));
	CU_ASSERT_EQUAL(rmdir(path_of("mine/more")), 0);
	bench_leftovers_remove(path_of("mine"));
	CU_ASSERT(!is_there("mine"));
	bench_leftovers_remove(NULL);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static const struct gw_test tests[] = {
	GW_TEST(empty_folders_of_ends_that_are_gone_go_and_nothing_else),
	GW_TEST(own_folder_goes_when_it_is_empty),
};

GW_SUITE("bench_leftovers", tests)
