/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads every program of BPF objects, one at a time, and prints what the verifier says: one JSON
 * line for each program and each setting of the object's boolean constants, which a loader sets
 * before loading: each of them cuts other code away. Whole numbers that are zero in the object, so
 * that a loader has to set them, get all bits.
 *
 *	bpf_verify OBJECT...
 *
 * A program that does not load has an "error" and the end of the verifier's log. Exit status 0 when
 * all have loaded, 1 when one has not, 2 for wrong use. Works on any kernel, needs root.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_STATS     4 /* the kernel's BPF_LOG_STATS: the last lines only */
#define LOG_ALL	      (LOG_STATS | 1)
#define LOG_SIZE      (16u << 20)
#define LOG_TAIL      1500
#define CONSTANTS_MAX 8

/* A constant of an object: its name and its place in .rodata. */
struct constant {
	const char *name;
	uint32_t offset;
	uint32_t size;
	bool boolean;
};

static char *verifier_log;

static int be_quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return 0;
}

static uint32_t constants_find(const struct bpf_object *object, struct constant out[CONSTANTS_MAX])
{
	const struct btf *btf = bpf_object__btf(object);
	int id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	const struct btf_type *section = id < 0 ? NULL : btf__type_by_id(btf, (uint32_t)id);
	uint32_t found = 0;

	for (int i = 0; section && i < btf_vlen(section) && found < CONSTANTS_MAX; i++) {
		const struct btf_var_secinfo *place = &btf_var_secinfos(section)[i];
		const struct btf_type *variable = btf__type_by_id(btf, place->type);
		int kind = btf__resolve_type(btf, variable->type);
		const struct btf_type *type =
			kind < 0 ? NULL : btf__type_by_id(btf, (uint32_t)kind);

		if (btf_var(variable)->linkage != BTF_VAR_STATIC && type && btf_is_int(type))
			out[found++] = (struct constant){
				.name = btf__name_by_offset(btf, variable->name_off),
				.offset = place->offset,
				.size = place->size,
				.boolean = btf_int_encoding(type) & BTF_INT_BOOL,
			};
	}
	return found;
}

/* Sets the boolean constants as their bits of `setting` say, and the others. */
static void constants_set(struct bpf_object *object, const struct constant *constants,
	uint32_t count, uint32_t setting)
{
	struct bpf_map *map;
	size_t size;

	bpf_object__for_each_map(map, object)
	{
		const void *initial = bpf_map__initial_value(map, &size);
		uint8_t *values;

		if (!initial || !strstr(bpf_map__name(map), ".rodata"))
			continue;
		values = malloc(size);
		if (!values)
			exit(2);
		memcpy(values, initial, size);
		for (uint32_t i = 0; i < count; i++) {
			uint8_t *value = values + constants[i].offset;

			if (constants[i].boolean)
				*value = setting >> i & 1;
			else if (!memcmp(value, (const uint8_t[8]){}, constants[i].size))
				memset(value, 0xff, constants[i].size);
		}
		bpf_map__set_initial_value(map, values, size);
		free(values);
	}
}

static void print_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", stdout);
		else if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text >= ' ')
			putchar(*text);
	}
	putchar('"');
}

/* An object of which only the program at `index` is loaded; NULL when there is none. */
static struct bpf_object *open_for(
	const char *path, uint32_t index, int log_level, struct bpf_program **only)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .kernel_log_buf = verifier_log,
		.kernel_log_size = LOG_SIZE, .kernel_log_level = (uint32_t)log_level);
	struct bpf_object *object = bpf_object__open_file(path, &options);
	struct bpf_program *program;
	struct bpf_map *map;
	uint32_t at = 0;

	*only = NULL;
	if (!object) {
		fprintf(stderr, "bpf_verify: %s cannot be opened\n", path);
		exit(2);
	}
	bpf_object__for_each_program(program, object)
	{
		bpf_program__set_autoload(program, at == index);
		if (at++ == index)
			*only = program;
	}
	/* A loader gives these their size. */
	bpf_object__for_each_map(map, object) if (!bpf_map__max_entries(map))
		bpf_map__set_max_entries(map, 1);
	if (!*only) {
		bpf_object__close(object);
		return NULL;
	}
	return object;
}

static void print_head(const char *path, const struct bpf_program *program,
	const struct constant *constants, uint32_t count, uint32_t setting)
{
	const char *base = strrchr(path, '/');

	printf("{\"object\": \"%s\", \"program\": \"%s\", \"constants\": \"",
		base ? base + 1 : path, bpf_program__name(program));
	for (uint32_t i = 0; i < count; i++)
		if (constants[i].boolean)
			printf("%s%s=%u", i ? " " : "", constants[i].name, setting >> i & 1);
	printf("\", \"instructions\": %zu, ", bpf_program__insn_cnt(program));
}

static void print_refused(int error)
{
	size_t length = strlen(verifier_log);

	printf("\"error\": \"%s\", \"log\": ", strerror(-error));
	print_text(verifier_log + (length > LOG_TAIL ? length - LOG_TAIL : 0));
	puts("}");
}

/* Loads one program; prints its line when it loads, and also when it does not with LOG_ALL. */
static bool load(const char *path, uint32_t index, uint32_t setting, int log_level)
{
	struct constant constants[CONSTANTS_MAX];
	struct bpf_program *program;
	struct bpf_object *object = open_for(path, index, log_level, &program);
	uint32_t count = constants_find(object, constants);
	unsigned long processed, limit;
	const char *line;
	int error;

	constants_set(object, constants, count, setting);
	verifier_log[0] = '\0';
	error = bpf_object__load(object);
	line = strstr(verifier_log, "processed ");
	if (!error &&
		(!line || sscanf(line, "processed %lu insns (limit %lu)", &processed, &limit) != 2))
		error = -ENODATA;
	if (!error || log_level == LOG_ALL)
		print_head(path, program, constants, count, setting);
	if (!error)
		printf("\"processed\": %lu, \"limit\": %lu}\n", processed, limit);
	else if (log_level == LOG_ALL)
		print_refused(error);
	bpf_object__close(object);
	return !error;
}

static bool verify(const char *path)
{
	struct constant constants[CONSTANTS_MAX];
	struct bpf_program *program;
	struct bpf_object *object;
	bool all = true;

	for (uint32_t index = 0; (object = open_for(path, index, LOG_STATS, &program)); index++) {
		uint32_t count = constants_find(object, constants), numbers = 0;

		for (uint32_t i = 0; i < count; i++)
			numbers |= constants[i].boolean ? 0 : 1u << i;
		bpf_object__close(object);
		for (uint32_t setting = 0; setting < 1u << count; setting++) {
			if (setting & numbers)
				continue;
			if (load(path, index, setting, LOG_STATS))
				continue;
			/* Once more for the whole log. */
			load(path, index, setting, LOG_ALL);
			all = false;
		}
	}
	return all;
}

int main(int argc, char **argv)
{
	bool all = true;

	if (argc < 2) {
		fprintf(stderr, "usage: bpf_verify OBJECT...\n");
		return 2;
	}
	libbpf_set_print(be_quiet);
	setvbuf(stdout, NULL, _IOLBF, 0);
	verifier_log = malloc(LOG_SIZE);
	if (!verifier_log)
		return 2;
	for (int i = 1; i < argc; i++)
		all = verify(argv[i]) && all;
	return all ? 0 : 1;
}
