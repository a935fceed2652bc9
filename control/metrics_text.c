/* SPDX-License-Identifier: BSD-2-Clause */
#include "metrics_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `more` bytes; false without memory. */
static bool room_make(struct metrics_text *text, size_t more)
{
	size_t room = text->room ? text->room : 65536;
	char *grown;

	if (text->failed)
		return false;
	while (room - text->length < more)
		room *= 2;
	grown = realloc(text->data, room);
	if (!grown) {
		text->failed = true;
		return false;
	}
	text->data = grown;
	text->room = room;
	return true;
}

static void bytes_add(struct metrics_text *text, const char *bytes, size_t length)
{
	if (text->room - text->length < length && !room_make(text, length))
		return;
	memcpy(text->data + text->length, bytes, length);
	text->length += length;
}

static void word_add(struct metrics_text *text, const char *word)
{
	bytes_add(text, word, strlen(word));
}

/* A backslash, a quote and a line feed are escaped, nothing else. */
static void value_add(struct metrics_text *text, const char *value)
{
	size_t plain;

	while ((plain = strcspn(value, "\\\"\n")), value[plain]) {
		bytes_add(text, value, plain);
		word_add(text, value[plain] == '\n'  ? "\\n"
			       : value[plain] == '"' ? "\\\""
						     : "\\\\");
		value += plain + 1;
	}
	bytes_add(text, value, plain);
}

void metrics_family(
	struct metrics_text *text, const char *name, enum metrics_type type, const char *help)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};

	text->family = name;
	word_add(text, "# HELP ");
	word_add(text, name);
	word_add(text, " ");
	word_add(text, help);
	word_add(text, "\n# TYPE ");
	word_add(text, name);
	word_add(text, " ");
	word_add(text, types[type]);
	word_add(text, "\n");
}

void metrics_part(struct metrics_text *text, const char *suffix, const struct metrics_label *labels,
	size_t count)
{
	word_add(text, text->family);
	word_add(text, suffix);
	for (size_t i = 0; i < count; i++) {
		word_add(text, i ? "," : "{");
		word_add(text, labels[i].name);
		word_add(text, "=\"");
		value_add(text, labels[i].value);
		word_add(text, "\"");
	}
	word_add(text, count ? "} " : " ");
}

void metrics_sample(struct metrics_text *text, const struct metrics_label *labels, size_t count)
{
	metrics_part(text, "", labels, count);
}

void metrics_count(struct metrics_text *text, uint64_t value)
{
	char digits[24];
	size_t at = sizeof(digits);

	digits[--at] = '\n';
	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	bytes_add(text, digits + at, sizeof(digits) - at);
}

/* Nine decimals without printf, which would be most of the work of a long answer. */
static void decimals_add(struct metrics_text *text, double value)
{
	uint64_t billionths = (uint64_t)(value * 1e9 + 0.5);
	uint64_t part = billionths % 1000000000u;
	char digits[32];
	size_t at = sizeof(digits);

	digits[--at] = '\n';
	if (part) {
		int kept = 9;

		for (; part % 10 == 0; kept--)
			part /= 10;
		for (; kept; kept--, part /= 10)
			digits[--at] = (char)('0' + part % 10);
		digits[--at] = '.';
	}
	billionths /= 1000000000u;
	do {
		digits[--at] = (char)('0' + billionths % 10);
		billionths /= 10;
	} while (billionths);
	bytes_add(text, digits + at, sizeof(digits) - at);
}

void metrics_real(struct metrics_text *text, double value)
{
	char digits[40];

	if (value >= 0 && value < 1e6)
		decimals_add(text, value);
	else
		bytes_add(text, digits, (size_t)snprintf(digits, sizeof(digits), "%.15g\n", value));
}

void metrics_one_count(struct metrics_text *text, const char *name, enum metrics_type type,
	const char *help, uint64_t value)
{
	metrics_family(text, name, type, help);
	metrics_sample(text, NULL, 0);
	metrics_count(text, value);
}

void metrics_one_real(struct metrics_text *text, const char *name, enum metrics_type type,
	const char *help, double value)
{
	metrics_family(text, name, type, help);
	metrics_sample(text, NULL, 0);
	metrics_real(text, value);
}
