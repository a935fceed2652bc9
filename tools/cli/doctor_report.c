/* SPDX-License-Identifier: BSD-2-Clause */
/* How a look becomes a JSON object, and what looks have in common. */
#include "doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *look_add(struct doctor *doctor, const char *check, const char *subject,
	const char *state, const char *what, va_list arguments)
{
	char text[512];
	json_t *look;

	vsnprintf(text, sizeof(text), what, arguments);
	look = json_pack("{s:s, s:s, s:s, s:s}", "check", check, "subject", subject, "state", state,
		"what", text);
	json_array_append_new(doctor->looks, look);
	return look;
}

void doctor_well(
	struct doctor *doctor, const char *check, const char *subject, const char *what, ...)
{
	va_list arguments;

	va_start(arguments, what);
	look_add(doctor, check, subject, "ok", what, arguments);
	va_end(arguments);
}

void doctor_unseen(
	struct doctor *doctor, const char *check, const char *subject, const char *what, ...)
{
	va_list arguments;

	va_start(arguments, what);
	look_add(doctor, check, subject, "unknown", what, arguments);
	va_end(arguments);
}

json_t *doctor_finding(struct doctor *doctor, const char *check, const char *subject,
	const char *why, const char *what, ...)
{
	va_list arguments;
	json_t *look;

	va_start(arguments, what);
	look = look_add(doctor, check, subject, "finding", what, arguments);
	va_end(arguments);
	json_object_set_new(look, "why", json_string(why));
	json_object_set_new(look, "commands", json_array());
	return look;
}

void doctor_fix(json_t *finding, const char *word, ...)
{
	json_t *command = json_array();
	va_list arguments;

	va_start(arguments, word);
	for (; word; word = va_arg(arguments, const char *))
		json_array_append_new(command, json_string(word));
	va_end(arguments);
	json_array_append_new(json_object_get(finding, "commands"), command);
}

void doctor_advise(json_t *finding, const char *text)
{
	json_object_set_new(finding, "advice", json_string(text));
}

void doctor_fix_sysctl(json_t *finding, const char *name, long long value)
{
	char setting[128];

	snprintf(setting, sizeof(setting), "%s=%lld", name, value);
	doctor_fix(finding, "sysctl", "-w", setting, NULL);
}

static int file_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = read(fd, text, size - 1);
	close(fd);
	if (length < 0)
		return -errno;
	text[length] = 0;
	text[strcspn(text, "\n")] = 0;
	return 0;
}

static int path_make(const struct doctor *doctor, char path[static PATH_MAX], const char *format,
	va_list arguments)
{
	int used = snprintf(path, PATH_MAX, "%s", doctor->root);

	used += vsnprintf(path + used, PATH_MAX - (size_t)used, format, arguments);
	return used < PATH_MAX ? 0 : -ENAMETOOLONG;
}

int doctor_read(const struct doctor *doctor, char *text, size_t size, const char *format, ...)
{
	char path[PATH_MAX];
	va_list arguments;
	int error;

	va_start(arguments, format);
	error = path_make(doctor, path, format, arguments);
	va_end(arguments);
	return error ? error : file_read(path, text, size);
}

long long doctor_number(const struct doctor *doctor, const char *format, ...)
{
	char path[PATH_MAX], text[32], *end;
	va_list arguments;
	long long number;
	int error;

	va_start(arguments, format);
	error = path_make(doctor, path, format, arguments);
	va_end(arguments);
	if (error || file_read(path, text, sizeof(text)))
		return -1;
	errno = 0;
	number = strtoll(text, &end, 10);
	return errno || end == text ? -1 : number;
}

bool doctor_list_has(const char *list, unsigned int number)
{
	while (*list) {
		char *end;
		unsigned long low = strtoul(list, &end, 10), high = low;

		if (end == list)
			return false;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (number >= low && number <= high)
			return true;
		list = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return false;
	}
	return false;
}

static void word_write(FILE *out, const char *word)
{
	if (word[0] && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_=,.:/@+") == strlen(word)) {
		fputs(word, out);
		return;
	}
	fputc('\'', out);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", out);
		else
			fputc(*word, out);
	fputc('\'', out);
}

char *doctor_command_text(const json_t *command)
{
	const json_t *word;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	json_array_foreach (command, i, word) {
		if (i)
			fputc(' ', out);
		word_write(out, json_string_value(word));
	}
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
