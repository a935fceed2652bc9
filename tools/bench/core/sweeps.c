/* SPDX-License-Identifier: BSD-2-Clause */
/* The named sweeps: what each chart of docs/performance.md is drawn from. */
#include "plan.h"

#include <string.h>

#define FLOWS_MIDDLE [AXIS_FLOWS] = "64k"

const struct sweep sweeps[] = {
	{"flows", "Cost of a packet by number of flows", AXIS_FLOWS, true, false,
		{[AXIS_FLOWS] = "1,1k,16k,64k,256k,1M,4M,10M", [AXIS_TRACKED] = "yes,no"}},
	{"services", "Cost of a packet by number of services", AXIS_SERVICES, true, false,
		{FLOWS_MIDDLE, [AXIS_SERVICES] = "1,10,100,1k,10k"}},
	{"backends", "Cost of a packet by number of backends", AXIS_BACKENDS, true, false,
		{FLOWS_MIDDLE, [AXIS_BACKENDS] = "1,10,100,1k,5k"}},
	{"scale", "Cost of a packet, small and large", AXIS_SERVICES, true, false,
		{FLOWS_MIDDLE, [AXIS_SERVICES] = "1,10k", [AXIS_BACKENDS] = "10,5k"}},
	{"pools", "Cost of a packet by number of pools", AXIS_POOLS, true, false,
		{FLOWS_MIDDLE, [AXIS_POOLS] = "1,10,100,1k", [AXIS_SERVICES] = "1k",
			[AXIS_BACKENDS] = "10"}},
	{"swaps", "Cost of a packet while tables are swapped", AXIS_SWAPS, false, false,
		{FLOWS_MIDDLE, [AXIS_SWAPS] = "0,10,50,100"}},
	{"size", "Cost of a packet by its size", AXIS_SIZE, false, false,
		{FLOWS_MIDDLE, [AXIS_SIZE] = "64,128,256,512,1024,1518,imix"}},
	{"encap", "Cost of a packet by encapsulation", AXIS_ENCAP, false, false,
		{FLOWS_MIDDLE, [AXIS_ENCAP] = "ipip,gue,gre,l2", [AXIS_FAMILY] = "4,6"}},
	{"new", "Cost of a packet by share of new flows", AXIS_NEW, false, false,
		{FLOWS_MIDDLE, [AXIS_NEW] = "0,10%,25%,50%,100%"}},
	{"fill", "Cost of a packet by fill of the flow table", AXIS_FILL, false, false,
		{[AXIS_FLOWS] = "64k",
			[AXIS_TABLE_FLOWS] = "1M",
			[AXIS_FILL] = "0,25%,50%,75%,90%,100%"}},
	{"workers", "Cost of a packet by number of workers", AXIS_WORKERS, false, false,
		{FLOWS_MIDDLE, [AXIS_PATH] = "dpdk", [AXIS_WORKERS] = "1,2"}},
	{"latency", "Latency by load", AXIS_LOAD, false, true,
		{FLOWS_MIDDLE, [AXIS_PATH] = "dpdk", [AXIS_MODE] = "link",
			[AXIS_LOAD] = "10%,30%,50%,70%,90%"}},
	{"wakeup", "Latency of a single packet after a pause", AXIS_IDLE, true, true,
		{[AXIS_FLOWS] = "1k",
			[AXIS_PATH] = "dpdk",
			[AXIS_MODE] = "link",
			[AXIS_IDLE] = "100,1k,10k",
			[AXIS_POLL] = "busy,adaptive"}},
};

const size_t sweep_count = sizeof(sweeps) / sizeof(sweeps[0]);

const struct sweep *sweep_find(const char *name)
{
	for (size_t i = 0; i < sweep_count; i++)
		if (!strcmp(sweeps[i].name, name))
			return &sweeps[i];
	return NULL;
}
