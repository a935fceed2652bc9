/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of guideway-bench. */
#pragma once

#include "axis.h"
#include "bench.h"
#include "plan.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct options {
	struct axis_list lists[AXIS_IDS];
	const struct sweep *sweeps[PLAN_SWEEPS_MAX];
	size_t sweep_count;
	double seconds; /* of one measurement */
	uint32_t rounds;
	int cpu, generator_cpu; /* -1: not given */
	const char *gen, *dut, *listen;
	double resolution; /* 0: the runner's */
	uint32_t repeats;
	uint32_t steady;
	char *eal_args; /* joined by blanks; owned */
	uint32_t huge;	/* pages of 2 MB to reserve for the run; 0: none */
	bool no_huge;
	bool json;
	const char *json_path; /* NULL: standard output */
	const char *svg;       /* NULL: no chart */
	const char *from;      /* NULL: measure */
	bool list;
	bool print_config;
	bool completion;
	bool quiet;
};

/*
 * Reads the command line. -1: go on; else an exit status, after a message that names the option and
 * the value, or after --help. Free with options_free in either case.
 */
int options_read(struct options *options, int argc, char **argv);
void options_free(struct options *options);

/* The completion for bash, to standard output: of `options`, and of every axis. */
void completion_print(const struct option *options, size_t count);
