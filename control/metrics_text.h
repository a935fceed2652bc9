/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prometheus' text exposition format 0.0.4 into a growing buffer:
 *
 *	metrics_family(text, "guideway_drops_total", METRICS_COUNTER, "Packets dropped.");
 *	metrics_sample(text, (struct metrics_label[]){{"reason", "too_big"}}, 1);
 *	metrics_count(text, 17);
 *
 * Running out of memory is remembered and told by metrics_text_take.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct metrics_text {
	char *data;
	size_t length;
	size_t room;
	const char *family; /* the one being written */
	bool failed;
};

enum metrics_type {
	METRICS_COUNTER,
	METRICS_GAUGE,
	METRICS_HISTOGRAM,
};

struct metrics_label {
	const char *name;
	const char *value; /* any text */
};

/* HELP and TYPE; `name` must live until the next family. */
void metrics_family(
	struct metrics_text *text, const char *name, enum metrics_type type, const char *help);

/* The family's name with labels, then its value by one of the two below. */
void metrics_sample(struct metrics_text *text, const struct metrics_label *labels, size_t count);
/* The same with something behind the name: "_bucket", "_sum", "_count". */
void metrics_part(struct metrics_text *text, const char *suffix, const struct metrics_label *labels,
	size_t count);

void metrics_count(struct metrics_text *text, uint64_t value);
void metrics_real(struct metrics_text *text, double value);

/* A family with one sample and no labels. */
void metrics_one_count(struct metrics_text *text, const char *name, enum metrics_type type,
	const char *help, uint64_t value);
void metrics_one_real(struct metrics_text *text, const char *name, enum metrics_type type,
	const char *help, double value);
