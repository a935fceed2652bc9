/* SPDX-License-Identifier: BSD-2-Clause */
#include "eal.h"

#include "base/log.h"

#include <rte_eal.h>
#include <rte_errno.h>

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_worker(const struct gw_args *args, uint32_t cpu)
{
	for (uint16_t i = 0; i < args->cpu_count; i++)
		if (args->cpu[i] == cpu)
			return true;
	return false;
}

/* "0@(0,2),1@1": lcores and their CPUs. The main lcore sleeps, so it may share a worker's. */
static int write_lcores(const struct gw_args *args, FILE *out)
{
	cpu_set_t allowed;
	bool first = true;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -errno;
	for (uint16_t i = 0; i < args->cpu_count; i++) {
		if (args->cpu[i] >= CPU_SETSIZE || !CPU_ISSET(args->cpu[i], &allowed)) {
			gw_log_error("--cpus: CPU %u is not there, or not this process's to use "
				     "(see `taskset -p $$`)",
				args->cpu[i]);
			return -EINVAL;
		}
	}
	fputs("0@(", out);
	for (uint32_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || is_worker(args, cpu))
			continue;
		fprintf(out, "%s%u", first ? "" : ",", cpu);
		first = false;
	}
	if (first)
		fprintf(out, "%u", args->cpu[0]);
	fputc(')', out);
	for (uint16_t i = 0; i < args->cpu_count; i++)
		fprintf(out, ",%u@%u", gw_eal_lcore(i), args->cpu[i]);
	return 0;
}

static bool has_option(const struct gw_args *args, const char *option)
{
	for (int i = 0; i < args->eal_count; i++)
		if (strcmp(args->eal[i], option) == 0)
			return true;
	return false;
}

static int start(const struct gw_args *args, char *lcores)
{
	/* EAL reorders the array and keeps pointers into it: it stays. */
	static char program[] = "guideway-dataplane";
	static char lcores_option[] = "--lcores";
	static char main_option[] = "--main-lcore=0";
	static char no_files_option[] = "--no-shconf";
	bool no_huge = has_option(args, "--no-huge");
	static char **argv;
	int argc = 0;

	argv = calloc((size_t)args->eal_count + 5, sizeof(*argv));
	if (!argv)
		return -ENOMEM;
	argv[argc++] = program;
	argv[argc++] = lcores_option;
	argv[argc++] = lcores;
	argv[argc++] = main_option;
	for (int i = 0; i < args->eal_count; i++) {
		/*
		 * EAL 22.11 refuses --in-memory beside --no-huge, though such memory is private
		 * anyway: what is left of the wish is to have no files in its runtime folder.
		 */
		argv[argc++] = no_huge && strcmp(args->eal[i], "--in-memory") == 0 ? no_files_option
										   : args->eal[i];
	}
	if (rte_eal_init(argc, argv) < 0) {
		gw_log_error("DPDK does not start: %s (its own messages above say more; without "
			     "huge pages give: -- --no-huge -m 256)",
			rte_strerror(rte_errno));
		return -EIO;
	}
	return 0;
}

int gw_eal_start(const struct gw_args *args)
{
	static char *lcores; /* EAL keeps pointers into it */
	size_t size;
	FILE *out = open_memstream(&lcores, &size);
	int error;

	if (!out)
		return -ENOMEM;
	error = write_lcores(args, out);
	fclose(out);
	if (error) {
		free(lcores);
		return error;
	}
	return start(args, lcores);
}
