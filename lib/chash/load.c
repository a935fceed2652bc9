/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading a serialised view back. Nothing in it is believed: the checksum comes first, then every
 * length, order, weight and bucket is checked, and in the end the digest of what was derived is
 * compared with the digest the writer had. Space is only taken for what the bytes can hold, but for
 * the tables, whose sizes the options limit as they do for everybody.
 */
#include "chash/buckets.h"
#include "chash/handle.h"
#include "chash/id.h"
#include "chash/serialize.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	const uint8_t *at;
	size_t left;
	bool short_of; /* somebody asked for more than there was */
};

static const uint8_t *take(struct reader *reader, size_t size)
{
	const uint8_t *at = reader->at;

	if (size > reader->left) {
		reader->short_of = true;
		return NULL;
	}
	reader->at += size;
	reader->left -= size;
	return at;
}

static uint32_t take_u32(struct reader *reader)
{
	const uint8_t *at = take(reader, 4);
	uint32_t value = 0;

	if (at)
		memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static uint64_t take_u64(struct reader *reader)
{
	uint64_t low = take_u32(reader);

	return low | (uint64_t)take_u32(reader) << 32;
}

struct header {
	struct gw_chash_options options;
	uint64_t version;
	uint64_t size;
	uint32_t members, span, removed;
};

static int header_read(struct reader *reader, struct header *header)
{
	const uint8_t *magic = take(reader, 8);
	uint32_t format, spare;

	if (!magic)
		return GW_CHASH_ERR_TRUNCATED;
	if (memcmp(magic, SERIAL_MAGIC, 8))
		return GW_CHASH_ERR_MAGIC;
	format = take_u32(reader);
	if (!reader->short_of && format != SERIAL_FORMAT)
		return GW_CHASH_ERR_FORMAT;
	header->options.algorithm = (enum gw_chash_algorithm)take_u32(reader);
	header->options.hash = (enum gw_chash_hash)take_u32(reader);
	header->options.vnodes = take_u32(reader);
	header->options.capacity = take_u32(reader);
	header->options.probes = take_u32(reader);
	header->options.seed = take_u64(reader);
	header->options.size = take_u64(reader);
	header->version = take_u64(reader);
	header->size = take_u64(reader);
	header->members = take_u32(reader);
	header->span = take_u32(reader);
	header->removed = take_u32(reader);
	spare = take_u32(reader);
	if (reader->short_of)
		return GW_CHASH_ERR_TRUNCATED;
	return spare ? GW_CHASH_ERR_CONTENT : 0;
}

/* The whole must be as long as it says, and its last eight bytes the hash of the others. */
static int whole_check(const uint8_t *bytes, size_t size, const struct header *header)
{
	uint64_t checksum;

	if (size != header->size || size < SERIAL_HEADER + SERIAL_DIGEST + SERIAL_CHECKSUM)
		return GW_CHASH_ERR_TRUNCATED;
	memcpy(&checksum, bytes + size - SERIAL_CHECKSUM, sizeof(checksum));
	if (le64toh(checksum) != XXH3_64bits(bytes, size - SERIAL_CHECKSUM))
		return GW_CHASH_ERR_CHECKSUM;
	return 0;
}

/* Copies `size` bytes, none of them NUL, and a NUL behind. */
static const char *string_read(struct reader *reader, size_t size, char **strings)
{
	const uint8_t *from = take(reader, size);
	char *string = *strings;

	if (!from || memchr(from, 0, size))
		return NULL;
	memcpy(string, from, size);
	string[size] = 0;
	*strings += size + 1;
	return string;
}

static int members_read(struct reader *reader, struct gw_chash_view *view)
{
	char *strings = view->strings;

	for (uint32_t i = 0; i < view->count; i++) {
		struct gw_chash_member *member = &view->members[i];
		uint32_t lengths;

		member->weight = take_u32(reader);
		lengths = take_u32(reader);
		if (!(lengths & 0xffff) || (lengths & 0xffff) > GW_CHASH_ID_MAX ||
			lengths >> 16 > GW_CHASH_ID_MAX)
			return GW_CHASH_ERR_CONTENT;
		member->id = string_read(reader, lengths & 0xffff, &strings);
		member->zone = string_read(reader, lengths >> 16, &strings);
		if (!member->id || !member->zone)
			return GW_CHASH_ERR_CONTENT;
		if (i && strcmp(view->members[i - 1].id, member->id) >= 0)
			return GW_CHASH_ERR_CONTENT;
	}
	return 0;
}

static int buckets_read(
	struct reader *reader, struct gw_chash_view *view, const struct header *header)
{
	uint64_t entries = view->weights + header->removed;
	uint32_t *lists;
	int status;

	if (entries > reader->left / sizeof(uint32_t) || header->span > GW_CHASH_BUCKETS_MAX)
		return GW_CHASH_ERR_CONTENT;
	lists = malloc((entries + 1) * sizeof(*lists));
	if (!lists)
		return GW_CHASH_ERR_MEMORY;
	for (uint64_t i = 0; i < entries; i++)
		lists[i] = take_u32(reader);
	status = buckets_restore(view, header->span, lists, lists + view->weights, header->removed);
	free(lists);
	return status;
}

static int view_read(struct reader *reader, struct gw_chash_view *view, const struct header *header)
{
	struct chash_past past = {0};
	uint8_t digest[16];
	const uint8_t *written;
	int status = members_read(reader, view);

	if (!status)
		status = view_summarise(view);
	if (!status && view->weights > UINT32_MAX)
		status = GW_CHASH_ERR_CONTENT;
	if (status < 0)
		return status;
	if (view->ops->buckets)
		status = buckets_read(reader, view, header);
	else if (header->span || header->removed)
		status = GW_CHASH_ERR_CONTENT;
	else if (reader->left != SERIAL_DIGEST)
		status = GW_CHASH_ERR_CONTENT;
	else
		status = view->ops->build(view, &past);
	if (status < 0)
		return status;
	written = take(reader, SERIAL_DIGEST);
	gw_chash_view_digest(view, digest);
	if (!written || reader->left || memcmp(written, digest, sizeof(digest)))
		return GW_CHASH_ERR_CONTENT;
	return 0;
}

int gw_chash_load(const void *bytes, size_t size, struct gw_chash **handle)
{
	struct reader reader = {bytes, size, false};
	struct header header = {0};
	struct gw_chash_view *view;
	int status = bytes && handle ? header_read(&reader, &header) : GW_CHASH_ERR_ARGUMENT;

	if (!status)
		status = whole_check(bytes, size, &header);
	if (!status && chash_options_check(&header.options) < 0)
		status = GW_CHASH_ERR_CONTENT;
	/* Each member takes nine bytes at least. */
	if (!status && header.members > reader.left / 9)
		status = GW_CHASH_ERR_CONTENT;
	if (status < 0)
		return status;
	reader.left -= SERIAL_CHECKSUM;
	/* Strings grow by a NUL each, less than the eight bytes in front of them. */
	view = view_new(&header.options, header.members, reader.left);
	if (!view)
		return GW_CHASH_ERR_MEMORY;
	view->version = header.version;
	status = view_read(&reader, view, &header);
	/* Whatever a set may not be, a writer cannot have had it. */
	if (status < 0 && status != GW_CHASH_ERR_MEMORY)
		status = GW_CHASH_ERR_CONTENT;
	if (!status)
		status = handle_new(view, handle);
	if (status < 0)
		view_free(view);
	return status;
}
