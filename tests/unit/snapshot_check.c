/* SPDX-License-Identifier: BSD-2-Clause */
/* The checker alone: one good image, and every way to spoil it, each answered by its section. */
#include "dataplane/snapshot.h"
#include "dp_image.h"
#include "suite.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two pools (0: backends 0 and 1, 7: backend 2), two services, two addresses, three spans. */
static struct gw_snapshot_header *good(void)
{
	static const uint32_t first[] = {0, 1}, second[] = {2};
	const struct image_pool pools[] = {
		{.id = 0, .table_size = 13, .members = first, .member_count = 2, .digest = 1},
		{.id = 7, .table_size = 7, .members = second, .member_count = 1, .digest = 2},
	};
	const struct gw_service services[] = {
		{.pool = 0}, {.pool = GW_NONE}, {.pool = 7, .affinity = GW_AFFINITY_SOURCE_IP}};
	const struct gw_span spans[] = {{80, 80, 0}, {81, 90, 2}, {53, 53, 2}};
	struct gw_vip vips[] = {image_vip("203.0.113.10", 128), image_vip("2001:db8:113::", 64)};
	const struct gw_backend backends[] = {image_backend(0, 0, "10.82.0.11", "10.82.0.101"),
		image_backend(0, 1, "fd82::11", "fd82::101"),
		image_backend(7, GW_NONE, "10.82.0.11", "10.82.0.103"), {.state = GW_BACKEND_FREE}};
	const struct gw_next_hop hops[] = {
		image_next_hop("10.82.0.101"), image_next_hop("fd82::101")};
	struct image_spec spec = {.version = 3,
		.pools = pools,
		.pool_count = 2,
		.services = services,
		.service_count = 3,
		.vips = vips,
		.vip_count = 2,
		.spans = spans,
		.span_count = 3,
		.backends = backends,
		.backend_count = 4,
		.next_hops = hops,
		.next_hop_count = 2};

	vips[0].tcp = (struct gw_span_run){0, 2};
	vips[0].udp = (struct gw_span_run){2, 1};
	vips[1].tcp = (struct gw_span_run){0, 2};
	vips[1].any_service = 0;
	return image_make(&spec);
}

static void check_refused(
	const struct gw_snapshot_header *image, size_t size, const char *section, int line)
{
	char text[GW_SNAPSHOT_TEXT] = "";
	int error = gw_snapshot_check(image, size, text);
	size_t length = strlen(section);

	CU_ASSERT_EQUAL(error, -EINVAL);
	CU_ASSERT(
		strncmp(text, section, length) == 0 && strchr("[:", text[length]) && text[length]);
	if (error != -EINVAL || strncmp(text, section, length) != 0)
		printf("\n  line %d: returned %d, \"%s\", expected %s\n", line, error, text,
			section);
}

/* Spoils one thing in a good image and wants the refusal to begin with the section's name. */
#define SPOILT(section, change)                                                                    \
	do {                                                                                       \
		struct gw_snapshot_header *image = good();                                         \
		struct gw_pool *pools = image_section(image, &image->pools);                       \
		struct gw_service *services = image_section(image, &image->services);              \
		struct gw_vip *vips = image_section(image, &image->vips);                          \
		struct gw_span *spans = image_section(image, &image->spans);                       \
		struct gw_backend *backends = image_section(image, &image->backends);              \
		struct gw_next_hop *hops = image_section(image, &image->next_hops);                \
		uint32_t *members = image_section(image, &image->members);                         \
		uint16_t *slots = (void *)((uint8_t *)image + pools[0].table_offset);              \
		size_t size = image->total_size;                                                   \
		(void)services, (void)vips, (void)spans, (void)backends, (void)hops,               \
			(void)members, (void)slots;                                                \
		change;                                                                            \
		check_refused(image, size, section, __LINE__);                                     \
		free(image);                                                                       \
	} while (0)

static void a_good_image_passes(void)
{
	struct gw_snapshot_header *image = good();
	char text[GW_SNAPSHOT_TEXT] = "";

	CU_ASSERT_EQUAL(gw_snapshot_check(image, image->total_size, text), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(image);
}

static void an_empty_image_passes(void)
{
	struct gw_snapshot_header *image = image_make(&(struct image_spec){.version = 1});
	char text[GW_SNAPSHOT_TEXT];

	CU_ASSERT_EQUAL(gw_snapshot_check(image, image->total_size, text), 0);
	free(image);
}

static void a_header_that_lies_is_refused(void)
{
	SPOILT("header", image->magic++);
	SPOILT("header", image->abi_version++);
	SPOILT("header", image->header_size -= 8);
	SPOILT("header", image->version = 0);
	SPOILT("header", image->total_size += 64);
	SPOILT("header", image->total_size = 0);
	SPOILT("timeouts", image->timeouts.seconds[GW_CLASS_UDP][GW_FLOW_NEW] = 3601);
	SPOILT("timeouts", image->timeouts.seconds[GW_CLASS_TCP][GW_FLOW_FREE] = 1);
}

static void every_shorter_image_is_refused(void)
{
	struct gw_snapshot_header *image = good();
	size_t whole = image->total_size;
	char text[GW_SNAPSHOT_TEXT];

	for (size_t size = 0; size < whole; size++) {
		/* The bytes behind `size` are another allocation's: the sanitizer would tell. */
		struct gw_snapshot_header *cut = aligned_alloc(64, (size + 64) & ~63ul);

		memcpy(cut, image, size);
		CU_ASSERT_EQUAL(gw_snapshot_check(cut, size, text), -EINVAL);
		if (size >= sizeof(*cut)) {
			cut->total_size = size; /* now it only lacks its end */
			CU_ASSERT_EQUAL(gw_snapshot_check(cut, size, text), -EINVAL);
		}
		free(cut);
	}
	free(image);
}

static void a_section_outside_the_image_is_refused(void)
{
	SPOILT("pools", image->pools.count = GW_MAX_POOLS + 1);
	SPOILT("pools", image->pools.count = 1000);
	SPOILT("pools", image->pools.offset += 8);
	SPOILT("pools", image->pools.offset = 64);
	SPOILT("pools", image->pools.count = 0);
	SPOILT("services", image->services.count = UINT64_MAX);
	SPOILT("services", image->services.offset = UINT64_MAX - 63);
	SPOILT("vips", image->vips.offset = size & ~63ul);
	SPOILT("vips", image->vips.count = 60000);
	SPOILT("spans", image->spans.count = UINT64_MAX / 8);
	SPOILT("backends", image->backends.count = GW_MAX_BACKENDS);
	SPOILT("backends", image->backends.offset = 1ull << 40);
	SPOILT("members", image->members.count = 1ull << 27);
	SPOILT("next_hops", image->next_hops.count = 50000);
	SPOILT("tables", image->tables.count += 1);
	SPOILT("tables", image->tables.offset += 64);
	SPOILT("services", image->services.offset = image->pools.offset);
	SPOILT("tables", image->tables.offset = image->members.offset);
}

static void a_pool_that_contradicts_itself_is_refused(void)
{
	SPOILT("pools", pools[1].id = GW_MAX_POOLS);
	SPOILT("pools", pools[1].id = pools[0].id);
	SPOILT("pools", pools[0].table_size = 0);
	SPOILT("pools", pools[0].table_size = 1);
	SPOILT("pools", pools[0].table_size = GW_MAX_TABLE_SIZE + 1);
	SPOILT("pools", pools[0].table_size = 100000);
	SPOILT("pools", pools[1].table_size = 65537);
	SPOILT("pools", pools[0].member_first = 4);
	SPOILT("pools", pools[0].member_count = 4);
	SPOILT("pools", pools[0].member_first = UINT32_MAX);
	SPOILT("pools", pools[0].member_count = UINT32_MAX);
	SPOILT("pools", pools[0].member_count = 14);
	SPOILT("pools", pools[0].member_count = 0);
	SPOILT("pools", pools[0].table_offset += 1);
	SPOILT("pools", pools[0].table_offset = 64);
	SPOILT("pools", pools[0].table_offset = UINT64_MAX - 1);
	SPOILT("pools", pools[0].table_offset = size);
	SPOILT("pools", (pools[0].table_size = 61, pools[1].table_size = 61,
				pools[1].table_offset = pools[0].table_offset));
}

static void a_member_or_slot_that_points_nowhere_is_refused(void)
{
	SPOILT("members", members[0] = 4);
	SPOILT("members", members[1] = 2);
	SPOILT("members", members[2] = 3);
	SPOILT("members", members[2] = UINT32_MAX);
	SPOILT("members", backends[1].state = GW_BACKEND_FREE);
	SPOILT("tables", slots[0] = 2);
	SPOILT("tables", slots[12] = 65535);
}

static void a_backend_that_contradicts_itself_is_refused(void)
{
	SPOILT("backends", backends[0].state = 5);
	SPOILT("backends", backends[0].pool = 6);
	SPOILT("backends", backends[0].pool = 65535);
	SPOILT("backends", backends[0].encap = 9);
	SPOILT("backends", backends[0].family = 0);
	SPOILT("backends", backends[0].family = GW_IPV6);
	SPOILT("backends", backends[1].family = GW_IPV4);
	SPOILT("backends", backends[0].outer_source = image_address("fd82::1"));
	SPOILT("backends", backends[1].outer_destination = image_address("10.0.0.1"));
	SPOILT("backends", backends[0].next_hop = 2);
	SPOILT("next_hops", hops[0].family = GW_IPV6);
	SPOILT("next_hops", hops[1].family = 0);
	SPOILT("next_hops", hops[0].mtu = 67);
	SPOILT("next_hops", hops[0].mtu = 65536);
}

static void a_service_address_that_contradicts_itself_is_refused(void)
{
	SPOILT("services", services[0].pool = 1);
	SPOILT("services", services[2].pool = GW_MAX_POOLS);
	SPOILT("services", services[0].affinity = 3);
	SPOILT("spans", spans[0].service = 1);
	SPOILT("spans", spans[0].service = 3);
	SPOILT("spans", spans[1].first = 91);
	SPOILT("spans", spans[1].first = 80);
	SPOILT("spans", spans[0].last = 85);
	SPOILT("vips", vips[0].prefix_length = 129);
	SPOILT("vips", vips[1].address.bytes[15] = 1);
	SPOILT("vips", vips[1].prefix_length = 31);
	SPOILT("vips", vips[0].any_service = 1);
	SPOILT("vips", vips[0].any_service = 77);
	SPOILT("vips", vips[0].tcp.count = 4);
	SPOILT("vips", vips[0].udp.first = 3);
	SPOILT("vips", vips[0].sctp.first = UINT32_MAX);
	SPOILT("vips", vips[0].sctp.count = UINT32_MAX);
	SPOILT("spans", vips[0].tcp.count = 3);
	SPOILT("vips", (vips[1].address = vips[0].address, vips[1].prefix_length = 128));
}

static void a_free_backend_may_hold_anything(void)
{
	struct gw_snapshot_header *image = good();
	struct gw_backend *backends = image_section(image, &image->backends);
	char text[GW_SNAPSHOT_TEXT];

	memset(&backends[3], 0xff, sizeof(backends[3]));
	backends[3].state = GW_BACKEND_FREE;
	CU_ASSERT_EQUAL(gw_snapshot_check(image, image->total_size, text), 0);
	free(image);
}

static const struct gw_test tests[] = {
	GW_TEST(a_good_image_passes),
	GW_TEST(an_empty_image_passes),
	GW_TEST(a_header_that_lies_is_refused),
	GW_TEST(every_shorter_image_is_refused),
	GW_TEST(a_section_outside_the_image_is_refused),
	GW_TEST(a_pool_that_contradicts_itself_is_refused),
	GW_TEST(a_member_or_slot_that_points_nowhere_is_refused),
	GW_TEST(a_backend_that_contradicts_itself_is_refused),
	GW_TEST(a_service_address_that_contradicts_itself_is_refused),
	GW_TEST(a_free_backend_may_hold_anything),
};

GW_SUITE("snapshot_check", tests)
