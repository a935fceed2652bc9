/* SPDX-License-Identifier: BSD-2-Clause */
#include "axis.h"

#include "abi/flow_word.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const path_words[] = {"dpdk", "xdp", NULL};
static const char *const mode_words[] = {"cpu", "link", "nic", NULL};
static const char *const family_words[] = {"4", "6", NULL};
static const char *const encap_words[] = {"ipip", "gue", "gre", "l2", NULL};
static const char *const tracked_words[] = {"yes", "no", NULL};
static const char *const poll_words[] = {"busy", "adaptive", NULL};
static const char imix_word[] = "imix";

#define TOLD_MAX 40 /* characters of a wrong value, so that the rest of the message fits */

/* abi/objects.h bounds services, pools and table sizes; bench.h the rest. */
const struct axis axes[AXIS_IDS] = {
	[AXIS_PATH] = {"path", "path", "path", AXIS_WORD, path_words, 0, 0},
	[AXIS_MODE] = {"mode", "mode", "mode", AXIS_WORD, mode_words, 0, 0},
	[AXIS_FAMILY] = {"family", "family", "IP version", AXIS_WORD, family_words, 0, 0},
	[AXIS_ENCAP] = {"encap", "encap", "encapsulation", AXIS_WORD, encap_words, 0, 0},
	[AXIS_TRACKED] = {"tracked", "tracked", "tracked", AXIS_WORD, tracked_words, 0, 0},
	[AXIS_SIZE] = {"size", "packet_size", "bytes a frame", AXIS_FRAME, NULL, 64, 1518},
	[AXIS_SERVICES] = {"services", "services", "services", AXIS_COUNT, NULL, 1, 65535},
	[AXIS_POOLS] = {"pools", "pools", "pools", AXIS_COUNT, NULL, 1, 4095},
	[AXIS_BACKENDS] = {"backends", "backends", "backends a pool", AXIS_COUNT, NULL, 1,
		BENCH_BACKENDS_MAX},
	[AXIS_TABLE_SIZE] = {"table-size", "table_size", "slots a table", AXIS_COUNT, NULL, 3,
		5000011},
	[AXIS_NEW] = {"new", "new_share", "share of packets that open a flow", AXIS_SHARE, NULL, 0,
		1},
	[AXIS_TABLE_FLOWS] = {"table-flows", "table_flows", "room of the flow table", AXIS_COUNT,
		NULL, 0, GW_FLOW_FLOWS_MAX},
	[AXIS_FILL] = {"fill", "table_fill", "share of the flow table in use", AXIS_SHARE, NULL, 0,
		1},
	[AXIS_WORKERS] = {"workers", "workers", "workers", AXIS_COUNT, NULL, 1, 128},
	[AXIS_SWAPS] = {"swaps", "swaps_per_second", "table swaps a second", AXIS_COUNT, NULL, 0,
		10000},
	[AXIS_LOAD] = {"load", "load", "share of the highest rate", AXIS_SHARE, NULL, 0, 1},
	[AXIS_RATE] = {"rate", "rate", "frames a second", AXIS_COUNT, NULL, 0, 1e9},
	[AXIS_IDLE] = {"idle", "idle_us", "microseconds of pause", AXIS_COUNT, NULL, 0, 10e6},
	[AXIS_POLL] = {"poll", "poll", "poll", AXIS_WORD, poll_words, 0, 0},
	[AXIS_FLOWS] = {"flows", "flows", "flows", AXIS_COUNT, NULL, 1, 1e9},
};

static const char *word_find(const char *const *words, const char *text, size_t length)
{
	for (; *words; words++)
		if (strlen(*words) == length && !strncmp(*words, text, length))
			return *words;
	return NULL;
}

/* What may stand there, for the message. */
static void say_wrong(const struct axis *axis, const char *text, size_t length, char *message)
{
	char known[96] = "";

	if (axis->kind == AXIS_WORD) {
		for (const char *const *word = axis->words; *word; word++) {
			strcat(known, word == axis->words ? "" : ", ");
			strcat(known, *word);
		}
	} else if (axis->kind == AXIS_SHARE) {
		snprintf(known, sizeof(known), "a share from 0 to 1, or 0%% to 100%%");
	} else {
		snprintf(known, sizeof(known), "a whole number from %.0f to %.0f%s", axis->low,
			axis->high, axis->kind == AXIS_FRAME ? ", or imix" : " (k, M, G)");
	}
	if (length > TOLD_MAX)
		length = TOLD_MAX;
	snprintf(message, BENCH_MESSAGE, "--%s: '%.*s' is not %s%s", axis->option, (int)length,
		text, axis->kind == AXIS_WORD ? "one of " : "", known);
}

/* The number and its unit must take up all of the text. */
static bool number_read(const struct axis *axis, const char *text, size_t length, double *number)
{
	static const char units[] = "kMG";
	const char *end = text + length;
	char *stop;
	double value = strtod(text, &stop);

	if (stop == text || stop > end || !isfinite(value))
		return false;
	if (axis->kind == AXIS_SHARE && *stop == '%') {
		value /= 100;
		stop++;
	} else if (axis->kind == AXIS_COUNT && stop < end && strchr(units, *stop)) {
		value *= pow(1000, (double)(strchr(units, *stop) - units + 1));
		stop++;
	}
	if (stop != end || value < axis->low || value > axis->high)
		return false;
	if (axis->kind != AXIS_SHARE && value != floor(value))
		return false;
	*number = value;
	return true;
}

static bool value_read(
	const struct axis *axis, const char *text, size_t length, struct axis_value *value)
{
	*value = (struct axis_value){0};
	if (axis->kind == AXIS_WORD)
		value->word = word_find(axis->words, text, length);
	else if (axis->kind == AXIS_FRAME && length == 4 && !strncmp(text, imix_word, 4))
		value->word = imix_word;
	else
		return number_read(axis, text, length, &value->number);
	return value->word;
}

int axis_parse(enum axis_id id, const char *text, struct axis_list *list,
	char message[static BENCH_MESSAGE])
{
	const struct axis *axis = &axes[id];
	struct axis_list read = {.given = true};

	for (;;) {
		size_t length = strcspn(text, ",");

		if (read.count == AXIS_VALUES_MAX) {
			snprintf(message, BENCH_MESSAGE, "--%s: at most %d values", axis->option,
				AXIS_VALUES_MAX);
			return -EINVAL;
		}
		if (!value_read(axis, text, length, &read.values[read.count])) {
			say_wrong(axis, text, length, message);
			return -EINVAL;
		}
		read.count++;
		if (!text[length])
			break;
		text += length + 1;
	}
	*list = read;
	return 0;
}

void axis_set(enum axis_id id, struct axis_value value, struct bench_case *what)
{
	uint32_t count = (uint32_t)value.number;

	switch (id) {
	case AXIS_PATH:
		what->path = value.word;
		break;
	case AXIS_MODE:
		what->mode = value.word;
		break;
	case AXIS_FAMILY:
		what->family = value.word[0] == '6' ? BENCH_IPV6 : BENCH_IPV4;
		break;
	case AXIS_ENCAP:
		what->encap = value.word;
		break;
	case AXIS_TRACKED:
		what->tracked = value.word[0] == 'y';
		break;
	case AXIS_SIZE:
		what->packet_size = value.word ? BENCH_SIZE_IMIX : count;
		break;
	case AXIS_SERVICES:
		what->services = count;
		break;
	case AXIS_POOLS:
		what->pools = count;
		break;
	case AXIS_BACKENDS:
		what->backends = count;
		break;
	case AXIS_TABLE_SIZE:
		what->table_size = count;
		break;
	case AXIS_NEW:
		what->new_share = value.number;
		break;
	case AXIS_TABLE_FLOWS:
		what->table_flows = (uint64_t)value.number;
		break;
	case AXIS_FILL:
		what->table_fill = value.number;
		break;
	case AXIS_WORKERS:
		what->workers = count;
		break;
	case AXIS_SWAPS:
		what->swaps_per_second = count;
		break;
	case AXIS_LOAD:
		what->load = value.number;
		break;
	case AXIS_RATE:
		what->rate = (uint64_t)value.number;
		break;
	case AXIS_IDLE:
		what->idle_us = count;
		break;
	case AXIS_POLL:
		what->adaptive = value.word[0] == 'a';
		break;
	case AXIS_FLOWS:
	case AXIS_IDS:
		what->flows = (uint64_t)value.number;
		break;
	}
}

static struct axis_value word_of(const char *word)
{
	return (struct axis_value){.word = word};
}

static struct axis_value number_of(double number)
{
	return (struct axis_value){.number = number};
}

struct axis_value axis_get(enum axis_id id, const struct bench_case *what)
{
	switch (id) {
	case AXIS_PATH:
		return word_of(what->path);
	case AXIS_MODE:
		return word_of(what->mode);
	case AXIS_FAMILY:
		return word_of(family_words[what->family == BENCH_IPV6]);
	case AXIS_ENCAP:
		return word_of(what->encap);
	case AXIS_TRACKED:
		return word_of(tracked_words[!what->tracked]);
	case AXIS_SIZE:
		return what->packet_size == BENCH_SIZE_IMIX ? word_of(imix_word)
							    : number_of(what->packet_size);
	case AXIS_SERVICES:
		return number_of(what->services);
	case AXIS_POOLS:
		return number_of(what->pools);
	case AXIS_BACKENDS:
		return number_of(what->backends);
	case AXIS_TABLE_SIZE:
		return number_of(what->table_size);
	case AXIS_NEW:
		return number_of(what->new_share);
	case AXIS_TABLE_FLOWS:
		return number_of((double)what->table_flows);
	case AXIS_FILL:
		return number_of(what->table_fill);
	case AXIS_WORKERS:
		return number_of(what->workers);
	case AXIS_SWAPS:
		return number_of(what->swaps_per_second);
	case AXIS_LOAD:
		return number_of(what->load);
	case AXIS_RATE:
		return number_of((double)what->rate);
	case AXIS_IDLE:
		return number_of(what->idle_us);
	case AXIS_POLL:
		return word_of(poll_words[what->adaptive]);
	case AXIS_FLOWS:
	case AXIS_IDS:
		break;
	}
	return number_of((double)what->flows);
}

struct axis_value axis_asked(enum axis_id id, const struct bench_case *what)
{
	return id == AXIS_SIZE && what->asked_size ? number_of(what->asked_size)
						   : axis_get(id, what);
}

bool axis_same(struct axis_value a, struct axis_value b)
{
	if (a.word && b.word)
		return !strcmp(a.word, b.word);
	return !a.word && !b.word && a.number == b.number;
}

char *axis_print(enum axis_id id, struct axis_value value, char *text, size_t size)
{
	static const char units[] = "kMG";
	double number = value.number;
	int unit = -1;

	if (value.word) {
		snprintf(text, size, "%s", value.word);
	} else if (axes[id].kind == AXIS_SHARE) {
		snprintf(text, size, "%g%%", number * 100);
	} else {
		while (axes[id].kind == AXIS_COUNT && number >= 1000 && fmod(number, 100) == 0 &&
			unit < 2) {
			number /= 1000;
			unit++;
		}
		snprintf(text, size, unit < 0 ? "%.10g" : "%.10g%c", number,
			units[unit < 0 ? 0 : unit]);
	}
	return text;
}
