/* SPDX-License-Identifier: BSD-2-Clause */
#include "balancer.h"

#include "abi/flow_word.h"
#include "bench/core/clock.h"
#include "bench/core/counted.h"
#include "control/builder.h"
#include "xdp_lb.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000ull

void xdp_balancer_beat(struct xdp_balancer *balancer)
{
	__atomic_store_n(
		&balancer->object.config->heartbeat_ns, bench_clock_ns(), __ATOMIC_RELEASE);
}

/* ---- opening */

static void take_port(struct xdp_balancer *balancer, int ifindex)
{
	struct gw_xdp_config *config = balancer->object.config;
	uint32_t port = 0, value = (uint32_t)ifindex;

	bpf_map_update_elem(
		bpf_map__fd(balancer->object.skeleton->maps.gw_tx_ports), &port, &value, BPF_ANY);
	config->port_ifindex[0] = value;
	memcpy(config->port_mac[0], (const uint8_t[])BENCH_OUR_MAC, 6);
	config->port_count = 1;
}

int xdp_balancer_publish(
	struct xdp_balancer *balancer, struct gw_build *build, char why[static GW_XDP_WHY])
{
	int error;

	gw_build_renumber(build, balancer->version + 1);
	error = gw_xdp_tables_publish(&balancer->tables, build->snapshot, false, why);
	if (error)
		return error;
	balancer->version++;
	return 0;
}

static int build(
	struct xdp_balancer *balancer, const struct bench_case *what, char message[BENCH_MESSAGE])
{
	uint32_t count = what->swaps_per_second ? 2 : 1;
	int error = 0;

	for (uint32_t i = 0; i < count && !error; i++)
		error = bench_build(what, i + 1, &balancer->builds[i], message);
	return error;
}

int xdp_balancer_init(struct xdp_balancer *balancer, const struct bench_machine *machine,
	const struct bench_case *what, int ifindex, char message[BENCH_MESSAGE])
{
	struct gw_xdp_object_options options = {.flows = bench_table_flows(what)};
	char why[GW_XDP_WHY] = "";
	int error;

	*balancer = (struct xdp_balancer){
		.cpu = machine->cpu, .swaps.per_second = what->swaps_per_second};
	libbpf_set_print(NULL); /* the message says what is wrong */
	error = build(balancer, what, message);
	if (error)
		return error;
	error = gw_xdp_object_open(&balancer->object, &options);
	if (!error)
		error = gw_xdp_tables_init(&balancer->tables, &balancer->object);
	if (error) {
		snprintf(message, BENCH_MESSAGE, "the balancer's eBPF program is not loaded: %s",
			strerror(-error));
		return error;
	}
	take_port(balancer, ifindex);
	xdp_balancer_beat(balancer);
	error = xdp_balancer_publish(balancer, balancer->builds[0], why);
	if (error)
		snprintf(message, BENCH_MESSAGE, "the case's tables are not put in force: %s",
			why[0] ? why : strerror(-error));
	return error;
}

void xdp_balancer_fini(struct xdp_balancer *balancer)
{
	xdp_swaps_stop(balancer);
	if (balancer->tables.object)
		gw_xdp_tables_fini(&balancer->tables);
	gw_xdp_object_close(&balancer->object);
	for (size_t i = 0; i < 2; i++)
		gw_build_free(balancer->builds[i]);
	*balancer = (struct xdp_balancer){0};
}

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void xdp_balancer_fill(struct xdp_balancer *balancer, double share)
{
	const struct gw_build_pool *pool = &balancer->builds[0]->pools[0];
	uint64_t below = (uint64_t)(share / GW_FLOW_WORDS_PER_FLOW * 4294967296.0), state = 1;
	uint32_t seconds = (uint32_t)(bench_clock_ns() / NS_PER_SECOND);

	for (uint32_t i = 0; i < balancer->object.bucket_count; i++) {
		uint64_t *word = balancer->object.flows[i].word;

		for (uint32_t j = 0; j < GW_FLOW_BUCKET_WORDS; j++) {
			uint64_t random = mix(&state);
			uint32_t tag = ((uint32_t)mix(&state) & ~3u) | GW_CLASS_TCP;

			if ((random >> 32) < below)
				word[j] = gw_flow_word(tag,
					pool->backends[(uint32_t)random % pool->backend_count].id,
					GW_FLOW_ESTABLISHED, seconds);
		}
	}
}

/* ---- counting */

int xdp_balancer_measure(struct xdp_balancer *balancer, xdp_rounds *rounds, void *run,
	double seconds, struct bench_sample *sample)
{
	struct gw_counters before, after;
	int64_t swaps;
	int error = gw_xdp_counters(&balancer->object, &before);

	if (!error)
		error = xdp_swaps_start(balancer);
	if (error)
		return error;
	error = rounds(run, BENCH_BALANCER, seconds, sample);
	swaps = xdp_swaps_stop(balancer);
	if (!error && swaps < 0)
		error = (int)swaps;
	if (!error)
		error = gw_xdp_counters(&balancer->object, &after);
	if (error)
		return error;
	bench_count(&before, &after, sample);
	sample->swaps = (uint64_t)swaps;
	return 0;
}

int xdp_pin(int cpu, cpu_set_t *before)
{
	cpu_set_t pinned;

	CPU_ZERO(&pinned);
	CPU_SET((size_t)cpu, &pinned);
	if (sched_getaffinity(0, sizeof(*before), before) ||
		sched_setaffinity(0, sizeof(pinned), &pinned))
		return -errno;
	return 0;
}

/* ---- about the machine */

int xdp_able(const struct bench_machine *machine, char message[BENCH_MESSAGE])
{
	(void)machine;
	if (geteuid() == 0)
		return 0;
	snprintf(message, BENCH_MESSAGE, "eBPF programs are loaded and run by root only");
	return -EPERM;
}

static long read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	long value = -1;

	if (!file)
		return -1;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

void xdp_describe(const struct xdp_balancer *balancer, json_t *machine, json_t *found)
{
	struct utsname name;

	if (!uname(&name))
		json_object_set_new(machine, "kernel", json_string(name.release));
	json_object_set_new(machine, "bpf_jit",
		json_boolean(read_number("/proc/sys/net/core/bpf_jit_enable") > 0));
	json_object_set_new(found, "flow_table",
		json_integer((json_int_t)balancer->object.bucket_count * GW_FLOW_BUCKET_WORDS));
}
