/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pools of all sizes in the XDP maps: what fits the first row of their inner map and what needs
 * more (abi/xdp_maps.h), as the program in the kernel reads them. Needs root; without it the suite
 * is skipped.
 */
#include "abi/table_slot.h"
#include "control/xdp_test_run.h"
#include "dp_image.h"
#include "frames.h"
#include "suite.h"

#include <linux/bpf.h>

#include <stdlib.h>
#include <unistd.h>

#define SKIPPED	   77 /* meson's word for it */
#define FLOWS	   3000
#define FIRST_PORT 1000

/* The sizes on both sides of each limit, and the largest. */
static const struct {
	uint32_t table_size, members;
} sizes[] = {
	{2, 1},
	{251, 3},
	{65537, 2000},
	{GW_POOL_FIRST_SLOTS, 7},
	{GW_POOL_FIRST_SLOTS + 60000, 1007},
	{GW_POOL_FIRST_SLOTS + GW_POOL_ROW_SLOTS, 5},
	{GW_POOL_FIRST_SLOTS + GW_POOL_ROW_SLOTS + 60000, 11},
	{65537, 35000},
	{GW_MAX_TABLE_SIZE, 40000},
};
#define POOLS (sizeof(sizes) / sizeof(sizes[0]))

#define BACKENDS 40000

/* Pool i has two services: one tracks flows, one does not, on ports FIRST_PORT + 2 i and the next.
 */
struct world {
	struct gw_xdp_test_run run;
	struct image_pool pools[POOLS];
	struct gw_service services[2 * POOLS];
	struct gw_span spans[2 * POOLS];
	struct gw_vip vip;
	struct gw_backend backends[BACKENDS];
	struct gw_next_hop hop;
	uint32_t members[POOLS][BACKENDS];
	uint16_t *slots[POOLS];
	uint64_t version;
	struct gw_snapshot snapshots[4];
};

static struct gw_snapshot *world_snapshot(struct world *world)
{
	struct image_spec spec = {.version = ++world->version,
		.hash_seed = 7,
		.pools = world->pools,
		.pool_count = POOLS,
		.services = world->services,
		.service_count = 2 * POOLS,
		.vips = &world->vip,
		.vip_count = 1,
		.spans = world->spans,
		.span_count = 2 * POOLS,
		.backends = world->backends,
		.backend_count = BACKENDS,
		.next_hops = &world->hop,
		.next_hop_count = 1};
	struct gw_snapshot *snapshot = &world->snapshots[world->version];

	snapshot->data = image_make(&spec);
	snapshot->size = snapshot->data->total_size;
	snapshot->references = 2; /* one is the world's: the image is no mapping to be unmapped */
	return snapshot;
}

static void world_publish(struct world *world)
{
	char why[GW_XDP_WHY] = "";

	CU_ASSERT_EQUAL_FATAL(gw_xdp_test_run_publish(&world->run, world_snapshot(world), why), 0);
}

static void world_pool(struct world *world, uint32_t i)
{
	world->slots[i] = calloc(sizes[i].table_size, sizeof(uint16_t));
	for (uint32_t slot = 0; slot < sizes[i].table_size; slot++)
		world->slots[i][slot] =
			(uint16_t)(sizes[i].members - 1 - slot * 7919ull % sizes[i].members);
	for (uint32_t k = 0; k < sizes[i].members; k++)
		world->members[i][k] = (k + i) % BACKENDS;
	world->pools[i] = (struct image_pool){.id = i,
		.table_size = sizes[i].table_size,
		.members = world->members[i],
		.member_count = sizes[i].members,
		.slots = world->slots[i],
		.digest = (uint8_t)(i + 1)};
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t service = 2 * i + k;
		uint16_t port = (uint16_t)(FIRST_PORT + service);

		world->services[service] =
			(struct gw_service){.pool = i, .flags = k ? GW_SERVICE_UNTRACKED : 0};
		world->spans[service] = (struct gw_span){port, port, service};
	}
}

static struct world *world_make(void)
{
	struct world *world = calloc(1, sizeof(*world));

	CU_ASSERT_EQUAL_FATAL(gw_xdp_test_run_open(&world->run, 65536, true), 0);
	for (uint32_t i = 0; i < POOLS; i++)
		world_pool(world, i);
	for (uint32_t i = 0; i < BACKENDS; i++)
		world->backends[i] = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	world->hop = image_next_hop("10.82.0.101");
	world->vip = image_vip("203.0.113.10", 128);
	world->vip.tcp = (struct gw_span_run){0, 2 * POOLS};
	world_publish(world);
	return world;
}

static void world_free(struct world *world)
{
	gw_xdp_test_run_close(&world->run);
	for (uint64_t i = 1; i <= world->version; i++)
		free((void *)world->snapshots[i].data);
	for (uint32_t i = 0; i < POOLS; i++)
		free(world->slots[i]);
	free(world);
}

/* What the program decided of the client's first packet. */
static struct gw_xdp_trace decide(struct world *world, uint16_t client, uint32_t service)
{
	struct frame frame = frame_v4();
	uint8_t out[256];
	size_t length = sizeof(out);

	frame_put16(&frame, 34, client);
	frame_put16(&frame, 36, (uint16_t)(FIRST_PORT + service));
	CU_ASSERT_EQUAL(gw_xdp_test_run_frame(&world->run, 5000000000000ull, frame.bytes,
				frame.length, out, &length),
		XDP_TX);
	return *world->run.object.trace;
}

static void each_slots_backend_is_read_from_the_row_that_has_it(void)
{
	struct world *world = world_make();

	for (uint32_t service = 0; service < 2 * POOLS; service++) {
		uint32_t pool = service / 2, far_slots = 0, wrong = 0;

		for (uint16_t client = 1; client <= FLOWS; client++) {
			struct gw_xdp_trace trace = decide(world, client, service);
			uint32_t slot = (uint32_t)(trace.hash % sizes[pool].table_size);
			uint32_t member = world->slots[pool][slot];

			far_slots += slot >= GW_POOL_FIRST_SLOTS;
			wrong += trace.slot != slot ||
				 trace.backend != world->members[pool][member] ||
				 trace.flow != (service % 2 ? GW_TRACE_TABLE_ONLY : GW_TRACE_NEW);
		}
		CU_ASSERT_EQUAL(wrong, 0);
		CU_ASSERT_EQUAL(far_slots > 0, sizes[pool].table_size > GW_POOL_FIRST_SLOTS);
	}
	world_free(world);
}

/* As after a restart of control, which knows of the pools only what the maps hold. */
static uint32_t rebuilt_after_a_restart(struct world *world)
{
	gw_xdp_tables_fini(&world->run.tables);
	world->run.object.adopted = true;
	CU_ASSERT_EQUAL_FATAL(gw_xdp_tables_init(&world->run.tables, &world->run.object), 0);
	world_publish(world);
	return world->run.tables.rebuilt_pools;
}

static void a_restart_knows_pools_of_any_size_by_what_the_maps_hold(void)
{
	struct world *world = world_make();

	CU_ASSERT_EQUAL(rebuilt_after_a_restart(world), 0);
	world->members[7][sizes[7].members - 1] = 0;
	CU_ASSERT_EQUAL(rebuilt_after_a_restart(world), 1);
	world_free(world);
}

static void the_default_tables_slot_is_the_remainder(void)
{
	static const uint64_t digits[] = {0, 1, 2, 0x7fff, 0x8000, 0xfffe, 0xffff};
	enum { DIGITS = sizeof(digits) / sizeof(digits[0]) };
	uint64_t hash = 0x9e3779b97f4a7c15ull;
	uint32_t wrong = 0;

	for (uint32_t i = 0; i < DIGITS * DIGITS * DIGITS * DIGITS; i++) {
		uint64_t edge = digits[i % DIGITS] | digits[i / DIGITS % DIGITS] << 16 |
				digits[i / DIGITS / DIGITS % DIGITS] << 32 |
				digits[i / DIGITS / DIGITS / DIGITS] << 48;

		wrong += gw_table_slot(edge, 65537) != edge % 65537;
	}
	for (uint32_t i = 0; i < 1000000; i++) {
		hash = hash * 6364136223846793005ull + 1442695040888963407ull;
		wrong += gw_table_slot(hash, 65537) != hash % 65537;
		wrong += gw_table_slot(hash, 65539) != hash % 65539;
	}
	for (uint64_t i = 0; i < 4 * 65537; i++)
		wrong += gw_table_slot(i, 65537) != i % 65537 ||
			 gw_table_slot(-i, 65537) != -i % 65537;
	CU_ASSERT_EQUAL(wrong, 0);
}

static const struct gw_test tests[] = {
	GW_TEST(the_default_tables_slot_is_the_remainder),
	GW_TEST(each_slots_backend_is_read_from_the_row_that_has_it),
	GW_TEST(a_restart_knows_pools_of_any_size_by_what_the_maps_hold),
};

int main(int argc, char **argv)
{
	if (geteuid() != 0) {
		printf("xdp_pools: skipped, needs root\n");
		return SKIPPED;
	}
	return gw_suite_run("xdp_pools", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
