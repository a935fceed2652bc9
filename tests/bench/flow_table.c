/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the flow table of the DPDK path costs: bursts of look-ups and inserts as the stages make
 * them (buckets fetched ahead for the burst), at several fills, beside a bound: one word of a
 * random cache line of an array of the same size, fetched ahead in the same way. Hashing is left
 * out; places are drawn at random. Each figure is the median of interleaved rounds.
 *
 *	hit		a tracked flow, found and touched in a second that it was seen in before
 *	hit_second	the same in a new second: the stamp is written
 *	miss		a flow that is not there
 *	insert		a new flow, looked up and remembered
 *	full		the same when every word is an established flow: not remembered
 *	flood		the same when every word is a flow of one packet: one of them goes
 */
#include "dataplane/flow_table.h"

#include <rte_cycles.h>
#include <rte_eal.h>

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define BURST  32
#define ROUNDS 7
#define TRIES  (1u << 19) /* operations a round */
#define NOW    100000u

static const struct gw_flow_timeouts timeouts = {
	.seconds = {{0, 10, 900, 60}, {0, 10, 900, 60}, {0, 60, 60, 60}, {0, 10, 300, 60}}};

static struct gw_flow_table table;
static uint64_t *bound; /* as large as the table */
static uint64_t sink;	/* so that no read is left out */
static double ns_per_cycle;

struct figure {
	double ns[ROUNDS];
	int count;
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15ull); /* SplitMix64 (Steele et al., 2014) */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static struct gw_flow_place random_place(uint64_t *state)
{
	uint64_t h = next_random(state);
	uint32_t bucket = gw_flow_scale((uint32_t)h, table.buckets);

	return (struct gw_flow_place){
		.tag = ((uint32_t)(h >> 32) & ~7u) | (bucket & 1) << 2 | GW_CLASS_TCP,
		.bucket = bucket};
}

static void draw(struct gw_flow_place *places, uint64_t count, uint64_t seed)
{
	for (uint64_t i = 0; i < count; i++)
		places[i] = random_place(&seed);
}

/* Looks a burst up as the flow stage does. */
static void find(const struct gw_flow_place *place, uint32_t *slot, uint64_t *word)
{
	uint8_t second[BURST];
	int count = 0;

	for (int i = 0; i < BURST; i++)
		gw_flow_prefetch(&table, place[i]);
	for (int i = 0; i < BURST; i++) {
		slot[i] = gw_flow_first(&table, place[i], &word[i]);
		if (slot[i] == GW_FLOW_SECOND)
			second[count++] = (uint8_t)i;
	}
	for (int k = 0; k < count; k++) {
		int i = second[k];

		slot[i] = gw_flow_second(&table, place[i], &word[i]);
	}
}

/* Each of these takes `count` places, a multiple of BURST, and does one thing with them. */
static uint64_t do_touch(const struct gw_flow_place *places, uint64_t count, uint32_t now)
{
	uint64_t found = 0;

	for (uint64_t at = 0; at < count; at += BURST) {
		uint32_t slot[BURST];
		uint64_t word[BURST];

		find(places + at, slot, word);
		for (int i = 0; i < BURST; i++) {
			if (slot[i] == GW_FLOW_NOWHERE)
				continue;
			found++;
			gw_flow_touch(&table, slot[i], word[i], GW_FLOW_PACKET, now);
		}
	}
	return found;
}

static uint64_t do_insert(const struct gw_flow_place *places, uint64_t count, uint32_t now)
{
	uint64_t tracked = 0;

	for (uint64_t at = 0; at < count; at += BURST) {
		uint32_t slot[BURST];
		uint64_t word[BURST];

		find(places + at, slot, word);
		for (int i = 0; i < BURST; i++)
			if (slot[i] == GW_FLOW_NOWHERE)
				tracked +=
					gw_flow_insert(&table, places[at + i], (uint32_t)i, now,
						&timeouts, &slot[i], &word[i]) == GW_FLOW_INSERTED;
	}
	return tracked;
}

static uint64_t do_bound(const struct gw_flow_place *places, uint64_t count, uint32_t now)
{
	uint64_t sum = now;

	for (uint64_t at = 0; at < count; at += BURST) {
		for (int i = 0; i < BURST; i++)
			rte_prefetch0(&bound[(uint64_t)places[at + i].bucket * 8]);
		for (int i = 0; i < BURST; i++)
			sum += bound[(uint64_t)places[at + i].bucket * 8 +
				     (places[at + i].tag & 7)];
	}
	return sum;
}

typedef uint64_t work(const struct gw_flow_place *places, uint64_t count, uint32_t now);

static uint64_t timed(struct figure *figure, work *what, const struct gw_flow_place *places,
	uint64_t count, uint32_t now)
{
	uint64_t begun = rte_rdtsc_precise();
	uint64_t result = what(places, count, now);

	figure->ns[figure->count++] =
		(double)(rte_rdtsc_precise() - begun) * ns_per_cycle / (double)count;
	sink += result;
	return result;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(struct figure *figure)
{
	qsort(figure->ns, (size_t)figure->count, sizeof(figure->ns[0]), by_value);
	return figure->count ? figure->ns[figure->count / 2] : 0;
}

/* Established, as flows of a second packet are. */
static uint64_t establish(const struct gw_flow_place *places, uint64_t count)
{
	do_insert(places, count, NOW);
	return do_touch(places, count, NOW);
}

static void report(uint64_t flows, const char *fill, uint64_t tracked, const char *what,
	struct figure *figure, struct figure *beside)
{
	double ns = median(figure), least = median(beside);

	printf("{\"flows\": %llu, \"fill\": \"%s\", \"tracked\": %llu, \"what\": \"%s\", "
	       "\"ns\": %.1f, \"bound_ns\": %.1f}\n",
		(unsigned long long)flows, fill, (unsigned long long)tracked, what, ns, least);
}

/* Hits, misses and inserts at one fill. What is inserted comes off again. */
static void measure_fill(
	uint64_t flows, struct gw_flow_place *places, uint64_t filled, const char *name)
{
	uint64_t tries = filled < TRIES ? filled : TRIES;
	struct figure hit = {}, second = {}, miss = {}, insert = {}, least = {};
	struct gw_flow_place *others = malloc(TRIES * sizeof(*others));
	uint64_t tracked, seed = 77;

	if (!others)
		exit(1);
	tracked = do_touch(places, filled, NOW);
	for (int round = 0; round < ROUNDS; round++) {
		uint64_t from = filled > tries ? next_random(&seed) % (filled - tries) : 0;
		uint64_t few = flows / 64 < TRIES ? flows / 64 / BURST * BURST : TRIES / 8;

		timed(&least, do_bound, places + from, tries, NOW);
		timed(&hit, do_touch, places + from, tries, NOW);
		timed(&second, do_touch, places + from, tries, NOW + 1);
		do_touch(places + from, tries, NOW);
		draw(others, TRIES, 1000 + (uint64_t)round);
		timed(&miss, do_touch, others, TRIES, NOW);
		timed(&insert, do_insert, others, few, NOW);
		for (uint64_t i = 0; i < few; i++) {
			uint64_t word;
			uint32_t slot = gw_flow_lookup(&table, others[i], &word);

			if (slot != GW_FLOW_NOWHERE)
				table.bucket[slot / 8].word[slot % 8] = GW_FLOW_EMPTY;
		}
	}
	report(flows, name, tracked, "hit", &hit, &least);
	report(flows, name, tracked, "hit_second", &second, &least);
	report(flows, name, tracked, "miss", &miss, &least);
	report(flows, name, tracked, "insert", &insert, &least);
	free(others);
}

/* A table of whose words none is free. */
static void measure_full(uint64_t flows, uint32_t state, const char *what)
{
	struct gw_flow_place *others = malloc(TRIES * sizeof(*others));
	struct figure full = {}, least = {};
	uint64_t seed = 5;

	if (!others)
		exit(1);
	for (uint64_t i = 0; i < (uint64_t)table.buckets * GW_FLOW_BUCKET_WORDS; i++)
		table.bucket[i / 8].word[i % 8] = gw_flow_word(
			(uint32_t)next_random(&seed) << 2 | GW_CLASS_TCP, 1, state, NOW);
	for (int round = 0; round < ROUNDS; round++) {
		draw(others, TRIES, 5000 + (uint64_t)round);
		timed(&least, do_bound, others, TRIES, NOW);
		timed(&full, do_insert, others, TRIES, NOW + 1);
	}
	report(flows, "100", (uint64_t)table.buckets * 8, what, &full, &least);
	free(others);
}

static void measure(uint64_t flows, bool small_pages)
{
	static const struct {
		const char *name;
		unsigned int percent; /* of the words */
	} fills[] = {{"25", 25}, {"50", 50}, {"75", 75}, {"100", 100}};
	struct gw_flow_place *places;
	uint64_t filled = 0;

	if (gw_flow_table_init(&table, flows, 0))
		exit(1);
	bound = aligned_alloc(2 << 20, (table.size + (2 << 20) - 1) / (2 << 20) * (2 << 20));
	places = calloc(flows * 2, sizeof(*places));
	if (!bound || !places)
		exit(1);
	madvise(bound, table.size, small_pages ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
	if (small_pages)
		madvise(table.bucket, table.size, MADV_NOHUGEPAGE);
	memset(bound, 1, table.size);
	draw(places, flows * 2, 42);
	for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++) {
		uint64_t upto = flows * 2 * fills[i].percent / 100 / BURST * BURST;

		establish(places + filled, upto - filled);
		filled = upto;
		measure_fill(flows, places, filled, fills[i].name);
	}
	measure_full(flows, GW_FLOW_ESTABLISHED, "full");
	measure_full(flows, GW_FLOW_NEW, "flood");
	free(places);
	free(bound);
	gw_flow_table_fini(&table);
}

static int usage(void)
{
	fputs("Usage: flow_table_cost [--flows N]... [--small-pages] [-- EAL-OPTION...]\n"
	      "One JSON line a figure. Without EAL's options: --no-huge -m 64 --no-shconf.\n",
		stderr);
	return 2;
}

static void start_eal(char *program, char **given, int count)
{
	/* EAL writes to what it is given. */
	static char usual[][24] = {"--no-huge", "-m", "64", "--no-shconf", "--no-pci",
		"--no-telemetry", "--log-level", "error"};
	char *argv[40] = {program};
	int argc = 1;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]) && !count; i++)
		argv[argc++] = usual[i];
	for (int i = 0; i < count && argc < 39; i++)
		argv[argc++] = given[i];
	if (rte_eal_init(argc, argv) < 0)
		exit(1);
	ns_per_cycle = 1e9 / (double)rte_get_tsc_hz();
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"flows", required_argument, NULL, 'f'},
		{"small-pages", no_argument, NULL, 's'}, {}};
	uint64_t flows[8] = {65536, 1048576, 10000000};
	bool small_pages = false;
	int given = 0, option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'f' && given < 8)
			flows[given++] = strtoull(optarg, NULL, 10);
		else if (option == 's')
			small_pages = true;
		else
			return usage();
	}
	start_eal(argv[0], argv + optind, argc - optind);
	for (int i = 0; i < (given ? given : 3); i++) {
		if (flows[i] < 4096 || flows[i] > 1u << 28)
			return usage();
		measure(flows[i], small_pages);
	}
	return sink == 42; /* it never is */
}
