/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the suites of the XDP program share: a small world of services in the kernel's maps, and
 * frames that are run through the program with BPF_PROG_TEST_RUN. Needs root; without it a suite is
 * skipped.
 */
#pragma once

#include "control/xdp_test_run.h"
#include "dp_image.h"
#include "frames.h"
#include "suite.h"

#include <linux/bpf.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define XDP_SKIPPED 77 /* meson's word for it */

#define XDP_SUITE(name, tests)                                                                     \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		if (geteuid() != 0) {                                                              \
			puts(name ": skipped, needs root");                                        \
			return XDP_SKIPPED;                                                        \
		}                                                                                  \
		return gw_suite_run(name, tests, sizeof(tests) / sizeof((tests)[0]), argc, argv);  \
	}

#define SECOND	   1000000000ull
#define TABLE_SIZE 65537

/*
 * Pool 0: backends 0 and 1 over IPv4, slots alternate. Pool 1: backend 2 over IPv6. Service 0: TCP
 * 80 and 8000-8099 on 203.0.113.10. Service 1: UDP 443 on 2001:db8:113::10. Service 2: anything on
 * 198.18.0.0/15, by source address. 198.18.5.7: an address whose unknown ports are the host's.
 */
struct world {
	struct gw_xdp_test_run run;
	struct image_pool pools[2];
	struct gw_service services[3];
	struct gw_span spans[3];
	struct gw_vip vips[4];
	struct gw_backend backends[3];
	struct gw_next_hop hops[3];
	uint32_t members[3];
	uint64_t now;
	uint64_t version;
	struct gw_snapshot *snapshots[8]; /* published; the world frees them at its end */
	uint8_t out[2048];
	size_t out_length;
};

static inline void world_spec(struct world *world)
{
	world->members[0] = 0;
	world->members[1] = 1;
	world->members[2] = 2;
	world->pools[0] = (struct image_pool){.id = 0,
		.table_size = TABLE_SIZE,
		.members = world->members,
		.member_count = 2,
		.digest = 1};
	world->pools[1] = (struct image_pool){.id = 1,
		.table_size = TABLE_SIZE,
		.members = world->members + 2,
		.member_count = 1,
		.digest = 2};
	world->services[0] = (struct gw_service){.pool = 0};
	world->services[1] = (struct gw_service){.pool = 1};
	world->services[2] = (struct gw_service){.pool = 0, .affinity = GW_AFFINITY_SOURCE_IP};
	world->spans[0] = (struct gw_span){80, 80, 0};
	world->spans[1] = (struct gw_span){8000, 8099, 0};
	world->spans[2] = (struct gw_span){443, 443, 1};
	world->vips[0] = image_vip("203.0.113.10", 128);
	world->vips[0].tcp = (struct gw_span_run){0, 2};
	world->vips[1] = image_vip("2001:db8:113::10", 128);
	world->vips[1].udp = (struct gw_span_run){2, 1};
	world->vips[2] = image_vip("198.18.0.0", 96 + 15);
	world->vips[2].any_service = 2;
	world->vips[3] = image_vip("198.18.5.7", 128);
	world->vips[3].flags = GW_VIP_NO_SERVICE_HOST;
	world->backends[0] = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	world->backends[1] = image_backend(0, 1, "10.82.0.11", "10.82.0.102");
	world->backends[2] = image_backend(1, 2, "fd82::11", "fd82::103");
	world->hops[0] = image_next_hop("10.82.0.101");
	world->hops[1] = image_next_hop("10.82.0.102");
	world->hops[2] = image_next_hop("fd82::103");
}

static inline void world_publish(struct world *world)
{
	struct image_spec spec = {.version = ++world->version,
		.pools = world->pools,
		.pool_count = 2,
		.services = world->services,
		.service_count = 3,
		.vips = world->vips,
		.vip_count = 4,
		.spans = world->spans,
		.span_count = 3,
		.backends = world->backends,
		.backend_count = 3,
		.next_hops = world->hops,
		.next_hop_count = 3};
	struct gw_snapshot *snapshot = calloc(1, sizeof(*snapshot));
	char why[GW_XDP_WHY] = "";

	snapshot->data = image_make(&spec);
	snapshot->size = snapshot->data->total_size;
	snapshot->references = 2; /* one is the world's: the image is no mapping to be unmapped */
	CU_ASSERT_FATAL(world->version <= sizeof(world->snapshots) / sizeof(world->snapshots[0]));
	world->snapshots[world->version - 1] = snapshot;
	CU_ASSERT_EQUAL_FATAL(gw_xdp_test_run_publish(&world->run, snapshot, why), 0);
}

static inline struct world *world_make_as(uint64_t flows, bool tracing)
{
	struct world *world = calloc(1, sizeof(*world));

	CU_ASSERT_EQUAL_FATAL(gw_xdp_test_run_open(&world->run, flows, tracing), 0);
	world->now = 5000 * SECOND;
	world_spec(world);
	world_publish(world);
	return world;
}

static inline struct world *world_make(uint64_t flows)
{
	return world_make_as(flows, true);
}

/* rx = tx + to_host + replied + consumed + held + sum of drops, whatever the test did. */
static inline struct gw_counters world_counters(const struct world *world)
{
	struct gw_counters c = {0};
	uint64_t sum;

	CU_ASSERT_EQUAL(gw_xdp_counters(&world->run.object, &c), 0);
	sum = c.tx + c.to_host + c.replied + c.consumed + c.held;
	for (int i = 0; i < GW_DROP_MAX; i++)
		sum += c.drops[i];
	CU_ASSERT_EQUAL(c.rx, sum);
	return c;
}

static inline void world_free(struct world *world)
{
	world_counters(world);
	gw_xdp_test_run_close(&world->run);
	for (uint64_t i = 0; i < world->version; i++) {
		free((void *)world->snapshots[i]->data);
		free(world->snapshots[i]);
	}
	free(world);
}

static inline struct gw_xdp_trace run(struct world *world, const struct frame *frame)
{
	int action;

	world->out_length = sizeof(world->out);
	action = gw_xdp_test_run_frame(&world->run, world->now, frame->bytes, frame->length,
		world->out, &world->out_length);
	CU_ASSERT(action >= 0);
	switch (world->run.object.trace->verdict) {
	case GW_VERDICT_TX:
	case GW_VERDICT_REPLY:
		CU_ASSERT_EQUAL(action, XDP_TX);
		break;
	case GW_VERDICT_HOST:
		CU_ASSERT_EQUAL(action, XDP_PASS);
		CU_ASSERT_EQUAL(world->out_length, frame->length);
		CU_ASSERT_EQUAL(memcmp(world->out, frame->bytes, frame->length), 0);
		break;
	default:
		CU_ASSERT_EQUAL(action, XDP_DROP);
	}
	return *world->run.object.trace;
}

static inline void dropped(struct world *world, const struct frame *frame, enum gw_drop reason)
{
	uint64_t before = world_counters(world).drops[reason];
	struct gw_xdp_trace trace = run(world, frame);

	CU_ASSERT_EQUAL(trace.verdict, GW_VERDICT_DROP);
	CU_ASSERT_EQUAL(trace.reason, reason);
	CU_ASSERT_EQUAL(world_counters(world).drops[reason], before + 1);
}

/* The TCP frame from another client port: another flow. */
static inline struct frame flow_frame(uint16_t port, uint8_t tcp_flags)
{
	struct frame frame = frame_v4();

	frame_put16(&frame, 34, port);
	frame.bytes[47] = tcp_flags;
	return frame;
}
