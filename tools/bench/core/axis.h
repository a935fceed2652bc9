/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The axes of a case: one table from which come the options, the product of their lists, the names
 * in JSON and the labels of charts.
 */
#pragma once

#include "bench.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum axis_id {
	AXIS_PATH,
	AXIS_MODE,
	AXIS_FAMILY,
	AXIS_ENCAP,
	AXIS_TRACKED,
	AXIS_SIZE,
	AXIS_SERVICES,
	AXIS_POOLS,
	AXIS_BACKENDS,
	AXIS_TABLE_SIZE,
	AXIS_NEW,
	AXIS_TABLE_FLOWS,
	AXIS_FILL,
	AXIS_WORKERS,
	AXIS_SWAPS,
	AXIS_LOAD,
	AXIS_RATE,
	AXIS_IDLE,
	AXIS_POLL,
	AXIS_FLOWS, /* innermost: flows are what most tables are read along */
	AXIS_IDS
};

/* Values on one axis: a word, or a number (counts are whole). */
struct axis_value {
	const char *word; /* NULL: a number; lives as long as the program */
	double number;
};

#define AXIS_VALUES_MAX 32

struct axis_list {
	struct axis_value values[AXIS_VALUES_MAX];
	size_t count;
	bool given; /* on the command line */
};

enum axis_kind {
	AXIS_WORD,
	AXIS_COUNT,
	AXIS_SHARE,
	AXIS_FRAME, /* a size, or the word imix */
};

struct axis {
	const char *option; /* without its dashes */
	const char *field;  /* of a run in JSON */
	const char *label;  /* along a chart */
	enum axis_kind kind;
	const char *const *words; /* AXIS_WORD: what there is, NULL at the end */
	double low, high;
};

extern const struct axis axes[AXIS_IDS];

/*
 * "64,128,imix" into list, whose former values go. Counts take k, M and G (decimal), shares a
 * fraction or per cent. 0, or -EINVAL with a message that names the option and the value.
 */
int axis_parse(enum axis_id id, const char *text, struct axis_list *list,
	char message[static BENCH_MESSAGE]);
/* Enters a value in a case, and the reverse. */
void axis_set(enum axis_id id, struct axis_value value, struct bench_case *what);
struct axis_value axis_get(enum axis_id id, const struct bench_case *what);
/* The same, but the size as it was asked for, even if no frame is as short. */
struct axis_value axis_asked(enum axis_id id, const struct bench_case *what);
bool axis_same(struct axis_value a, struct axis_value b);
/* "64k", "imix", "10%": as in a table. Returns text. */
char *axis_print(enum axis_id id, struct axis_value value, char *text, size_t size);
