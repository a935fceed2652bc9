/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Counts the eBPF instructions and helper calls that guideway_lb executes on a packet of a tracked
 * flow, the mean of COST_FLOWS flows (bpf_count.h). Needs root, for the kernel's maps.
 */
#include "bpf_count.h"
#include "control/xdp_test_run.h"
#include "packet_cost.h"
#include "xdp_lb.skel.h"

#include <linux/bpf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIPPED	 77 /* meson's word for it */
#define LOOPBACK 1

static void give_up(const char *what)
{
	fprintf(stderr, "packet_cost_xdp: %s\n", what);
	exit(1);
}

static void start(struct gw_xdp_test_run *run, const struct cost_case *cost)
{
	struct gw_build *build = cost_build(cost);
	char why[GW_XDP_WHY] = "";
	struct gw_xdp_config *config;

	if (gw_xdp_test_run_open(run, 8 * COST_FLOWS, true))
		give_up("the program is not loaded");
	config = run->object.config;
	config->flow_seed = 1;
	config->stopped_ns = 1000000000000;
	memcpy(config->port_mac[0], (const uint8_t[]){2, 0, 0, 0, 0, 2}, 6);
	if (gw_xdp_test_run_publish(run, build->snapshot, why))
		give_up(why);
	gw_build_free(build);
}

static struct bpf_count_sum run_flows(
	struct bpf_count *count, const struct cost_case *cost, uint8_t flags)
{
	struct bpf_count_sum sum = {0};
	uint8_t frame[COST_FRAME];

	for (uint32_t flow = 0; flow < COST_FLOWS; flow++) {
		size_t length = cost_frame(cost, flow, flags, frame);

		if (bpf_count_frame(count, frame, length, LOOPBACK, &sum) != XDP_TX)
			give_up("a packet was not sent");
	}
	return sum;
}

/* What is counted has to be what the kernel does: the same frame must come out. */
static void compare(
	struct gw_xdp_test_run *run, struct bpf_count *count, const struct cost_case *cost)
{
	struct bpf_count_sum sum = {0};
	uint8_t frame[COST_FRAME], kernel[2048];
	size_t length = cost_frame(cost, 7, COST_ACK, frame), kernel_length = sizeof(kernel),
	       counted;
	const void *out;

	bpf_count_frame(count, frame, length, LOOPBACK, &sum);
	out = bpf_count_output(count, &counted);
	if (gw_xdp_test_run_frame(run, run->object.config->stopped_ns, frame, length, kernel,
		    &kernel_length) != XDP_TX ||
		counted != kernel_length || memcmp(out, kernel, counted))
		give_up("the kernel makes another frame than the counted run");
}

int main(int argc, char **argv)
{
	const struct cost_case *cost;
	struct gw_xdp_test_run run;
	struct bpf_count *count;
	struct bpf_count_sum sum;

	if (argc != 2) {
		fprintf(stderr, "usage: packet_cost_xdp CASE\n");
		return 2;
	}
	cost = cost_case_find(argv[1]);
	if (geteuid() != 0) {
		fprintf(stderr, "packet_cost_xdp: skipped, needs root\n");
		return SKIPPED;
	}
	start(&run, cost);
	/* As in service: without the trace that test runs switch on. */
	struct xdp_lb_bpf__rodata constants = *run.object.skeleton->rodata;

	constants.gw_tracing = false;
	count = bpf_count_new(
		run.object.skeleton->obj, run.object.skeleton->progs.guideway_lb, &constants);
	run_flows(count, cost, COST_SYN);
	run_flows(count, cost, COST_ACK);
	sum = run_flows(count, cost, COST_ACK);
	compare(&run, count, cost);
	printf("{\"instructions\": %.2f, \"calls\": %.2f}\n", (double)sum.instructions / COST_FLOWS,
		(double)sum.calls / COST_FLOWS);
	bpf_count_free(count);
	gw_xdp_test_run_close(&run);
	return 0;
}
