/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-hash: the consistent-hashing library at the command line. Shows tables, finds owners,
 * simulates what moves when members come and go, and measures.
 */
#include "base/output.h"
#include "hash.h"

#include <stdio.h>
#include <string.h>

static const struct verb {
	const char *name;
	const char *summary;
	unsigned int takes;
	int (*run)(const struct args *args);
} verbs[] = {
	{"table", "print a Maglev table, or the points of a ring", TAKES_SET | TAKES_CHANGES,
		table_run},
	{"lookup", "find the owners of keys", TAKES_SET | TAKES_CHANGES | TAKES_KEYS, lookup_run},
	{"simulate", "run one scenario on one algorithm", TAKES_SCENARIO, simulate_run},
	{"compare", "run one scenario on all algorithms side by side", TAKES_SCENARIO, compare_run},
	{"bench", "measure build and lookup times and memory", TAKES_BENCH, bench_run},
};

static const char usage_text[] =
	"usage: guideway-hash VERB [OPTION…] [--json]\n"
	"\n"
	"  table    --algorithm A --member KEY[@WEIGHT[@ZONE]]… [--members-from FILE] [--size M]\n"
	"           prints the slots (maglev) or the points (ring, ketama, multi-probe)\n"
	"  lookup   --algorithm A (--member …|--buckets N) [--remove X,…] [--add X,…]\n"
	"           (--key STR…|--key-u64 N…|--keys-from FILE) [--n N] [--spread zone]\n"
	"           prints the owner of each key; with --n its preference list\n"
	"  simulate --scenario S [--algorithm A] [--members N] [--to N] [--keys N] [--svg FILE]\n"
	"  compare  --scenario S [--members N] [--to N] [--keys N] [--svg FILE]\n"
	"  bench    [--algorithm A] [--members N] [--svg FILE]\n"
	"\n"
	"members:   --size M (maglev, a prime)  --vnodes V (ring)  --capacity N (anchor, dx)\n"
	"           --probes K (multi-probe)  --hash xxh3|xxh64|murmur3|md5|siphash  --seed N\n"
	"scenarios: grow shrink fail-random weight-change flap cascade hot-key storm "
	"ring-experiment\n"
	"           vnodes (load by points a member)  disruption (Maglev by failures)\n"
	"           --factor C (capacity or load bound)  --zipf S (skew of hot-key)\n"
	"files:     '-' is standard input\n"
	"\n"
	"exit status: 0 done, 1 failed, 2 wrong use. guideway-hash(1) has examples.\n";

static void list_algorithms(FILE *stream)
{
	fputs("algorithms:", stream);
	for (int i = 0; i < GW_CHASH_ALGORITHMS; i++)
		fprintf(stream, " %s", gw_chash_traits(i)->name);
	fputc('\n', stream);
}

static bool asks_for_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") ||
			!strcmp(argv[i], "help"))
			return true;
	return false;
}

static int run(int argc, char **argv)
{
	if (asks_for_help(argc, argv)) {
		fputs(usage_text, stdout);
		list_algorithms(stdout);
		return EXIT_DONE;
	}
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("guideway-hash " GW_VERSION);
		return EXIT_DONE;
	}
	if (argc < 2) {
		fputs(usage_text, stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		struct args args;
		int status;

		if (strcmp(argv[1], verbs[i].name))
			continue;
		status = args_parse(&args, verbs[i].takes, argc - 2, argv + 2);
		if (!status)
			status = verbs[i].run(&args);
		args_free(&args);
		return status;
	}
	complain("unknown verb '%s'; known are table, lookup, simulate, compare, bench", argv[1]);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	return gw_output_finish("guideway-hash", run(argc, argv));
}
