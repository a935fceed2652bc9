/* SPDX-License-Identifier: BSD-2-Clause */
#include "args.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void complain(const char *format, ...)
{
	va_list list;

	fputs("guideway-hash: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
}

void *grow(void *array, size_t count, size_t size)
{
	/* Capacity doubles: a power of two is the moment to take more. */
	if (count && (count & (count - 1)))
		return array;
	array = reallocarray(array, count ? count * 2 : 1, size);
	if (!array) {
		complain("out of memory at %zu entries", count);
		exit(EXIT_FAILED);
	}
	return array;
}

static char *copy(const char *text, size_t length)
{
	char *out = strndup(text, length);

	if (!out) {
		complain("out of memory");
		exit(EXIT_FAILED);
	}
	return out;
}

static int read_u64(
	const char *option, const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(text, &end, 0);
	if (errno || end == text || *end || strchr(text, '-') || number < low || number > high) {
		complain("%s: '%s' is not a whole number from %llu to %llu", option, text,
			(unsigned long long)low, (unsigned long long)high);
		return EXIT_USAGE;
	}
	*value = number;
	return EXIT_DONE;
}

static int read_u32(
	const char *option, const char *text, uint32_t low, uint32_t high, uint32_t *value)
{
	uint64_t number;
	int status = read_u64(option, text, low, high, &number);

	if (status == EXIT_DONE)
		*value = (uint32_t)number;
	return status;
}

static int read_double(const char *option, const char *text, double above, double *value)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || *end || !isfinite(number) || number <= above) {
		complain("%s: '%s' is not a number above %g", option, text, above);
		return EXIT_USAGE;
	}
	*value = number;
	return EXIT_DONE;
}

/*
 * KEY[@WEIGHT[@ZONE]]. A word behind the last @ (or the one before it) that is no number belongs to
 * the key. The weight is checked by the library, which says what is wrong with it; one beyond 64
 * bits arrives there as the largest or smallest there is, which is as wrong.
 */
static bool number_at(const char *text, const char *end, int64_t *value)
{
	char *stop;

	*value = strtoll(text, &stop, 10);
	return stop == end && stop != text;
}

/* A weight with a fraction or an exponent: surely meant as one, so not taken for a part of the key.
 */
static bool fraction_at(const char *text)
{
	char *stop;

	if (!strchr("+-.0123456789", *text))
		return false;
	strtod(text, &stop);
	return stop != text && (!*stop || *stop == '@');
}

static int read_spec(const char *option, const char *text, struct spec *spec)
{
	const char *last = strrchr(text, '@');
	const char *end = text + strlen(text);
	const char *before = last;

	*spec = (struct spec){.weight = 1};
	if (last && number_at(last + 1, end, &spec->weight)) {
		spec->id = copy(text, (size_t)(last - text));
	} else if (last) {
		while (before > text && *--before != '@')
			;
		if (*before == '@' && before != last &&
			number_at(before + 1, last, &spec->weight)) {
			spec->id = copy(text, (size_t)(before - text));
			spec->zone = copy(last + 1, (size_t)(end - last - 1));
		} else {
			spec->weight = 1;
			if (fraction_at(last + 1) || (before != last && fraction_at(before + 1))) {
				complain("%s: '%s': a weight is a whole number", option, text);
				return EXIT_USAGE;
			}
		}
	}
	if (!spec->id)
		spec->id = copy(text, strlen(text));
	if (spec->id[0])
		return EXIT_DONE;
	complain("%s: '%s' has no key before its weight", option, text);
	return EXIT_USAGE;
}

static int add_spec(struct args *args, const char *option, const char *text)
{
	args->specs = grow(args->specs, args->spec_count, sizeof(*args->specs));
	return read_spec(option, text, &args->specs[args->spec_count++]);
}

static int add_steps(struct args *args, const char *option, const char *text, bool add)
{
	while (*text) {
		size_t length = strcspn(text, ",");
		char *word = copy(text, length);
		int status;

		args->steps = grow(args->steps, args->step_count, sizeof(*args->steps));
		args->steps[args->step_count].add = add;
		status = read_spec(option, word, &args->steps[args->step_count++].spec);
		free(word);
		if (status)
			return status;
		text += length + (text[length] == ',');
	}
	return EXIT_DONE;
}

static void add_key(struct args *args, char *text, uint64_t number)
{
	args->keys = grow(args->keys, args->key_count, sizeof(*args->keys));
	args->keys[args->key_count++] = (struct key){.text = text, .number = number};
}

static int each_line(const char *option, const char *path, struct args *args,
	int (*take)(struct args *, const char *, const char *))
{
	FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int status = EXIT_DONE;

	if (!file) {
		complain("%s: cannot read '%s': %s", option, path, strerror(errno));
		return EXIT_FAILED;
	}
	while (!status && (length = getline(&line, &room, file)) >= 0) {
		while (length && (line[length - 1] == '\n' || line[length - 1] == '\r'))
			line[--length] = '\0';
		if (length)
			status = take(args, option, line);
	}
	free(line);
	if (file != stdin)
		fclose(file);
	return status;
}

static int take_key_line(struct args *args, const char *option, const char *line)
{
	(void)option;
	add_key(args, copy(line, strlen(line)), 0);
	return EXIT_DONE;
}

static int set_algorithm(struct args *args, const char *option, const char *value)
{
	struct gw_chash_options fresh;
	enum gw_chash_algorithm algorithm;

	if (gw_chash_algorithm_parse(value, &algorithm)) {
		fprintf(stderr, "guideway-hash: %s: unknown algorithm '%s'; known are", option,
			value);
		for (int i = 0; i < GW_CHASH_ALGORITHMS; i++)
			fprintf(stderr, " %s", gw_chash_traits(i)->name);
		fputc('\n', stderr);
		return EXIT_USAGE;
	}
	/* What was given before it stays; the rest takes this algorithm's own defaults. */
	gw_chash_options_init(&fresh, algorithm);
	if (args->hash_given)
		fresh.hash = args->options.hash;
	if (args->vnodes_given)
		fresh.vnodes = args->options.vnodes;
	if (args->capacity_given)
		fresh.capacity = args->options.capacity;
	fresh.seed = args->options.seed;
	fresh.size = args->options.size;
	fresh.probes = args->options.probes;
	args->options = fresh;
	args->algorithm_given = true;
	return EXIT_DONE;
}

static int set_hash(struct args *args, const char *option, const char *value)
{
	if (gw_chash_hash_parse(value, &args->options.hash)) {
		complain("%s: unknown hash '%s'; known are xxh3, xxh64, murmur3, md5, siphash",
			option, value);
		return EXIT_USAGE;
	}
	args->hash_given = true;
	return EXIT_DONE;
}

static int set_member(struct args *args, const char *option, const char *value)
{
	return add_spec(args, option, value);
}

static int set_members_from(struct args *args, const char *option, const char *value)
{
	return each_line(option, value, args, set_member);
}

static int set_buckets(struct args *args, const char *option, const char *value)
{
	return read_u32(option, value, 1, GW_CHASH_BUCKETS_MAX, &args->buckets);
}

static int set_capacity(struct args *args, const char *option, const char *value)
{
	args->capacity_given = true;
	return read_u32(option, value, 1, GW_CHASH_BUCKETS_MAX, &args->options.capacity);
}

static int set_size(struct args *args, const char *option, const char *value)
{
	return read_u64(option, value, 0, UINT64_MAX, &args->options.size);
}

static int set_vnodes(struct args *args, const char *option, const char *value)
{
	args->vnodes_given = true;
	return read_u32(option, value, 1, 1u << 20, &args->options.vnodes);
}

static int set_probes(struct args *args, const char *option, const char *value)
{
	return read_u32(option, value, 1, 1000, &args->options.probes);
}

static int set_seed(struct args *args, const char *option, const char *value)
{
	int status = read_u64(option, value, 0, UINT64_MAX, &args->seed);

	args->options.seed = args->seed;
	return status;
}

static int set_remove(struct args *args, const char *option, const char *value)
{
	return add_steps(args, option, value, false);
}

static int set_add(struct args *args, const char *option, const char *value)
{
	return add_steps(args, option, value, true);
}

static int set_key(struct args *args, const char *option, const char *value)
{
	return take_key_line(args, option, value);
}

static int set_key_u64(struct args *args, const char *option, const char *value)
{
	uint64_t number;
	int status = read_u64(option, value, 0, UINT64_MAX, &number);

	if (!status)
		add_key(args, NULL, number);
	return status;
}

static int set_keys_from(struct args *args, const char *option, const char *value)
{
	return each_line(option, value, args, take_key_line);
}

static int set_n(struct args *args, const char *option, const char *value)
{
	return read_u32(option, value, 1, GW_CHASH_BUCKETS_MAX, &args->n);
}

static int set_spread(struct args *args, const char *option, const char *value)
{
	if (strcmp(value, "zone")) {
		complain("%s: '%s' is not known; members can be spread by zone", option, value);
		return EXIT_USAGE;
	}
	args->spread_zone = true;
	return EXIT_DONE;
}

static int set_scenario(struct args *args, const char *option, const char *value)
{
	(void)option;
	args->scenario = value;
	return EXIT_DONE;
}

static int set_member_count(struct args *args, const char *option, const char *value)
{
	return read_u32(option, value, 1, 1u << 20, &args->members);
}

static int set_to(struct args *args, const char *option, const char *value)
{
	return read_u32(option, value, 1, 1u << 20, &args->to);
}

static int set_key_total(struct args *args, const char *option, const char *value)
{
	return read_u64(option, value, 1, 100000000, &args->key_total);
}

static int set_factor(struct args *args, const char *option, const char *value)
{
	return read_double(option, value, 1.0, &args->factor);
}

static int set_zipf(struct args *args, const char *option, const char *value)
{
	return read_double(option, value, 0.0, &args->zipf);
}

static int set_svg(struct args *args, const char *option, const char *value)
{
	(void)option;
	args->svg = value;
	return EXIT_DONE;
}

static const struct option_row {
	const char *name;
	unsigned int verbs;
	int (*set)(struct args *args, const char *option, const char *value);
} option_rows[] = {
	{"--algorithm", TAKES_SET | TAKES_SCENARIO | TAKES_BENCH, set_algorithm},
	{"--hash", TAKES_SET | TAKES_SCENARIO, set_hash},
	{"--seed", TAKES_SET | TAKES_SCENARIO | TAKES_BENCH, set_seed},
	{"--size", TAKES_SET | TAKES_SCENARIO | TAKES_BENCH, set_size},
	{"--vnodes", TAKES_SET | TAKES_SCENARIO | TAKES_BENCH, set_vnodes},
	{"--capacity", TAKES_SET | TAKES_SCENARIO | TAKES_BENCH, set_capacity},
	{"--probes", TAKES_SET | TAKES_SCENARIO | TAKES_BENCH, set_probes},
	{"--member", TAKES_SET, set_member},
	{"--members-from", TAKES_SET, set_members_from},
	{"--buckets", TAKES_SET, set_buckets},
	{"--remove", TAKES_CHANGES, set_remove},
	{"--add", TAKES_CHANGES, set_add},
	{"--key", TAKES_KEYS, set_key},
	{"--key-u64", TAKES_KEYS, set_key_u64},
	{"--keys-from", TAKES_KEYS, set_keys_from},
	{"--n", TAKES_KEYS, set_n},
	{"--spread", TAKES_KEYS, set_spread},
	{"--scenario", TAKES_SCENARIO, set_scenario},
	{"--members", TAKES_SCENARIO | TAKES_BENCH, set_member_count},
	{"--to", TAKES_SCENARIO, set_to},
	{"--keys", TAKES_SCENARIO, set_key_total},
	{"--factor", TAKES_SCENARIO, set_factor},
	{"--zipf", TAKES_SCENARIO, set_zipf},
	{"--svg", TAKES_SCENARIO | TAKES_BENCH, set_svg},
};

static const struct option_row *find_option(const char *word, size_t length, unsigned int takes)
{
	for (size_t i = 0; i < sizeof(option_rows) / sizeof(option_rows[0]); i++)
		if (strlen(option_rows[i].name) == length &&
			!memcmp(option_rows[i].name, word, length) && option_rows[i].verbs & takes)
			return &option_rows[i];
	return NULL;
}

int args_parse(struct args *args, unsigned int takes, int argc, char **argv)
{
	*args = (struct args){.factor = 1.25, .zipf = 1.1};
	gw_chash_options_init(&args->options, GW_CHASH_MAGLEV);
	for (int i = 0; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');
		size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
		const struct option_row *row = find_option(argv[i], length, takes);
		const char *value;
		int status;

		if (!strcmp(argv[i], "--json")) {
			args->json = true;
			continue;
		}
		if (!row) {
			complain("'%s' is not an option of this verb; --help lists them", argv[i]);
			return EXIT_USAGE;
		}
		value = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
		if (!value) {
			complain("%s needs a value", row->name);
			return EXIT_USAGE;
		}
		status = row->set(args, row->name, value);
		if (status)
			return status;
	}
	return EXIT_DONE;
}

static void spec_free(struct spec *spec)
{
	free(spec->id);
	free(spec->zone);
}

void args_free(struct args *args)
{
	for (size_t i = 0; i < args->spec_count; i++)
		spec_free(&args->specs[i]);
	for (size_t i = 0; i < args->step_count; i++)
		spec_free(&args->steps[i].spec);
	for (size_t i = 0; i < args->key_count; i++)
		free((char *)args->keys[i].text);
	free(args->specs);
	free(args->steps);
	free(args->keys);
}

/* All members of the command line in one update, so that their order does not matter. */
static int add_members(const struct args *args, struct gw_chash *handle)
{
	struct gw_chash_change *changes =
		calloc(args->spec_count ? args->spec_count : 1, sizeof(*changes));
	size_t failed = args->spec_count;
	int error;

	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < args->spec_count; i++)
		changes[i] = (struct gw_chash_change){
			.verb = GW_CHASH_ADD,
			.id = args->specs[i].id,
			.weight = args->specs[i].weight,
			.zone = args->specs[i].zone,
		};
	error = gw_chash_update(handle, changes, args->spec_count, &failed);
	if (error && failed < args->spec_count)
		complain("member '%s': %s", args->specs[failed].id, gw_chash_strerror(error));
	else if (error)
		complain("these %zu members: %s", args->spec_count, gw_chash_strerror(error));
	free(changes);
	return error;
}

static int take_steps(const struct args *args, struct gw_chash *handle)
{
	for (size_t i = 0; i < args->step_count; i++) {
		const struct step *step = &args->steps[i];
		int error = step->add ? gw_chash_add_node(handle, step->spec.id, step->spec.weight,
						step->spec.zone)
				      : gw_chash_remove_node(handle, step->spec.id);

		if (error) {
			complain("%s '%s': %s", step->add ? "--add" : "--remove", step->spec.id,
				gw_chash_strerror(error));
			return error;
		}
	}
	return 0;
}

static void complain_of_options(const struct args *args, int error)
{
	const char *name = gw_chash_traits(args->options.algorithm)->name;

	if (error == GW_CHASH_ERR_NOT_PRIME || error == GW_CHASH_ERR_SIZE)
		complain("%s, --size %llu: %s", name, (unsigned long long)args->options.size,
			gw_chash_strerror(error));
	else if (args->options.algorithm == GW_CHASH_KETAMA && error == GW_CHASH_ERR_PARAMETER)
		complain("ketama is defined on md5 without a seed: leave --hash and --seed away");
	else
		complain("%s: %s", name, gw_chash_strerror(error));
}

int args_build(const struct args *args, struct gw_chash **handle)
{
	struct gw_chash *made = NULL;
	int error;

	if (args->buckets && args->spec_count) {
		complain("--buckets and --member both name the members; give one of them");
		return EXIT_USAGE;
	}
	error = gw_chash_create(&args->options, &made);
	if (error) {
		complain_of_options(args, error);
		return EXIT_FAILED;
	}
	if (args->buckets) {
		error = gw_chash_add_buckets(made, args->buckets);
		if (error)
			complain("--buckets %u: %s", args->buckets, gw_chash_strerror(error));
	} else {
		error = add_members(args, made);
	}
	if (!error)
		error = take_steps(args, made);
	if (error) {
		gw_chash_destroy(made);
		return EXIT_FAILED;
	}
	*handle = made;
	return EXIT_DONE;
}
