/* SPDX-License-Identifier: BSD-2-Clause */
#include "huge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#define FOLDER "/sys/kernel/mm/hugepages/hugepages-2048kB/"

static long before = -1; /* nr_hugepages; -1: untouched */

static long pages_read(const char *path)
{
	FILE *file = fopen(path, "re");
	long pages = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &pages) != 1)
		pages = -1;
	fclose(file);
	return pages;
}

static int pages_write(long pages)
{
	FILE *file = fopen(FOLDER "nr_hugepages", "we");
	bool failed;

	if (!file)
		return -errno;
	failed = fprintf(file, "%ld\n", pages) < 0;
	return fclose(file) || failed ? -errno : 0;
}

int huge_reserve(uint32_t pages)
{
	long now = pages_read(FOLDER "nr_hugepages");
	long unused = pages_read(FOLDER "free_hugepages");
	int status;

	if (now < 0 || unused < 0)
		return -ENOENT;
	if (unused >= (long)pages)
		return 0;
	status = pages_write(now + (long)pages - unused);
	if (status)
		return status;
	before = now;
	if (pages_read(FOLDER "free_hugepages") >= (long)pages)
		return 0;
	huge_give_back();
	return -ENOMEM;
}

void huge_give_back(void)
{
	if (before >= 0)
		pages_write(before);
	before = -1;
}
