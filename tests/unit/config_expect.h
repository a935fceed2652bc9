/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the suites of the configuration share. A sample of bad YAML marks with '@' where each error
 * must be reported: the marks are taken out before it is loaded, and their lines and columns are
 * what the loader has to say. '@' can begin nothing else in YAML.
 */
#pragma once

#include "control/config.h"
#include "suite.h"

#include <stdlib.h>
#include <string.h>

#define CONFIG_HEAD                                                                                \
	"version: 1\n"                                                                             \
	"node: {name: lb1, source_ipv4: 10.82.0.11, source_ipv6: \"fd82::11\"}\n"                  \
	"dataplane: {path: xdp, interfaces: [{name: eth1}]}\n"

/* A pool called web with one backend, and nothing that needs more. */
#define CONFIG_POOL "pools: [{name: web, backends: [{name: b1, address: 10.82.0.101}]}]\n"

/* The keys on the way to the value, and what the message must contain. */
struct expected {
	const char *path;
	const char *message;
};

#define EXPECT_MAX 16

struct marks {
	size_t count;
	unsigned int line[EXPECT_MAX];
	unsigned int column[EXPECT_MAX];
};

/* Takes the marks out of text. */
static inline void marks_take(char *text, struct marks *marks)
{
	unsigned int line = 1, column = 1;
	char *to = text;

	marks->count = 0;
	for (const char *from = text; *from; from++) {
		if (*from == '@' && marks->count < EXPECT_MAX) {
			marks->line[marks->count] = line;
			marks->column[marks->count++] = column;
			continue;
		}
		if (*from == '\n')
			column = 1;
		else if (((unsigned char)*from & 0xc0) != 0x80) /* characters, not bytes */
			column++;
		line += *from == '\n';
		*to++ = *from;
	}
	*to = '\0';
}

static inline void error_compare(const struct gw_config_error *error, const struct expected *want,
	unsigned int line, unsigned int column)
{
	bool same = error->place.line == line && error->place.column == column &&
		    !strcmp(error->path, want->path) && strstr(error->message, want->message);

	CU_ASSERT(same);
	if (!same)
		fprintf(stderr, "  expected %u:%u: %s: %s\n       got %u:%u: %s: %s\n", line,
			column, want->path, want->message, error->place.line, error->place.column,
			error->path, error->message);
}

/* The marked text must fail with exactly these errors, in this order, at the marks. */
static inline void expect_errors_with(
	unsigned int flags, const char *marked, const struct expected *want, size_t count)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};
	struct marks marks;
	char *text = strdup(marked);

	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	marks_take(text, &marks);
	CU_ASSERT_EQUAL_FATAL(marks.count, count);
	CU_ASSERT(gw_config_load_string("test.yaml", text, strlen(text), flags, &config, &errors) <
		  0);
	CU_ASSERT_PTR_NULL(config);
	CU_ASSERT_EQUAL(errors.count, count);
	if (errors.count != count) {
		fprintf(stderr, "in:\n%s", text);
		gw_config_errors_print(&errors, stderr);
	}
	for (size_t i = 0; i < count && i < errors.count; i++)
		error_compare(&errors.list[i], &want[i], marks.line[i], marks.column[i]);
	gw_config_errors_free(&errors);
	gw_config_free(config);
	free(text);
}

#define EXPECT_ERRORS(marked, ...)                                                                 \
	do {                                                                                       \
		static const struct expected want_[] = {__VA_ARGS__};                              \
		expect_errors_with(                                                                \
			GW_CONFIG_DAEMON, marked, want_, sizeof(want_) / sizeof(want_[0]));        \
	} while (0)

/* The text must load; the caller frees the result. */
static inline struct gw_config *expect_config(const char *text)
{
	struct gw_config *config = NULL;
	struct gw_config_errors errors = {0};

	if (gw_config_load_string(
		    "test.yaml", text, strlen(text), GW_CONFIG_DAEMON, &config, &errors))
		gw_config_errors_print(&errors, stderr);
	gw_config_errors_free(&errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(config);
	return config;
}

static inline void expect_loads(const char *text)
{
	gw_config_free(expect_config(text));
}
