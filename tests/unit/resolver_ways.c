/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver against a real kernel: routes of several ways. */
#include "resolver_network.h"

/* Addresses of which each shall be resolved, and leave by a link where one is given. */
struct group {
	const struct gw_resolver *resolver;
	uint8_t (*addresses)[16];
	int count;
	const char *link; /* NULL: any */
};

static bool group_is_resolved(const void *of)
{
	const struct group *group = of;

	for (int i = 0; i < group->count; i++) {
		const struct gw_resolved *resolved =
			gw_resolver_get(group->resolver, group->addresses[i]);

		if (resolved->way.state != GW_RESOLUTION_DONE ||
			(group->link && !leaves_by(resolved, group->link)))
			return false;
	}
	return true;
}

static void multipath_route_spreads_and_survives_a_dead_path(void)
{
	uint8_t addresses[32][16];
	int by_link[2] = {0, 0};

	network_make();
	run_here("ip route add 198.51.100.0/24 nexthop via 10.9.0.2 nexthop via 10.9.1.2");
	struct gw_resolver *resolver = resolver_new();
	for (int i = 0; i < 32; i++) {
		gw_address_parse("198.51.100.1", addresses[i]);
		addresses[i][15] = (uint8_t)(1 + i);
	}
	CU_ASSERT_EQUAL_FATAL(gw_resolver_track(resolver, addresses, 32), 0);
	struct group group = {resolver, addresses, 32, NULL};
	CU_ASSERT_NOT_EQUAL(serve_until(resolver, LIMIT_MS, group_is_resolved, &group), -1);
	for (int i = 0; i < 32; i++)
		by_link[leaves_by(gw_resolver_get(resolver, addresses[i]), "a1")]++;
	/* The kernel's hash has a random seed: all 32 by one link once in two billion times. */
	CU_ASSERT_TRUE(by_link[0] >= 1 && by_link[1] >= 1);
	run_there("ip addr del 10.9.0.2/24 dev b0");
	group.link = "a1";
	CU_ASSERT_NOT_EQUAL(serve_until(resolver, LIMIT_MS, group_is_resolved, &group), -1);
	gw_resolver_close(resolver);
}

#define MANY_WAYS "198.51.100.9"

struct ways {
	const struct gw_resolver *resolver;
	const char *const *gateways;
	const uint16_t *weights;
	const enum gw_resolution *states;
};

static bool ways_are(const void *of)
{
	const struct ways *wanted = of;
	const struct gw_resolved *resolved = resolved_of(wanted->resolver, MANY_WAYS);

	for (int i = 0; i < 2 && resolved->way_count == 2; i++) {
		const struct gw_way *way = &resolved->ways[i];

		if (!address_is(way->gateway, wanted->gateways[i]) ||
			way->weight != wanted->weights[i] || way->state != wanted->states[i])
			return false;
	}
	return resolved->way_count == 2;
}

static void expect_ways(struct gw_resolver *resolver, const char *const gateways[2],
	const uint16_t weights[2], const enum gw_resolution states[2])
{
	const struct ways wanted = {resolver, gateways, weights, states};
	bool done = serve_until(resolver, LIMIT_MS, ways_are, &wanted) >= 0;
	const struct gw_resolved *resolved = resolved_of(resolver, MANY_WAYS);

	if (done) {
		CU_ASSERT_FALSE(resolved->ways[0].on_link || resolved->ways[1].on_link);
		return;
	}
	for (uint32_t i = 0; i < resolved->way_count; i++)
		printf("\n  way %u: weight %u, state %d", i, resolved->ways[i].weight,
			resolved->ways[i].state);
	CU_FAIL("the ways are not what was expected");
}

static bool one_way_is_left(const void *of)
{
	return resolved_of(of, MANY_WAYS)->way_count == 0;
}

#define BOTH_DONE ((const enum gw_resolution[2]){GW_RESOLUTION_DONE, GW_RESOLUTION_DONE})

static void all_ways_of_a_multipath_route_are_told_with_weights_and_states(void)
{
	static const char *const gateways[] = {"10.9.0.2", "10.9.1.2"};
	static const uint16_t weights[] = {3, 1}, changed[] = {1, 5};

	network_make();
	run_here("ip route add 198.51.100.0/24 nexthop via 10.9.0.2 weight 3 nexthop via 10.9.1.2");
	struct gw_resolver *resolver = resolver_new();
	track_one(resolver, MANY_WAYS);
	expect_ways(resolver, gateways, weights, BOTH_DONE);
	run_here("ip route replace 198.51.100.0/24 nexthop via 10.9.0.2 "
		 "nexthop via 10.9.1.2 weight 5");
	expect_ways(resolver, gateways, changed, BOTH_DONE);
	run_there("ip addr del 10.9.0.2/24 dev b0");
	expect_ways(resolver, gateways, changed,
		(const enum gw_resolution[2]){GW_RESOLUTION_PENDING, GW_RESOLUTION_DONE});
	run_here("ip route replace 198.51.100.0/24 via 10.9.1.2");
	CU_ASSERT_NOT_EQUAL(serve_until(resolver, LIMIT_MS, one_way_is_left, resolver), -1);
	gw_resolver_close(resolver);
}

static void the_ways_of_a_group_of_next_hop_objects_are_followed(void)
{
	static const char *const gateways[] = {"10.9.0.2", "10.9.1.2"};

	network_make();
	run_here("ip nexthop add id 1 via 10.9.0.2 dev a0 && "
		 "ip nexthop add id 2 via 10.9.1.2 dev a1 && "
		 "ip nexthop add id 9 group 1,2/2,7 && ip route add 198.51.100.0/24 nhid 9");
	struct gw_resolver *resolver = resolver_new();
	track_one(resolver, MANY_WAYS);
	expect_ways(resolver, gateways, (const uint16_t[2]){2, 7}, BOTH_DONE);
	run_here("ip nexthop replace id 9 group 1,4/2,2");
	expect_ways(resolver, gateways, (const uint16_t[2]){4, 2}, BOTH_DONE);
	run_here("ip nexthop replace id 9 group 2");
	CU_ASSERT_NOT_EQUAL(serve_until(resolver, LIMIT_MS, one_way_is_left, resolver), -1);
	CU_ASSERT_TRUE(leaves_by(resolved_of(resolver, MANY_WAYS), "a1"));
	gw_resolver_close(resolver);
}

static bool both_ways_are_done(const void *of)
{
	const struct gw_resolved *resolved = resolved_of(of, "2001:db8:9::1");

	return resolved->way_count == 2 && resolved->ways[0].state == GW_RESOLUTION_DONE &&
	       resolved->ways[1].state == GW_RESOLUTION_DONE;
}

static void ipv6_multipath_routes_have_ways_too(void)
{
	network_make();
	run_here("ip -6 route add 2001:db8:9::/48 nexthop via fd09::2 dev a0 weight 2 "
		 "nexthop via fd09:1::2 dev a1 weight 3");
	struct gw_resolver *resolver = resolver_new();
	track_one(resolver, "2001:db8:9::1");
	CU_ASSERT_NOT_EQUAL(serve_until(resolver, LIMIT_MS, both_ways_are_done, resolver), -1);
	const struct gw_resolved *resolved = resolved_of(resolver, "2001:db8:9::1");
	CU_ASSERT_EQUAL(resolved->ways[0].weight + resolved->ways[1].weight, 5);
	gw_resolver_close(resolver);
}

static const struct gw_test tests[] = {
	GW_TEST(multipath_route_spreads_and_survives_a_dead_path),
	GW_TEST(all_ways_of_a_multipath_route_are_told_with_weights_and_states),
	GW_TEST(the_ways_of_a_group_of_next_hop_objects_are_followed),
	GW_TEST(ipv6_multipath_routes_have_ways_too),
};

GW_SUITE("resolver_ways", tests)
