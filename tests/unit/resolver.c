/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The resolver against the real kernel: this process in a network namespace of its own, a router in
 * another, a veth between them. Needs root and ip(8).
 */
#include "base/resolver.h"

#include "base/address.h"
#include "suite.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char router[32];
static struct gw_resolver *resolver;
static int changes;

static bool run(const char *format, ...)
{
	char command[512];
	va_list list;

	va_start(list, format);
	vsnprintf(command, sizeof(command), format, list);
	va_end(list);
	int status = system(command);

	return status != -1 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void on_change(void *owner, const struct gw_resolved *resolved)
{
	(void)owner;
	(void)resolved;
	changes++;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Drives the resolver as its owner would, for at most `ms`, until the address is as wanted. */
static bool await(const char *text, enum gw_resolution state, const char *mac, int ms)
{
	uint64_t end = now_ms() + (uint64_t)ms, tick = 0;
	uint8_t address[16], wanted[6] = {0};

	gw_address_parse(text, address);
	if (mac)
		sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &wanted[0], &wanted[1], &wanted[2],
			&wanted[3], &wanted[4], &wanted[5]);
	while (now_ms() < end) {
		struct pollfd fd = {.fd = gw_resolver_fd(resolver), .events = POLLIN};
		const struct gw_resolved *now;

		if (poll(&fd, 1, 20) > 0)
			gw_resolver_process(resolver);
		if (now_ms() >= tick) {
			gw_resolver_tick(resolver);
			tick = now_ms() + GW_RESOLVER_TICK_MS;
		}
		now = gw_resolver_get(resolver, address);
		if (now && now->state == state &&
			(!mac || !memcmp(now->destination_mac, wanted, 6)))
			return true;
	}
	return false;
}

static bool track(const char *first, const char *second)
{
	uint8_t set[2][16];

	return !gw_address_parse(first, set[0]) && !gw_address_parse(second, set[1]) &&
	       !gw_resolver_track(resolver, set, 2);
}

static bool set_up(void)
{
	snprintf(router, sizeof(router), "gwr%d", (int)getpid());
	changes = 0;
	return !unshare(CLONE_NEWNET) && run("ip link set lo up") &&
	       run("ip netns add %s", router) &&
	       run("ip link add v0 address 02:00:00:00:01:01 type veth peer name v1 netns %s",
		       router) &&
	       run("ip -n %s link set v1 address 02:00:00:00:01:02", router) &&
	       run("ip addr add 10.9.0.2/24 dev v0 && ip addr add fd09::2/64 dev v0 nodad && ip "
		   "link set v0 up") &&
	       run("ip -n %s addr add 10.9.0.1/24 dev v1 && ip -n %s addr add fd09::1/64 dev v1 "
		   "nodad",
		       router, router) &&
	       run("ip -n %s link set v1 up", router) &&
	       run("ip route add 10.10.0.0/16 via 10.9.0.1 && ip -6 route add fd10::/16 via "
		   "fd09::1") &&
	       !gw_resolver_open(on_change, NULL, &resolver);
}

static void tear_down(void)
{
	gw_resolver_close(resolver);
	resolver = NULL;
	run("ip netns del %s", router);
}

static void resolves_through_the_gateway_in_both_families(void)
{
	CU_ASSERT_FATAL(set_up());
	CU_ASSERT(track("10.10.1.1", "fd10::1"));
	CU_ASSERT(await("10.10.1.1", GW_RESOLUTION_DONE, "02:00:00:00:01:02", 3000));
	CU_ASSERT(await("fd10::1", GW_RESOLUTION_DONE, "02:00:00:00:01:02", 3000));

	uint8_t address[16], source[6] = {2, 0, 0, 0, 1, 1};
	gw_address_parse("10.10.1.1", address);
	const struct gw_resolved *now = gw_resolver_get(resolver, address);
	CU_ASSERT_FATAL(now != NULL);
	CU_ASSERT(!memcmp(now->source_mac, source, 6));
	CU_ASSERT_EQUAL(now->mtu, 1500);
	tear_down();
}

static void follows_a_gateway_that_changed_its_mac_silently_within_a_second(void)
{
	CU_ASSERT_FATAL(set_up());
	CU_ASSERT(track("10.10.1.1", "fd10::1"));
	CU_ASSERT(await("10.10.1.1", GW_RESOLUTION_DONE, NULL, 3000));
	CU_ASSERT(await("fd10::1", GW_RESOLUTION_DONE, NULL, 3000));
	await("10.10.1.1", GW_RESOLUTION_NO_ROUTE, NULL, 1200); /* some probes pass by */
	CU_ASSERT(run("ip -n %s link set v1 address 02:00:00:00:01:99", router));
	CU_ASSERT(await("10.10.1.1", GW_RESOLUTION_DONE, "02:00:00:00:01:99", 1000));
	CU_ASSERT(await("fd10::1", GW_RESOLUTION_DONE, "02:00:00:00:01:99", 1000));
	tear_down();
}

static void follows_route_changes(void)
{
	CU_ASSERT_FATAL(set_up());
	CU_ASSERT(run("ip -n %s addr add 10.9.0.3/24 dev v1", router));
	CU_ASSERT(track("10.10.1.1", "10.11.1.1"));
	CU_ASSERT(await("10.10.1.1", GW_RESOLUTION_DONE, NULL, 3000));
	CU_ASSERT(await("10.11.1.1", GW_RESOLUTION_NO_ROUTE, NULL, 1000));
	CU_ASSERT(run("ip route add 10.11.0.0/16 via 10.9.0.3 mtu 1400"));
	CU_ASSERT(await("10.11.1.1", GW_RESOLUTION_DONE, "02:00:00:00:01:02", 1000));

	uint8_t address[16], gateway[16];
	gw_address_parse("10.11.1.1", address);
	gw_address_parse("10.9.0.3", gateway);
	const struct gw_resolved *now = gw_resolver_get(resolver, address);
	CU_ASSERT_FATAL(now != NULL);
	CU_ASSERT(!memcmp(now->gateway, gateway, 16));
	CU_ASSERT_EQUAL(now->mtu, 1400);
	CU_ASSERT(run("ip route del 10.11.0.0/16"));
	CU_ASSERT(await("10.11.1.1", GW_RESOLUTION_NO_ROUTE, NULL, 1000));
	tear_down();
}

static void link_down_means_no_route_and_up_again_resolves(void)
{
	CU_ASSERT_FATAL(set_up());
	CU_ASSERT(track("10.10.1.1", "10.9.0.1"));
	CU_ASSERT(await("10.9.0.1", GW_RESOLUTION_DONE, NULL, 3000));
	CU_ASSERT(run("ip -n %s link set v1 down", router));
	CU_ASSERT(await("10.9.0.1", GW_RESOLUTION_NO_ROUTE, NULL, 1000));
	CU_ASSERT(run("ip -n %s link set v1 up", router));
	CU_ASSERT(await("10.9.0.1", GW_RESOLUTION_DONE, NULL, 3000));
	CU_ASSERT(await("10.10.1.1", GW_RESOLUTION_DONE, NULL, 3000));
	tear_down();
}

static void a_missing_neighbour_is_found_when_it_appears(void)
{
	CU_ASSERT_FATAL(set_up());
	CU_ASSERT(track("10.9.0.50", "fd09::50"));
	CU_ASSERT(!await("10.9.0.50", GW_RESOLUTION_DONE, NULL, 4000));
	CU_ASSERT(await("10.9.0.50", GW_RESOLUTION_PENDING, NULL, 1));
	CU_ASSERT(run("ip -n %s addr add 10.9.0.50/24 dev v1 && ip -n %s addr add fd09::50/64 dev "
		      "v1 nodad",
		router, router));
	CU_ASSERT(await("10.9.0.50", GW_RESOLUTION_DONE, "02:00:00:00:01:02", 2000));
	CU_ASSERT(await("fd09::50", GW_RESOLUTION_DONE, "02:00:00:00:01:02", 2000));
	tear_down();
}

static void a_neighbour_that_dies_becomes_unresolved(void)
{
	CU_ASSERT_FATAL(set_up());
	CU_ASSERT(run("ip -n %s addr add 10.9.0.50/24 dev v1", router));
	CU_ASSERT(track("10.9.0.50", "10.9.0.1"));
	CU_ASSERT(await("10.9.0.50", GW_RESOLUTION_DONE, NULL, 3000));
	CU_ASSERT(run("ip -n %s addr del 10.9.0.50/24 dev v1", router));
	CU_ASSERT(await("10.9.0.50", GW_RESOLUTION_PENDING, NULL, 6000));
	CU_ASSERT(await("10.9.0.1", GW_RESOLUTION_DONE, NULL, 100));
	tear_down();
}

static void a_set_given_again_reports_nothing_new(void)
{
	CU_ASSERT_FATAL(set_up());
	CU_ASSERT(track("10.9.0.1", "10.9.0.1"));
	CU_ASSERT(await("10.9.0.1", GW_RESOLUTION_DONE, NULL, 3000));
	int before = changes;

	CU_ASSERT(track("10.9.0.1", "10.9.0.1"));
	CU_ASSERT_EQUAL(changes, before);
	await("10.9.0.1", GW_RESOLUTION_NO_ROUTE, NULL, 2500);
	CU_ASSERT_EQUAL(changes, before); /* probing is not a change */
	tear_down();
}

static const struct gw_test tests[] = {
	GW_TEST(resolves_through_the_gateway_in_both_families),
	GW_TEST(follows_a_gateway_that_changed_its_mac_silently_within_a_second),
	GW_TEST(follows_route_changes),
	GW_TEST(link_down_means_no_route_and_up_again_resolves),
	GW_TEST(a_missing_neighbour_is_found_when_it_appears),
	GW_TEST(a_neighbour_that_dies_becomes_unresolved),
	GW_TEST(a_set_given_again_reports_nothing_new),
};

GW_SUITE("resolver", tests)
