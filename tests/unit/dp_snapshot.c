/* SPDX-License-Identifier: BSD-2-Clause */
/* From a descriptor to a generation in force, and what stays when that fails. */
#include "dp_harness.h"
#include "suite.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint32_t both[] = {0, 1}, one[] = {2};
static struct image_pool pools[2];
static struct gw_service services[2];
static struct gw_vip vips[1];
static struct gw_backend backends[3];
static struct gw_next_hop hops[2];
static struct gw_message_snapshot_reply reply;

static struct image_spec fill(uint64_t version)
{
	pools[0] = (struct image_pool){
		.id = 0, .table_size = 101, .members = both, .member_count = 2, .digest = 1};
	pools[1] = (struct image_pool){
		.id = 5, .table_size = 65537, .members = one, .member_count = 1, .digest = 2};
	services[0] = (struct gw_service){.pool = 0};
	services[1] = (struct gw_service){.pool = 5};
	vips[0] = image_vip("203.0.113.10", 128);
	vips[0].any_service = 0;
	backends[0] = image_backend(0, 0, "10.82.0.11", "10.82.0.101");
	backends[1] = image_backend(0, 1, "fd82::11", "fd82::102");
	backends[2] = image_backend(5, 0, "10.82.0.11", "10.82.0.103");
	hops[0] = image_next_hop("10.82.0.101");
	hops[1] = image_next_hop("fd82::102");
	return (struct image_spec){.version = version,
		.pools = pools,
		.pool_count = 2,
		.services = services,
		.service_count = 2,
		.vips = vips,
		.vip_count = 1,
		.backends = backends,
		.backend_count = 3,
		.next_hops = hops,
		.next_hop_count = 2};
}

/* Sends an image's first `size` bytes (0: all) the way control does. */
static enum gw_snapshot_result load(
	struct gw_engine *engine, const struct image_spec *spec, size_t size, int seals)
{
	struct gw_snapshot_header *image = image_make(spec);
	int fd = image_memfd(image, size ? size : image->total_size, seals);

	gw_snapshot_load(engine, fd, spec->version, &reply);
	close(fd);
	free(image);
	gw_engine_reclaim(engine);
	return (enum gw_snapshot_result)reply.result;
}

static struct gw_engine *start(uint64_t version)
{
	struct gw_engine *engine = harness_start(64, 1);
	struct image_spec spec = fill(version);

	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_IN_FORCE);
	return engine;
}

static uint64_t in_force(const struct gw_engine *engine)
{
	return engine->generation->version;
}

static void a_sealed_snapshot_is_put_in_force(void)
{
	struct gw_engine *engine = start(7);

	CU_ASSERT_EQUAL(in_force(engine), 7);
	CU_ASSERT_EQUAL(reply.version, 7);
	CU_ASSERT_EQUAL(reply.in_force, 7);
	CU_ASSERT_STRING_EQUAL(reply.text, "");
	harness_stop(engine);
}

static void each_missing_seal_is_refused(void)
{
	static const int seals[] = {F_SEAL_WRITE, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_SEAL};
	struct gw_engine *engine = start(1);
	struct image_spec spec = fill(2);

	for (int i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(
			load(engine, &spec, 0, IMAGE_SEALS & ~seals[i]), GW_SNAPSHOT_UNSEALED);
		CU_ASSERT_EQUAL(in_force(engine), 1);
		CU_ASSERT_EQUAL(reply.in_force, 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(reply.text, "seals"));
	}
	/* Only future writes are sealed: whoever has it mapped could still write. */
	CU_ASSERT_EQUAL(load(engine, &spec, 0, (IMAGE_SEALS & ~F_SEAL_WRITE) | F_SEAL_FUTURE_WRITE),
		GW_SNAPSHOT_UNSEALED);
	harness_stop(engine);
}

static void a_descriptor_that_is_no_memfd_is_refused(void)
{
	struct gw_engine *engine = start(1);
	int fds[] = {open("/proc/self/exe", O_RDONLY), open("/dev/null", O_RDWR), -1};

	for (int i = 0; i < 3; i++) {
		gw_snapshot_load(engine, fds[i], 2, &reply);
		CU_ASSERT_EQUAL(reply.result, GW_SNAPSHOT_UNSEALED);
		CU_ASSERT_EQUAL(in_force(engine), 1);
		if (fds[i] >= 0)
			close(fds[i]);
	}
	harness_stop(engine);
}

static void a_truncated_or_oversized_image_is_refused(void)
{
	struct gw_engine *engine = start(1);
	struct image_spec spec = fill(2);
	struct gw_snapshot_header *image = image_make(&spec);
	size_t size = image->total_size;
	int fd;

	for (size_t cut = 1; cut < size; cut += 4097) {
		CU_ASSERT_EQUAL(load(engine, &spec, cut, IMAGE_SEALS), GW_SNAPSHOT_INVALID);
		CU_ASSERT_EQUAL(strncmp(reply.text, "header:", 7), 0);
	}
	fd = image_memfd("", 0, 0);
	CU_ASSERT_EQUAL(ftruncate(fd, (off_t)(GW_SNAPSHOT_MAX_SIZE + 4096)), 0);
	CU_ASSERT_EQUAL(fcntl(fd, F_ADD_SEALS, IMAGE_SEALS), 0);
	gw_snapshot_load(engine, fd, 2, &reply);
	CU_ASSERT_EQUAL(reply.result, GW_SNAPSHOT_INVALID);
	close(fd);
	fd = image_memfd(image, size, 0);
	CU_ASSERT_EQUAL(ftruncate(fd, (off_t)size + 64), 0);
	CU_ASSERT_EQUAL(fcntl(fd, F_ADD_SEALS, IMAGE_SEALS), 0);
	gw_snapshot_load(engine, fd, 2, &reply);
	CU_ASSERT_EQUAL(reply.result, GW_SNAPSHOT_INVALID);
	close(fd);
	fd = image_memfd("", 0, IMAGE_SEALS);
	gw_snapshot_load(engine, fd, 2, &reply);
	CU_ASSERT_EQUAL(reply.result, GW_SNAPSHOT_INVALID);
	close(fd);
	CU_ASSERT_EQUAL(in_force(engine), 1);
	free(image);
	harness_stop(engine);
}

static void an_inconsistent_image_is_refused_by_section(void)
{
	struct gw_engine *engine = start(1);
	struct image_spec spec = fill(2);

	backends[1].pool = 9;
	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_INVALID);
	CU_ASSERT_STRING_EQUAL(reply.text, "backends[1]: pool 9 is not in the pools section");
	CU_ASSERT_EQUAL(in_force(engine), 1);
	CU_ASSERT_PTR_NULL(engine->retired);
	harness_stop(engine);
}

static void only_a_higher_version_replaces_what_is_in_force(void)
{
	struct gw_engine *engine = start(5);
	struct image_spec spec = fill(5);
	struct gw_snapshot_header *image;
	int fd;

	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_OLD);
	spec.version = 4;
	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_OLD);
	CU_ASSERT_EQUAL(in_force(engine), 5);
	/* Message and image must name the same one. */
	spec.version = 6;
	image = image_make(&spec);
	fd = image_memfd(image, image->total_size, IMAGE_SEALS);
	gw_snapshot_load(engine, fd, 7, &reply);
	CU_ASSERT_EQUAL(reply.result, GW_SNAPSHOT_INVALID);
	CU_ASSERT_EQUAL(reply.version, 7);
	CU_ASSERT_EQUAL(reply.in_force, 5);
	close(fd);
	free(image);
	harness_stop(engine);
}

static void a_table_as_before_is_the_same_memory(void)
{
	struct gw_engine *engine = start(1);
	struct image_spec spec = fill(2);
	const uint16_t *before = engine->generation->view[0]->pool[5].slot;

	pools[1].as_before = true;
	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_IN_FORCE);
	CU_ASSERT_PTR_EQUAL(engine->generation->view[0]->pool[5].slot, before);
	/* A pool that comes back under another id finds its table by the digest. */
	spec = fill(3);
	pools[1].as_before = true;
	pools[1].id = 6;
	services[1].pool = 6;
	backends[2].pool = 6;
	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_IN_FORCE);
	CU_ASSERT_PTR_EQUAL(engine->generation->view[0]->pool[6].slot, before);
	CU_ASSERT_EQUAL(before[65536], 0);
	harness_stop(engine);
}

static void tables_that_are_not_here_are_named(void)
{
	struct gw_engine *engine = start(1);
	struct image_spec spec = fill(2);

	pools[0].as_before = pools[1].as_before = true;
	pools[1].digest = 77;
	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_MISSING_TABLES);
	CU_ASSERT_EQUAL(reply.missing_count, 1);
	CU_ASSERT_EQUAL(reply.missing[0], 5);
	CU_ASSERT_EQUAL(in_force(engine), 1);
	/* The right digest on a table of another size is none. */
	spec = fill(2);
	pools[0].as_before = true;
	pools[0].table_size = 103;
	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_MISSING_TABLES);
	CU_ASSERT_EQUAL(reply.missing[0], 0);
	/* And so is one whose slots would point behind the members. */
	spec = fill(2);
	pools[0].as_before = true;
	pools[0].member_count = 1;
	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_MISSING_TABLES);
	harness_stop(engine);
}

static void a_fresh_dataplane_wants_every_table(void)
{
	struct gw_engine *engine = harness_start(64, 1);
	struct image_spec spec = fill(9);

	pools[0].as_before = pools[1].as_before = true;
	CU_ASSERT_EQUAL(load(engine, &spec, 0, IMAGE_SEALS), GW_SNAPSHOT_MISSING_TABLES);
	CU_ASSERT_EQUAL(reply.missing_count, 2);
	CU_ASSERT_PTR_NULL(engine->generation);
	harness_stop(engine);
}

static void the_old_generation_waits_for_every_reader(void)
{
	struct gw_engine *engine = start(1);
	struct image_spec spec = fill(2);

	rte_rcu_qsbr_thread_register(engine->rcu, 0);
	rte_rcu_qsbr_thread_online(engine->rcu, 0);
	load(engine, &spec, 0, IMAGE_SEALS);
	spec.version = 3;
	load(engine, &spec, 0, IMAGE_SEALS);
	CU_ASSERT_EQUAL(gw_engine_reclaim(engine), 2);
	rte_rcu_qsbr_quiescent(engine->rcu, 0);
	CU_ASSERT_EQUAL(gw_engine_reclaim(engine), 0);
	/* A worker that sleeps holds nothing up. */
	rte_rcu_qsbr_thread_offline(engine->rcu, 0);
	spec.version = 4;
	load(engine, &spec, 0, IMAGE_SEALS);
	CU_ASSERT_EQUAL(gw_engine_reclaim(engine), 0);
	rte_rcu_qsbr_thread_unregister(engine->rcu, 0);
	harness_stop(engine);
}

static void next_hops_outlive_snapshots_and_end_with_the_last(void)
{
	struct gw_engine *engine = start(1);
	struct image_spec spec = fill(2);
	uint32_t first = engine->generation->view[0]->backend[0].next_hop;
	uint32_t second = engine->generation->view[0]->backend[1].next_hop;

	CU_ASSERT_NOT_EQUAL(first, 0);
	CU_ASSERT_NOT_EQUAL(first, second);
	CU_ASSERT_EQUAL(engine->generation->view[0]->backend[2].next_hop, first);
	/* The other order, and one of them gone: entries keep their address. */
	hops[0] = image_next_hop("fd82::102");
	spec.next_hop_count = 1;
	for (int i = 0; i < 3; i++)
		backends[i].next_hop = i == 1 ? 0 : GW_NONE;
	load(engine, &spec, 0, IMAGE_SEALS);
	CU_ASSERT_EQUAL(engine->generation->view[0]->backend[1].next_hop, second);
	CU_ASSERT_EQUAL(engine->generation->view[0]->backend[0].next_hop, 0);
	CU_ASSERT_EQUAL(engine->hops.entry[first].references, 0);
	CU_ASSERT_EQUAL(engine->hops.live[first].link.flags, 0);
	CU_ASSERT_EQUAL(engine->hops.entry[second].references, 1);
	harness_stop(engine);
}

static const struct gw_test tests[] = {
	GW_TEST(a_sealed_snapshot_is_put_in_force),
	GW_TEST(each_missing_seal_is_refused),
	GW_TEST(a_descriptor_that_is_no_memfd_is_refused),
	GW_TEST(a_truncated_or_oversized_image_is_refused),
	GW_TEST(an_inconsistent_image_is_refused_by_section),
	GW_TEST(only_a_higher_version_replaces_what_is_in_force),
	GW_TEST(a_table_as_before_is_the_same_memory),
	GW_TEST(tables_that_are_not_here_are_named),
	GW_TEST(a_fresh_dataplane_wants_every_table),
	GW_TEST(the_old_generation_waits_for_every_reader),
	GW_TEST(next_hops_outlive_snapshots_and_end_with_the_last),
};

GW_SUITE("dp_snapshot", tests)
