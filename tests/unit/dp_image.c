/* SPDX-License-Identifier: BSD-2-Clause */
#include "dp_image.h"

#include "abi/encap.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct gw_flow_timeouts default_timeouts = {
	.seconds = {{0, 10, 900, 60}, {0, 10, 900, 60}, {0, 10, 900, 60}, {0, 10, 900, 60}}};

static size_t align(size_t size)
{
	return (size + GW_CACHE_LINE - 1) & ~(size_t)(GW_CACHE_LINE - 1);
}

struct writer {
	uint8_t *base; /* NULL: only measure */
	size_t used;
};

static void *append(struct writer *writer, struct gw_section *section, const void *from,
	uint64_t count, size_t size)
{
	void *at = writer->base ? writer->base + writer->used : NULL;

	if (!count)
		return NULL;
	if (section)
		*section = (struct gw_section){.offset = writer->used, .count = count};
	if (writer->base && from)
		memcpy(at, from, count * size);
	writer->used += align(count * size);
	return at;
}

static uint16_t slot_of(const struct image_pool *pool, uint32_t slot)
{
	return pool->slots ? pool->slots[slot] : (uint16_t)(slot % pool->member_count);
}

static void write_pools(
	struct writer *writer, const struct image_spec *spec, struct gw_snapshot_header *header)
{
	struct gw_pool *pools =
		append(writer, &header->pools, NULL, spec->pool_count, sizeof(*pools));
	uint32_t first = 0;

	for (uint64_t i = 0; writer->base && i < spec->pool_count; i++) {
		const struct image_pool *pool = &spec->pools[i];

		pools[i] = (struct gw_pool){.id = pool->id,
			.table_size = pool->table_size,
			.member_first = first,
			.member_count = pool->member_count,
			.table_version = spec->version};
		memset(&pools[i].digest, pool->digest, sizeof(pools[i].digest));
		first += pool->member_count;
	}
}

static void write_members(
	struct writer *writer, const struct image_spec *spec, struct gw_snapshot_header *header)
{
	uint64_t count = 0;
	uint32_t *members;

	for (uint64_t i = 0; i < spec->pool_count; i++)
		count += spec->pools[i].member_count;
	members = append(writer, &header->members, NULL, count, sizeof(*members));
	for (uint64_t i = 0; writer->base && i < spec->pool_count; i++)
		for (uint32_t m = 0; m < spec->pools[i].member_count; m++)
			*members++ = spec->pools[i].members[m];
}

static void write_tables(
	struct writer *writer, const struct image_spec *spec, struct gw_snapshot_header *header)
{
	struct gw_pool *pools = writer->base ? (void *)(writer->base + header->pools.offset) : NULL;
	size_t start = writer->used;

	for (uint64_t i = 0; i < spec->pool_count; i++) {
		const struct image_pool *pool = &spec->pools[i];
		size_t at = writer->used;
		uint16_t *slot;

		if (!pool->member_count || pool->as_before)
			continue;
		slot = append(writer, NULL, NULL, pool->table_size, sizeof(*slot));
		for (uint32_t s = 0; writer->base && s < pool->table_size; s++)
			slot[s] = slot_of(pool, s);
		if (writer->base)
			pools[i].table_offset = at;
	}
	if (writer->used > start)
		header->tables = (struct gw_section){start, writer->used - start};
}

static void write_all(
	struct writer *writer, const struct image_spec *spec, struct gw_snapshot_header *header)
{
	writer->used = align(sizeof(*header));
	write_pools(writer, spec, header);
	append(writer, &header->services, spec->services, spec->service_count,
		sizeof(*spec->services));
	append(writer, &header->vips, spec->vips, spec->vip_count, sizeof(*spec->vips));
	append(writer, &header->spans, spec->spans, spec->span_count, sizeof(*spec->spans));
	append(writer, &header->backends, spec->backends, spec->backend_count,
		sizeof(*spec->backends));
	write_members(writer, spec, header);
	append(writer, &header->next_hops, spec->next_hops, spec->next_hop_count,
		sizeof(*spec->next_hops));
	write_tables(writer, spec, header);
}

struct gw_snapshot_header *image_make(const struct image_spec *spec)
{
	struct gw_snapshot_header head = {.magic = GW_SNAPSHOT_MAGIC,
		.abi_version = GW_SNAPSHOT_ABI_VERSION,
		.header_size = sizeof(head),
		.version = spec->version,
		.hash_seed = spec->hash_seed,
		.timeouts = spec->timeouts ? *spec->timeouts : default_timeouts};
	struct writer writer = {};

	write_all(&writer, spec, &head);
	head.total_size = writer.used;
	writer.base = aligned_alloc(GW_CACHE_LINE, writer.used);
	if (!writer.base)
		abort();
	memset(writer.base, 0, writer.used);
	write_all(&writer, spec, &head);
	memcpy(writer.base, &head, sizeof(head));
	return (struct gw_snapshot_header *)writer.base;
}

void *image_section(struct gw_snapshot_header *image, const struct gw_section *section)
{
	return (uint8_t *)image + section->offset;
}

int image_memfd(const void *image, size_t size, int seals)
{
	int fd = memfd_create("test-snapshot", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || write(fd, image, size) != (ssize_t)size)
		abort();
	if (seals && fcntl(fd, F_ADD_SEALS, seals) < 0)
		abort();
	return fd;
}

struct gw_address image_address(const char *text)
{
	struct gw_address address;
	uint8_t four[4];

	if (inet_pton(AF_INET, text, four) == 1)
		gw_address_set_ipv4(&address, four);
	else if (inet_pton(AF_INET6, text, address.bytes) != 1)
		abort();
	return address;
}

struct gw_backend image_backend(
	uint16_t pool, uint32_t next_hop, const char *source, const char *destination)
{
	struct gw_backend backend = {.pool = pool,
		.next_hop = next_hop,
		.state = GW_BACKEND_ACTIVE,
		.outer_source = image_address(source),
		.outer_destination = image_address(destination)};

	backend.family = gw_address_is_ipv4(&backend.outer_source) ? GW_IPV4 : GW_IPV6;
	backend.overhead = (uint8_t)gw_encap_overhead_of(backend.encap, backend.family);
	return backend;
}

struct gw_next_hop image_next_hop(const char *address)
{
	struct gw_next_hop hop = {.address = image_address(address),
		.link = {.destination_mac = {2, 0, 0, 0, 0, 1},
			.source_mac = {2, 0, 0, 0, 0, 2},
			.flags = GW_LINK_RESOLVED}};

	hop.family = gw_address_is_ipv4(&hop.address) ? GW_IPV4 : GW_IPV6;
	return hop;
}

struct gw_vip image_vip(const char *address, uint8_t prefix_length)
{
	return (struct gw_vip){.address = image_address(address),
		.prefix_length = prefix_length,
		.any_service = GW_NONE};
}
