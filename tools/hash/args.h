/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Command line shared by the verbs of guideway-hash: one table of options, read into one struct.
 * Each verb says which options it takes; another one is wrong use, named.
 */
#pragma once

#include "chash/chash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit statuses, as everywhere in Guideway. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct spec {
	char *id;
	char *zone;
	int64_t weight;
};

/* --remove and --add, in the order given. */
struct step {
	bool add;
	struct spec spec;
};

struct key {
	const char *text; /* NULL: an integer key */
	uint64_t number;
};

struct args {
	struct gw_chash_options options;
	bool algorithm_given;
	bool hash_given;
	bool vnodes_given;
	bool capacity_given;
	struct spec *specs;
	size_t spec_count;
	struct step *steps;
	size_t step_count;
	struct key *keys;
	size_t key_count;
	uint32_t buckets; /* 0: not given */
	const char *scenario;
	const char *svg;
	uint32_t members;
	uint32_t to; /* 0: the scenario's default */
	uint32_t n;  /* 0: only the owner */
	uint64_t key_total;
	uint64_t seed;
	double factor;
	double zipf;
	bool spread_zone;
	bool json;
};

/* The options a verb takes, as a set. */
#define TAKES_SET      0x01u /* --algorithm --member --members-from --size --hash --seed --vnodes … */
#define TAKES_CHANGES  0x02u /* --remove --add */
#define TAKES_KEYS     0x04u /* --key --key-u64 --keys-from --n --spread */
#define TAKES_SCENARIO 0x08u /* --scenario --members --to --keys --factor --zipf --svg */
#define TAKES_BENCH    0x10u /* --members --svg */

/*
 * Reads the words behind the verb. Returns EXIT_DONE, or EXIT_USAGE / EXIT_FAILED after having said
 * on standard error what is wrong with which word. Free with args_free in either case.
 */
int args_parse(struct args *args, unsigned int takes, int argc, char **argv);
void args_free(struct args *args);

/* A handle with the members and steps of the command line; 0, or an exit status after a message. */
int args_build(const struct args *args, struct gw_chash **handle);

/* "guideway-hash: " and the message, to standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* realloc or die with a message: this is a command, its input is bounded by its user. */
void *grow(void *array, size_t count, size_t size);
