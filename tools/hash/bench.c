/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `bench`: build and lookup times and memory, over numbers of members. Library, bulk call and
 * textbook form take turns within one run; medians are quoted. Each round looks up keys not seen in
 * the round before.
 */
#include "hash.h"
#include "sim.h"
#include "textbook.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, BATCH = 4096, BATCH_SCORED = 8, SCORED = 20000, COUNTS = 6 };
static const double ROUND_SECONDS = 0.01; /* at least this long a round */

static const uint32_t member_counts[COUNTS] = {10, 100, 1000, 5000, 100000, 1000000};

struct figures {
	double build_ms, lookup_ns, bulk_ns, textbook_ns; /* textbook_ns 0: no other form */
	size_t memory;
};

struct subject {
	const struct gw_chash_view *view;
	const struct textbook *book;
	int batch;     /* keys between two looks at the clock */
	uint64_t next; /* key counter */
};

static uint32_t sink;

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t key_of(uint64_t i)
{
	uint64_t z = i * 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	return z ^ z >> 27;
}

static void run_single(struct subject *subject, const uint64_t *keys)
{
	uint32_t member = 0;

	for (int i = 0; i < subject->batch; i++) {
		gw_chash_get_node_u64(subject->view, keys[i], &member);
		sink += member;
	}
}

static void run_bulk(struct subject *subject, const uint64_t *keys)
{
	static uint32_t members[BATCH];

	gw_chash_get_node_bulk(subject->view, keys, (size_t)subject->batch, members);
	sink += members[0] + members[subject->batch - 1];
}

static void run_textbook(struct subject *subject, const uint64_t *keys)
{
	for (int i = 0; i < subject->batch; i++)
		sink += textbook_get(subject->book, keys[i]);
}

/* Nanoseconds a lookup over one round; making the keys is not counted. */
static double round_ns(struct subject *subject, void (*run)(struct subject *, const uint64_t *))
{
	static uint64_t keys[BATCH];
	double spent = 0;
	uint64_t batches = 0;

	while (spent < ROUND_SECONDS) {
		double start;

		for (int i = 0; i < subject->batch; i++)
			keys[i] = key_of(++subject->next);
		start = cpu_seconds();
		run(subject, keys);
		spent += cpu_seconds() - start;
		batches++;
	}
	return spent * 1e9 / ((double)batches * subject->batch);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
	qsort(values, ROUNDS, sizeof(*values), by_value);
	return values[ROUNDS / 2];
}

static int measure_lookups(struct gw_chash *handle, struct figures *figures)
{
	struct gw_chash_view *view = gw_chash_snapshot(handle);
	struct textbook *book = textbook_open(view);
	struct subject subject = {.view = view, .book = book, .batch = BATCH};
	double single[ROUNDS], bulk[ROUNDS], plain[ROUNDS];
	uint32_t member;
	int error = gw_chash_get_node_u64(view, 0, &member);

	/* A lookup that scores every member takes up to milliseconds. */
	if (gw_chash_view_options(view)->algorithm == GW_CHASH_RENDEZVOUS &&
		gw_chash_view_count(view) > SCORED)
		subject.batch = BATCH_SCORED;
	for (int i = 0; !error && i < ROUNDS; i++) {
		single[i] = round_ns(&subject, run_single);
		bulk[i] = round_ns(&subject, run_bulk);
		if (book)
			plain[i] = round_ns(&subject, run_textbook);
	}
	if (!error) {
		figures->lookup_ns = median(single);
		figures->bulk_ns = median(bulk);
		figures->textbook_ns = book ? median(plain) : 0;
		figures->memory = gw_chash_view_memory(view);
	}
	textbook_close(book);
	gw_chash_view_unref(view);
	return error;
}

static int measure(const struct args *args, enum gw_chash_algorithm algorithm, uint32_t members,
	struct figures *figures)
{
	/* Long builds are timed once; what is quick, ROUNDS times. */
	double build[ROUNDS] = {0};
	int rounds = ROUNDS;
	/* Anchor and Dx at full capacity, unless --capacity leaves room. */
	struct args sized = *args;
	struct sim sim;
	int error = 0;

	if (!args->capacity_given) {
		sized.capacity_given = true;
		sized.options.capacity = members;
	}
	for (int i = 0; !error && i < rounds; i++) {
		double start;

		error = sim_open(&sim, &sized, algorithm, 0, members, 1);
		if (error)
			return error;
		start = cpu_seconds();
		error = sim_add(&sim, 0, members);
		build[i] = (cpu_seconds() - start) * 1000;
		if (!error && build[0] > 300)
			rounds = 1;
		if (!error && i == rounds - 1)
			error = measure_lookups(sim.handle, figures);
		sim_close(&sim);
	}
	if (!error)
		figures->build_ms = rounds == ROUNDS ? median(build) : build[0];
	return error;
}

static json_t *row_json(const char *name, uint32_t members, const struct figures *f)
{
	json_t *row = json_pack("{s:s,s:I,s:f,s:f,s:f,s:I}", "algorithm", name, "members",
		(json_int_t)members, "build_ms", f->build_ms, "lookup_ns", f->lookup_ns, "bulk_ns",
		f->bulk_ns, "memory_bytes", (json_int_t)f->memory);

	if (f->textbook_ns > 0)
		json_object_set_new(row, "textbook_ns", json_real(f->textbook_ns));
	return row;
}

static void row_print(const char *name, uint32_t members, const struct figures *f)
{
	printf("%-12s %9u %11.3f %10.2f %10.2f ", name, members, f->build_ms, f->lookup_ns,
		f->bulk_ns);
	if (f->textbook_ns > 0)
		printf("%11.2f", f->textbook_ns);
	else
		printf("%11s", "-");
	printf(" %11.1f\n", (double)f->memory / 1024);
	fflush(stdout);
}

static void bench_algorithm(const struct args *args, enum gw_chash_algorithm algorithm,
	json_t *list, struct chart *chart)
{
	const char *name = gw_chash_traits(algorithm)->name;
	size_t series = chart_add_series(chart, gw_chash_traits(algorithm)->title);

	for (int i = 0; i < (args->members ? 1 : COUNTS); i++) {
		uint32_t members = args->members ? args->members : member_counts[i];
		struct figures figures = {0};
		int error;

		error = measure(args, algorithm, members, &figures);
		if (error) {
			if (!args->json)
				printf("%-12s %9u %s\n", name, members, gw_chash_strerror(error));
			continue;
		}
		if (!args->json)
			row_print(name, members, &figures);
		json_array_append_new(list, row_json(name, members, &figures));
		chart_add_point(chart, series, members, figures.lookup_ns);
	}
}

int bench_run(const struct args *args)
{
	struct chart chart = {.title = "Lookup time by number of members",
		.subtitle = "one core, median of 5 rounds, keys not seen before",
		.x_label = "members",
		.y_label = "ns a lookup",
		.log_x = true,
		.log_y = true};
	json_t *list = json_array();
	int status = EXIT_DONE;

	if (!args->json)
		printf("%-12s %9s %11s %10s %10s %11s %11s\n", "algorithm", "members", "build ms",
			"lookup ns", "bulk ns", "textbook ns", "KiB");
	for (int algorithm = 0; algorithm < GW_CHASH_ALGORITHMS; algorithm++)
		if (!args->algorithm_given || algorithm == (int)args->options.algorithm)
			bench_algorithm(args, algorithm, list, &chart);
	if (args->json) {
		json_dumpf(list, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
		putchar('\n');
	}
	if (args->svg)
		status = draw_chart(&chart, args->svg);
	json_decref(list);
	chart_free(&chart);
	return status;
}
