/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loader of serialised views, three ways, by the first byte: the bytes as they are; with length
 * and checksum made right, so that what lies behind them is reached; and as a script of changes
 * whose result is serialised and loaded, and must come back the same.
 */
#include "chash/chash.h"

#include <xxhash.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Sizes an attacker may choose but a fuzzer has no time for. */
#define LARGE 4096

static uint32_t field(const uint8_t *bytes, size_t at)
{
	uint32_t value;

	memcpy(&value, bytes + at, sizeof(value));
	return value;
}

static int too_large(const uint8_t *bytes, size_t size)
{
	if (size < 80)
		return 0;
	return field(bytes, 20) > LARGE || field(bytes, 24) > LARGE || field(bytes, 28) > LARGE ||
	       field(bytes, 40) > LARGE || field(bytes, 44);
}

/* Weights multiply the work; a view that loads has a few lookups done on it. */
static int weights_small(const uint8_t *bytes, size_t size)
{
	for (size_t at = 80; at + 8 <= size - 24;) {
		if (field(bytes, at) > LARGE)
			return 0;
		at += 8 + (field(bytes, at + 4) & 0xffff) + (field(bytes, at + 4) >> 16);
	}
	return 1;
}

static void view_use(const struct gw_chash_view *view)
{
	uint32_t members[8], found, count = gw_chash_view_count(view);

	for (uint64_t key = 0; key < 20; key++) {
		if (!gw_chash_get_node_u64(view, key * 0x9e3779b97f4a7c15ull, members) &&
			members[0] >= count)
			abort();
		if (!gw_chash_get_nodes(view, &key, sizeof(key), 8, key % 2, members, &found))
			for (uint32_t i = 0; i < found; i++)
				if (members[i] >= count)
					abort();
	}
}

/* What loads must serialise to the very bytes it was loaded from. */
static void load(const void *bytes, size_t size, int must)
{
	struct gw_chash *set = NULL;
	struct gw_chash_view *view;
	size_t again_size;
	void *again;

	if (gw_chash_load(bytes, size, &set) < 0) {
		if (must || set)
			abort();
		return;
	}
	view = gw_chash_snapshot(set);
	view_use(view);
	if (!gw_chash_serialize(view, &again, &again_size)) {
		if (again_size != size || memcmp(again, bytes, size))
			abort();
		free(again);
	}
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

static void load_mended(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(size);
	uint64_t whole = size, checksum;

	if (size >= 104) {
		memcpy(bytes, data, size);
		memcpy(bytes, "gwchash\0\1\0\0", 12);
		memcpy(bytes + 56, &whole, 8);
		checksum = XXH3_64bits(bytes, size - 8);
		memcpy(bytes + size - 8, &checksum, 8);
		if (!too_large(bytes, size) && weights_small(bytes, size))
			load(bytes, size, 0);
	}
	free(bytes);
}

static void play(const uint8_t *data, size_t size)
{
	static const uint64_t sizes[] = {2, 7, 13, 251, 1009};
	struct gw_chash_options options;
	struct gw_chash_view *view;
	struct gw_chash *set;
	size_t bytes_size;
	void *bytes;

	if (size < 4)
		return;
	gw_chash_options_init(&options, data[0] % GW_CHASH_ALGORITHMS);
	options.size = sizes[data[1] % 5];
	options.capacity = 1 + data[2];
	options.vnodes = 1 + data[3] % 8;
	if (gw_chash_create(&options, &set) < 0)
		return;
	for (size_t i = 4; i + 2 < size && i < 400; i += 3) {
		struct gw_chash_change change = {.verb = data[i] % 3, .weight = data[i + 2] % 9};
		char id[8], zone[2] = {(char)('a' + data[i + 2] % 5), 0};

		snprintf(id, sizeof(id), "%u", data[i + 1] % 40);
		change.id = id;
		change.zone = zone;
		gw_chash_update(set, &change, 1, NULL);
	}
	view = gw_chash_snapshot(set);
	if (!gw_chash_serialize(view, &bytes, &bytes_size)) {
		load(bytes, bytes_size, 1);
		free(bytes);
	}
	gw_chash_view_unref(view);
	gw_chash_destroy(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	if (data[0] % 3 == 0 && !too_large(data + 1, size - 1))
		load(data + 1, size - 1, 0);
	else if (data[0] % 3 == 1)
		load_mended(data + 1, size - 1);
	else
		play(data + 1, size - 1);
	return 0;
}
