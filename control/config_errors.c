/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_errors.h"

#include "config_arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define QUOTED_BYTES 60

char *config_quote_bytes(const char *text, size_t len, char quoted[static CONFIG_QUOTE_MAX])
{
	size_t shown = len;

	if (len > QUOTED_BYTES) {
		shown = QUOTED_BYTES;
		while (shown && ((unsigned char)text[shown] & 0xc0) == 0x80)
			shown--; /* never half a character */
	}
	for (size_t i = 0; i < shown; i++) {
		unsigned char c = (unsigned char)text[i];
		/* U+0080 to U+009F are control characters to a terminal as well */
		bool c1 = c == 0xc2 && i + 1 < shown && (unsigned char)text[i + 1] < 0xa0;

		quoted[i] = c < 0x20 || c == 0x7f || c1 ? '?' : (char)c;
		if (c1)
			quoted[++i] = '?';
	}
	strcpy(quoted + shown, shown < len ? "..." : "");
	return quoted;
}

char *config_quote(const char *text, char quoted[static CONFIG_QUOTE_MAX])
{
	return config_quote_bytes(text, strlen(text), quoted);
}

bool config_errors_full(const struct gw_config_errors *errors)
{
	return errors->count >= GW_CONFIG_ERRORS_MAX;
}

static char *message_make(struct gw_arena *arena, const char *format, va_list args)
{
	char *text, *copy;

	if (vasprintf(&text, format, args) < 0)
		return NULL;
	copy = gw_arena_strndup(arena, text, strlen(text));
	free(text);
	return copy;
}

int config_error_addv(struct gw_config_errors *errors, const struct gw_place *place,
	const char *path, const char *format, va_list args)
{
	struct gw_config_error *error;

	if (config_errors_full(errors)) {
		errors->omitted++;
		return 0;
	}
	if (!errors->arena) {
		errors->arena = gw_arena_new();
		if (!errors->arena)
			return -ENOMEM;
	}
	if (!errors->list) {
		errors->list =
			gw_arena_alloc(errors->arena, GW_CONFIG_ERRORS_MAX, sizeof(*errors->list));
		if (!errors->list)
			return -ENOMEM;
	}
	error = &errors->list[errors->count];
	error->place = *place;
	error->place.file = gw_arena_strndup(errors->arena, place->file, strlen(place->file));
	error->path = gw_arena_strndup(errors->arena, path, strlen(path));
	error->message = message_make(errors->arena, format, args);
	if (!error->place.file || !error->path || !error->message)
		return -ENOMEM;
	errors->count++;
	return 0;
}

int config_error_add(struct gw_config_errors *errors, const struct gw_place *place,
	const char *path, const char *format, ...)
{
	va_list args;
	int error;

	va_start(args, format);
	error = config_error_addv(errors, place, path, format, args);
	va_end(args);
	return error;
}

static size_t file_rank(const char *file, const char *const *files, size_t count)
{
	size_t rank = 0;

	while (rank < count && strcmp(files[rank], file))
		rank++;
	return rank;
}

static bool error_before(const struct gw_config_error *a, const struct gw_config_error *b,
	const char *const *files, size_t count)
{
	size_t a_rank = file_rank(a->place.file, files, count);
	size_t b_rank = file_rank(b->place.file, files, count);

	if (a_rank != b_rank)
		return a_rank < b_rank;
	if (a->place.line != b->place.line)
		return a->place.line < b->place.line;
	return a->place.column < b->place.column;
}

/* Insertion: the list is short, nearly sorted, and equal ones must keep their order. */
void config_errors_sort(struct gw_config_errors *errors, const char *const *files, size_t count)
{
	for (size_t i = 1; i < errors->count; i++) {
		struct gw_config_error moved = errors->list[i];
		size_t at = i;

		for (; at && error_before(&moved, &errors->list[at - 1], files, count); at--)
			errors->list[at] = errors->list[at - 1];
		errors->list[at] = moved;
	}
}

void gw_config_errors_free(struct gw_config_errors *errors)
{
	gw_arena_free(errors->arena);
	memset(errors, 0, sizeof(*errors));
}

int gw_config_error_format(const struct gw_config_error *error, char *text, size_t size)
{
	const char *colon = *error->path ? ": " : "";

	if (!error->place.line)
		return snprintf(text, size, "%s: %s%s%s", error->place.file, error->path, colon,
			error->message);
	return snprintf(text, size, "%s:%u:%u: %s%s%s", error->place.file, error->place.line,
		error->place.column, error->path, colon, error->message);
}

void gw_config_errors_print(const struct gw_config_errors *errors, FILE *stream)
{
	for (size_t i = 0; i < errors->count; i++) {
		char text[1024];

		gw_config_error_format(&errors->list[i], text, sizeof(text));
		fprintf(stream, "%s\n", text);
	}
	if (errors->omitted)
		fprintf(stream, "%zu more errors are not shown\n", errors->omitted);
}

json_t *gw_config_errors_json(const struct gw_config_errors *errors)
{
	json_t *list = json_array();

	for (size_t i = 0; i < errors->count; i++) {
		const struct gw_config_error *error = &errors->list[i];
		json_t *one = json_pack("{s:s, s:i, s:i, s:s, s:s}", "file", error->place.file,
			"line", (int)error->place.line, "column", (int)error->place.column, "path",
			error->path, "message", error->message);

		if (json_array_append_new(list, one)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}
