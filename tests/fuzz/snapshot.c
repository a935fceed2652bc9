/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshot checker, and behind it the loader, which trusts what the checker let through: an
 * image that passes is copied into a generation, and every index in it is followed. An input is
 * either an image by itself, or (its first byte is odd) a list of changes to a good one: two bytes
 * of offset, one of what to add.
 */
#include "dataplane/snapshot.h"

#include "dataplane/engine.h"
#include "unit/dp_image.h"

#include <rte_eal.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct gw_next_hops hops;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static char words[][32] = {"fuzz", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"-m", "128", "-l", "0", "--log-level", "error"};
	char *eal[sizeof(words) / sizeof(words[0])];

	(void)argc, (void)argv;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		eal[i] = words[i];
	if (rte_eal_init(sizeof(words) / sizeof(words[0]), eal) < 0 || gw_next_hops_init(&hops)) {
		fprintf(stderr, "fuzz_snapshot: EAL does not start\n");
		exit(1);
	}
	return 0;
}

/* Reads what the packet path would read; the sanitizers judge. */
static uint64_t follow(const struct gw_view *view)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < view->service_count; i++) {
		const struct gw_view_pool *pool;

		if (view->service[i].pool == GW_NONE)
			continue;
		pool = &view->pool[view->service[i].pool];
		for (uint32_t s = 0; pool->slot && s < pool->table_size; s++)
			sum += view->backend[pool->member[pool->slot[s]]].state;
	}
	for (uint32_t i = 0; i < view->vip_count; i++) {
		const struct gw_span_run run[] = {
			view->vip[i].tcp, view->vip[i].udp, view->vip[i].sctp};

		for (int r = 0; r < 3; r++)
			for (uint32_t s = 0; s < run[r].count && s < 100; s++)
				sum += view->service[view->span[run[r].first + s].service].affinity;
	}
	for (uint32_t i = 0; i < view->backend_count; i++)
		sum += hops.live[view->backend[i].next_hop].mtu;
	return sum;
}

static void load(const struct gw_snapshot_header *image)
{
	static const bool sockets[RTE_MAX_NUMA_NODES] = {true};
	static uint32_t missing[GW_MAX_POOLS];
	struct gw_generation *generation;

	if (gw_generation_missing(image, NULL, missing) ||
		gw_generation_build(&generation, image, NULL, &hops, sockets))
		return;
	if (follow(generation->view[0]) == UINT64_MAX)
		abort(); /* cannot be: only so that the reads stay */
	gw_generation_free(generation);
}

static void check(struct gw_snapshot_header *image, size_t size)
{
	char text[GW_SNAPSHOT_TEXT] = "";
	int error;

	/* The fuzzer need not guess what every image of this size begins with. */
	if (size >= sizeof(*image)) {
		image->magic = GW_SNAPSHOT_MAGIC;
		image->abi_version = GW_SNAPSHOT_ABI_VERSION;
		image->header_size = sizeof(*image);
		image->total_size = size;
	}
	error = gw_snapshot_check(image, size, text);
	if (error == 0)
		load(image);
	else if (error == -EINVAL && !strpbrk(text, ":["))
		abort(); /* a refusal names its section */
}

static struct gw_snapshot_header *good_image(void)
{
	static const uint32_t members[] = {0, 1, 2};
	static const struct gw_service services[] = {{.pool = 0}, {.pool = 3}};
	static const struct gw_span spans[] = {{80, 80, 0}, {90, 99, 1}, {53, 53, 1}};
	const struct image_pool pools[] = {
		{.id = 0, .table_size = 13, .members = members, .member_count = 2},
		{.id = 3, .table_size = 7, .members = members + 2, .member_count = 1}};
	struct gw_vip vips[] = {image_vip("203.0.113.10", 128), image_vip("2001:db8::", 64)};
	const struct gw_backend backends[] = {image_backend(0, 0, "10.82.0.11", "10.82.0.101"),
		image_backend(0, 1, "fd82::11", "fd82::101"),
		image_backend(3, 0, "10.82.0.11", "10.82.0.103")};
	const struct gw_next_hop next_hops[] = {
		image_next_hop("10.82.0.101"), image_next_hop("fd82::101")};

	vips[0].tcp = (struct gw_span_run){0, 2};
	vips[1].udp = (struct gw_span_run){2, 1};
	return image_make(&(struct image_spec){.version = 1,
		.pools = pools,
		.pool_count = 2,
		.services = services,
		.service_count = 2,
		.vips = vips,
		.vip_count = 2,
		.spans = spans,
		.span_count = 3,
		.backends = backends,
		.backend_count = 3,
		.next_hops = next_hops,
		.next_hop_count = 2});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gw_snapshot_header *image;

	if (size && data[0] & 1) {
		image = good_image();
		size_t whole = image->total_size;

		for (size_t i = 1; i + 3 <= size; i += 3)
			((uint8_t *)image)[(data[i] << 8 | data[i + 1]) % whole] += data[i + 2];
		check(image, whole);
	} else {
		image = aligned_alloc(64, (size + 64) & ~63ul);
		if (!image)
			return 0;
		memcpy(image, data, size);
		check(image, size);
	}
	free(image);
	return 0;
}
