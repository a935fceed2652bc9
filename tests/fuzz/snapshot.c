/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The snapshot checker, and behind it the loader, which trusts what the checker let through: an
 * image that passes is copied into a generation, and every index in it is followed.
 */
#include "dataplane/snapshot.h"

#include "dataplane/engine.h"

#include <rte_eal.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gw_snapshot_header *image = aligned_alloc(64, (size + 64) & ~63ul);
	char text[GW_SNAPSHOT_TEXT] = "";
	int error;

	if (!image)
		return 0;
	memcpy(image, data, size);
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
	else if (error == -22 && !strchr(text, ':'))
		abort(); /* a refusal names its section */
	free(image);
	return 0;
}
