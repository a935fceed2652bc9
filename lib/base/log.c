/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
	const char *word;
	int priority; /* syslog(3) */
} levels[] = {
	[GW_LOG_ERROR] = {"error: ", 3},
	[GW_LOG_WARNING] = {"warning: ", 4},
	[GW_LOG_INFO] = {"", 6},
	[GW_LOG_DEBUG] = {"debug: ", 7},
};

static const char *log_program;
static enum gw_log_level log_level = GW_LOG_INFO;
static bool log_journal;

void gw_log_open(const char *program, enum gw_log_level level)
{
	log_program = program;
	log_level = level;
	log_journal = getenv("JOURNAL_STREAM") != NULL;
}

void gw_log(enum gw_log_level level, const char *format, ...)
{
	char line[1024];
	size_t used = 0;
	int saved = errno;
	va_list arguments;

	if (level > log_level)
		return;
	if (log_journal)
		used += (size_t)snprintf(line, sizeof(line), "<%d>", levels[level].priority);
	else if (log_program)
		used += (size_t)snprintf(line, sizeof(line), "%.64s: ", log_program);
	used += (size_t)snprintf(line + used, sizeof(line) - used, "%s", levels[level].word);

	va_start(arguments, format);
	int length = vsnprintf(line + used, sizeof(line) - used - 1, format, arguments);
	va_end(arguments);
	if (length < 0)
		length = 0;
	size_t end = used + (size_t)length;
	if (end > sizeof(line) - 2)
		end = sizeof(line) - 2;
	for (size_t i = used; i < end; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[end++] = '\n';
	/* Nothing can be done about a log that cannot be written. */
	if (write(STDERR_FILENO, line, end) < 0)
		errno = saved;
	errno = saved;
}
