/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_MAX 1024
#define LINE_BYTES  (6 * MESSAGE_MAX) /* every character may be escaped */

static const struct {
	const char *name;
	const char *word;
	int priority; /* syslog(3) */
} levels[] = {
	[GW_LOG_ERROR] = {"error", "error: ", 3},
	[GW_LOG_WARNING] = {"warning", "warning: ", 4},
	[GW_LOG_INFO] = {"info", "", 6},
	[GW_LOG_DEBUG] = {"debug", "debug: ", 7},
};

static const char *log_program;
static enum gw_log_level log_level = GW_LOG_INFO;
static enum gw_log_format log_format;
static bool log_journal;

void gw_log_open(const char *program, enum gw_log_level level)
{
	log_program = program;
	log_level = level;
	log_journal = getenv("JOURNAL_STREAM") != NULL;
}

void gw_log_format_set(enum gw_log_format format)
{
	log_format = format;
}

int gw_log_format_parse(const char *word, enum gw_log_format *format)
{
	if (strcmp(word, "text") && strcmp(word, "json"))
		return -EINVAL;
	*format = strcmp(word, "json") ? GW_LOG_TEXT : GW_LOG_JSON;
	return 0;
}

static size_t text_line(enum gw_log_level level, const char *message, char line[static LINE_BYTES])
{
	size_t begin = 0, end;

	if (log_journal)
		begin += (size_t)snprintf(line, 16, "<%d>", levels[level].priority);
	else if (log_program)
		begin += (size_t)snprintf(line, 80, "%.64s: ", log_program);
	end = begin + (size_t)snprintf(line + begin, LINE_BYTES - begin - 1, "%s%s",
			      levels[level].word, message);
	for (size_t i = begin; i < end; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	return end;
}

/* Text of another coding than ASCII is no one's to guess: each such byte becomes '?'. */
static size_t json_text(char *line, size_t at, const char *text)
{
	line[at++] = '"';
	for (; *text && at + 8 < LINE_BYTES; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			line[at++] = '\\';
			line[at++] = (char)c;
		} else if (c < ' ') {
			at += (size_t)snprintf(line + at, 7, "\\u%04x", c);
		} else {
			line[at++] = c < 0x7f ? (char)c : '?';
		}
	}
	line[at++] = '"';
	return at;
}

static size_t json_field(char *line, size_t at, const char *name, const char *value)
{
	size_t length = strlen(name);

	if (!value || !value[0] || at + length + strlen(value) * 6 + 16 >= LINE_BYTES)
		return at;
	if (at > 1)
		line[at++] = ',';
	at = json_text(line, at, name);
	line[at++] = ':';
	return json_text(line, at, value);
}

static size_t json_line(enum gw_log_level level, const char *message,
	const struct gw_log_field *fields, size_t count, char line[static LINE_BYTES])
{
	struct timespec now;
	struct tm broken;
	char stamp[40];
	size_t at = 0, used;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &broken);
	used = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &broken);
	snprintf(stamp + used, sizeof(stamp) - used, ".%03dZ", (int)(now.tv_nsec / 1000000));
	line[at++] = '{';
	at = json_field(line, at, "time", stamp);
	at = json_field(line, at, "level", levels[level].name);
	at = json_field(line, at, "program", log_program);
	for (size_t i = 0; i < count; i++)
		at = json_field(line, at, fields[i].name, fields[i].value);
	at = json_field(line, at, "message", message);
	line[at++] = '}';
	return at;
}

static void line_write(enum gw_log_level level, const struct gw_log_field *fields, size_t count,
	const char *format, va_list arguments)
{
	char message[MESSAGE_MAX], line[LINE_BYTES];
	int saved = errno;
	size_t end;

	if (level > log_level)
		return;
	if (vsnprintf(message, sizeof(message), format, arguments) < 0)
		message[0] = 0;
	end = log_format == GW_LOG_JSON ? json_line(level, message, fields, count, line)
					: text_line(level, message, line);
	line[end++] = '\n';
	/* Nothing can be done about a log that cannot be written. */
	if (write(STDERR_FILENO, line, end) < 0)
		errno = saved;
	errno = saved;
}

void gw_log(enum gw_log_level level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	line_write(level, NULL, 0, format, arguments);
	va_end(arguments);
}

void gw_log_fields(enum gw_log_level level, const struct gw_log_field *fields, size_t count,
	const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	line_write(level, fields, count, format, arguments);
	va_end(arguments);
}
