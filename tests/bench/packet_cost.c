/* SPDX-License-Identifier: BSD-2-Clause */
#include "packet_cost.h"

#include "abi/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TTL  64
#define TCP  6
#define DATA 6 /* bytes behind the TCP header: the frame has 60, the least that Ethernet sends */

static const struct cost_case cases[] = {
	{"tcp4", GW_IPV4, {{[10] = 0xff, 0xff, 203, 0, 113, 10}}, false},
	{"gue4", GW_IPV4, {{[10] = 0xff, 0xff, 203, 0, 113, 11}}, false},
	{"tcp6", GW_IPV6, {{0x20, 0x01, 0x0d, 0xb8, 0x01, 0x13, [15] = 0x10}}, false},
	{"untracked4", GW_IPV4, {{[10] = 0xff, 0xff, 203, 0, 113, 10}}, true},
	{"untracked6", GW_IPV6, {{0x20, 0x01, 0x0d, 0xb8, 0x01, 0x13, [15] = 0x10}}, true},
};

const struct cost_case *cost_case_find(const char *name)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, name))
			return &cases[i];
	fprintf(stderr, "no case %s; there are", name);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		fprintf(stderr, " %s", cases[i].name);
	fputc('\n', stderr);
	exit(2);
}

/* Checksums stay zero: a balancer does not look at those of the inner packet. */
size_t cost_frame(
	const struct cost_case *cost, uint32_t flow, uint8_t tcp_flags, uint8_t out[COST_FRAME])
{
	static const uint8_t macs[12] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 9};
	uint8_t *at = out + sizeof(macs);

	memset(out, 0, COST_FRAME);
	memcpy(out, macs, sizeof(macs));
	if (cost->family == GW_IPV4) {
		gw_wire_store16(at, GW_ETHERTYPE_IPV4);
		gw_wire_store32(at + 2, 0x45000000 | (20 + 20 + DATA));
		gw_wire_store32(at + 6, flow << 16 | 0x4000);
		gw_wire_store32(at + 10, TTL << 24 | TCP << 16);
		gw_wire_store32(at + 14, 0xc6120000 + flow);
		memcpy(at + 18, cost->vip.bytes + 12, 4);
		at += 2 + 20;
	} else {
		gw_wire_store16(at, GW_ETHERTYPE_IPV6);
		gw_wire_store32(at + 2, 0x60000000);
		gw_wire_store32(at + 6, (20 + DATA) << 16 | TCP << 8 | TTL);
		gw_wire_store32(at + 10, 0x20010db8);
		gw_wire_store32(at + 22, flow);
		memcpy(at + 26, cost->vip.bytes, 16);
		at += 2 + 40;
	}
	gw_wire_store16(at, (uint16_t)(1024 + flow));
	gw_wire_store16(at + 2, 443);
	at[12] = 0x50;
	at[13] = tcp_flags;
	return (size_t)(at + 20 + DATA - out);
}

struct gw_build *cost_build(const struct cost_case *cost)
{
	char error[GW_BUILD_ERROR] = "";
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;
	struct gw_build *build = NULL;

	if (gw_config_load(SOURCE_ROOT "/tests/bench/packet_cost.yaml", 0, &config, &errors)) {
		gw_config_errors_print(&errors, stderr);
		exit(1);
	}
	for (size_t i = 0; i < config->service_count; i++)
		config->services[i].track_flows = !cost->untracked;
	if (gw_build_offline(config, NULL, 0, gw_link_hint_fixed, &build, error)) {
		fprintf(stderr, "packet_cost.yaml: %s\n", error);
		exit(1);
	}
	gw_config_free(config);
	return build;
}
