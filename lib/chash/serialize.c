/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A view as bytes, the same on every machine. All numbers little-endian:
 *
 *	 0  magic "gwchash\0"
 *	 8  u32 format version, 1
 *	12  u32 algorithm          16  u32 hash              20  u32 points per unit of weight
 *	24  u32 capacity           28  u32 probes            32  u64 seed
 *	40  u64 table size         48  u64 version           56  u64 size of all these bytes
 *	64  u32 members            68  u32 bucket numbers    72  u32 buckets that left
 *	76  u32 zero
 *	80  the members in order: u32 weight, u16 length of id, u16 length of zone, id, zone
 *	    where the algorithm numbers buckets and keeps a history: for each member its
 *	    buckets in the order it got them, u32 each, as many as its weight; then the
 *	    buckets that left, in order
 *	    16 bytes digest of the mapping (gw_chash_view_digest)
 *	    8 bytes XXH3 of everything before
 *
 * The tables themselves are not written: they follow from this, and the digest proves that the
 * reader derived the same ones.
 */
#include "chash/serialize.h"

#include "chash/buckets.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* ---- the digest -------------------------------------------------------------------------- */

struct digest_sink {
	struct chash_sink sink;
	XXH3_state_t state;
};

static void digest_put(struct chash_sink *sink, const void *bytes, size_t size)
{
	XXH3_128bits_update(&((struct digest_sink *)sink)->state, bytes, size);
}

static void put_u32(struct chash_sink *sink, uint32_t value)
{
	value = htole32(value);
	sink->put(sink, &value, sizeof(value));
}

static void put_u64(struct chash_sink *sink, uint64_t value)
{
	value = htole64(value);
	sink->put(sink, &value, sizeof(value));
}

static void put_options(struct chash_sink *sink, const struct gw_chash_options *options)
{
	put_u32(sink, options->algorithm);
	put_u32(sink, options->hash);
	put_u32(sink, options->vnodes);
	put_u32(sink, options->capacity);
	put_u32(sink, options->probes);
	put_u64(sink, options->seed);
	put_u64(sink, options->size);
}

static void put_members(struct chash_sink *sink, const struct gw_chash_view *view)
{
	for (uint32_t i = 0; i < view->count; i++) {
		const struct gw_chash_member *member = &view->members[i];
		uint32_t id = (uint32_t)strlen(member->id), zone = (uint32_t)strlen(member->zone);

		put_u32(sink, member->weight);
		put_u32(sink, id | zone << 16);
		sink->put(sink, member->id, id);
		sink->put(sink, member->zone, zone);
	}
}

void gw_chash_view_digest(const struct gw_chash_view *view, uint8_t digest[16])
{
	struct digest_sink sink = {.sink.put = digest_put};
	XXH128_canonical_t canonical;

	XXH3_128bits_reset(&sink.state);
	put_options(&sink.sink, &view->options);
	put_u32(&sink.sink, view->count);
	put_members(&sink.sink, view);
	if (view->ops->dump)
		view->ops->dump(view, &sink.sink);
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(&sink.state));
	memcpy(digest, canonical.digest, 16);
}

/* ---- the bytes --------------------------------------------------------------------------- */

struct memory_sink {
	struct chash_sink sink;
	uint8_t *bytes;
	size_t size;
};

static void memory_put(struct chash_sink *sink, const void *bytes, size_t size)
{
	struct memory_sink *memory = (struct memory_sink *)sink;

	memcpy(memory->bytes + memory->size, bytes, size);
	memory->size += size;
}

static uint32_t history_length(const struct gw_chash_view *view)
{
	const struct bucket_ops *ops = view->ops->buckets;

	return ops && ops->history ? ops->history(view->state, NULL) : 0;
}

static size_t serialized_size(const struct gw_chash_view *view)
{
	size_t size = SERIAL_HEADER + SERIAL_DIGEST + SERIAL_CHECKSUM;

	for (uint32_t i = 0; i < view->count; i++)
		size += 8 + strlen(view->members[i].id) + strlen(view->members[i].zone);
	if (view->ops->buckets)
		size += (view->weights + history_length(view)) * sizeof(uint32_t);
	return size;
}

static void put_header(struct chash_sink *sink, const struct gw_chash_view *view, size_t size)
{
	sink->put(sink, SERIAL_MAGIC, 8);
	put_u32(sink, SERIAL_FORMAT);
	put_options(sink, &view->options);
	put_u64(sink, view->version);
	put_u64(sink, size);
	put_u32(sink, view->count);
	put_u32(sink, view->ops->buckets ? view->buckets.span : 0);
	put_u32(sink, history_length(view));
	put_u32(sink, 0);
}

/* `list` has room for the largest weight and for the history. */
static void put_buckets(struct chash_sink *sink, const struct gw_chash_view *view, uint32_t *list)
{
	uint32_t length = history_length(view);

	for (uint32_t i = 0; i < view->count; i++) {
		buckets_list(view, i, list);
		for (uint32_t w = 0; w < view->members[i].weight; w++)
			put_u32(sink, list[w]);
	}
	if (length)
		view->ops->buckets->history(view->state, list);
	for (uint32_t i = 0; i < length; i++)
		put_u32(sink, list[i]);
}

int gw_chash_serialize(const struct gw_chash_view *view, void **bytes, size_t *size)
{
	struct memory_sink sink = {.sink.put = memory_put};
	size_t whole = serialized_size(view);
	uint8_t digest[16];

	sink.bytes = malloc(whole);
	if (!sink.bytes)
		return GW_CHASH_ERR_MEMORY;
	put_header(&sink.sink, view, whole);
	put_members(&sink.sink, view);
	if (view->ops->buckets) {
		size_t room = view->weights + history_length(view) + 1;
		uint32_t *list = malloc(room * sizeof(*list));

		if (!list) {
			free(sink.bytes);
			return GW_CHASH_ERR_MEMORY;
		}
		put_buckets(&sink.sink, view, list);
		free(list);
	}
	gw_chash_view_digest(view, digest);
	sink.sink.put(&sink.sink, digest, sizeof(digest));
	put_u64(&sink.sink, XXH3_64bits(sink.bytes, sink.size));
	*bytes = sink.bytes;
	*size = sink.size;
	return 0;
}
