/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network of the resolver's tests: two network namespaces of this process, "here" and "there",
 * joined by two veth pairs (a0-b0, a1-b1). Nothing outside them is touched, and they vanish with
 * the process. And how a test serves a resolver until it knows what it should.
 */
#pragma once

#include "base/address.h"
#include "base/resolver.h"
#include "suite.h"

#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int here = -1, there = -1;
static int changes;

static void run_in(int namespace, const char *format, va_list arguments)
{
	char command[512];

	vsnprintf(command, sizeof(command), format, arguments);
	CU_ASSERT_EQUAL_FATAL(setns(namespace, CLONE_NEWNET), 0);
	if (system(command)) {
		fprintf(stderr, "failed: %s\n", command);
		CU_FAIL_FATAL("a command of the set-up failed");
	}
	CU_ASSERT_EQUAL_FATAL(setns(here, CLONE_NEWNET), 0);
}

__attribute__((format(printf, 1, 2))) static void run_here(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	run_in(here, format, arguments);
	va_end(arguments);
}

__attribute__((format(printf, 1, 2))) static void run_there(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	run_in(there, format, arguments);
	va_end(arguments);
}

static int namespace_new(void)
{
	int fd = -1;

	if (unshare(CLONE_NEWNET) == 0)
		fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	CU_ASSERT_NOT_EQUAL_FATAL(fd, -1);
	return fd;
}

/* Carrier changes reach the stack up to a second late; IPv6 has its link-local addresses only then.
 */
static const char settled[] = "for i in $(seq 600); do "
			      "[ $(grep -c ^fe80 /proc/net/if_inet6) = 2 ] && exit 0; sleep 0.05; "
			      "done; exit 1";

/* MACs: here 02:00:00:00:0a:0N, there 02:00:00:00:0b:0N. Gateways there: 10.9.N.2 and fd09:N::2. */
static void network_make(void)
{
	if (here >= 0) {
		close(here);
		close(there);
	}
	there = namespace_new();
	here = namespace_new();
	run_here("sysctl -qw net.ipv6.conf.default.accept_dad=0 && ip link set lo up");
	run_there("sysctl -qw net.ipv6.conf.default.accept_dad=0");
	for (int i = 0; i < 2; i++) {
		run_here("ip link add a%d address 02:00:00:00:0a:0%d type veth peer name b%d "
			 "address 02:00:00:00:0b:0%d netns /proc/%d/fd/%d",
			i, i, i, i, getpid(), there);
		run_here("ip addr add 10.9.%d.1/24 dev a%d && ip addr add fd09:%d::1/64 dev a%d "
			 "nodad && "
			 "ip link set a%d up",
			i, i, i, i, i);
		run_there("ip addr add 10.9.%d.2/24 dev b%d && ip addr add fd09:%d::2/64 dev b%d "
			  "nodad && "
			  "ip link set b%d up",
			i, i, i, i, i);
	}
	run_here("%s", settled);
	run_there("%s", settled);
}

static void change_count(void *owner, const struct gw_resolved *resolved)
{
	changes++;
}

static struct gw_resolver *resolver_new(void)
{
	struct gw_resolver *resolver = NULL;

	changes = 0;
	CU_ASSERT_EQUAL_FATAL(gw_resolver_open(change_count, NULL, &resolver), 0);
	return resolver;
}

static void track_one(struct gw_resolver *resolver, const char *text)
{
	uint8_t address[1][16];

	CU_ASSERT_EQUAL_FATAL(gw_address_parse(text, address[0]), 0);
	CU_ASSERT_EQUAL_FATAL(gw_resolver_track(resolver, address, 1), 0);
}

static const struct gw_resolved *resolved_of(const struct gw_resolver *resolver, const char *text)
{
	const struct gw_resolved *resolved;
	uint8_t address[16];

	CU_ASSERT_EQUAL_FATAL(gw_address_parse(text, address), 0);
	resolved = gw_resolver_get(resolver, address);
	CU_ASSERT_PTR_NOT_NULL_FATAL(resolved);
	return resolved;
}

/* The interfaces are numbered as they are made: "a0" is which index? */
static bool leaves_by(const struct gw_resolved *resolved, const char *interface)
{
	return resolved->way.ifindex && resolved->way.ifindex == if_nametoindex(interface);
}

static bool address_is(const uint8_t address[16], const char *text)
{
	char own[GW_ADDRESS_TEXT];

	return !strcmp(gw_address_format(address, own), text);
}

static int64_t clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* No wait for what must come takes so long on the slowest machine. */
#define LIMIT_MS 30000

/* Serves the resolver as a daemon does, until the condition holds. Returns the time it took, or -1
 * after limit_ms. */
static int64_t serve_until(
	struct gw_resolver *resolver, int limit_ms, bool (*holds)(const void *of), const void *of)
{
	int64_t start = clock_ms(), tick = start + GW_RESOLVER_TICK_MS;

	while (!holds(of)) {
		struct pollfd ready = {.fd = gw_resolver_fd(resolver), .events = POLLIN};
		int64_t now = clock_ms();

		if (now - start > limit_ms)
			return -1;
		if (now < tick && poll(&ready, 1, (int)(tick - now)) > 0)
			CU_ASSERT_EQUAL(gw_resolver_process(resolver), 0);
		if (clock_ms() >= tick) {
			gw_resolver_tick(resolver);
			tick = clock_ms() + GW_RESOLVER_TICK_MS;
		}
	}
	return clock_ms() - start;
}
