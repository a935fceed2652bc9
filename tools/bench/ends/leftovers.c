/* SPDX-License-Identifier: BSD-2-Clause */
#include "leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_TEXT 512

/* The process that a folder of this name belongs to, or 0: it is no end's. */
static pid_t owner_of(const char *name)
{
	const char *number = strrchr(name, '-');
	char *end;
	long pid;

	if (strncmp(name, BENCH_PREFIX, sizeof(BENCH_PREFIX) - 1) || number[1] < '1' ||
		number[1] > '9')
		return 0;
	errno = 0;
	pid = strtol(number + 1, &end, 10);
	return errno || *end || pid != (pid_t)pid ? 0 : (pid_t)pid;
}

/* One that we may not signal is there all the same. */
static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static bool is_ours(int folder, const char *name)
{
	struct stat what;

	return !fstatat(folder, name, &what, AT_SYMLINK_NOFOLLOW) && S_ISDIR(what.st_mode) &&
	       what.st_uid == geteuid();
}

static void others_remove(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		pid_t owner = owner_of(entry->d_name);

		/* An end that has got the number meanwhile does without its empty folder. */
		if (owner && is_gone(owner) && is_ours(dirfd(dir), entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	}
	closedir(dir);
}

void bench_leftovers_remove(const char *runtime)
{
	const char *slash = runtime ? strrchr(runtime, '/') : NULL;
	char folder[PATH_TEXT];

	if (!slash)
		return;
	rmdir(runtime);
	if (snprintf(folder, sizeof(folder), "%.*s", (int)(slash - runtime), runtime) <
		(int)sizeof(folder))
		others_remove(folder);
}
