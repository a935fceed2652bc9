/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_test_run.h"

#include "xdp_lb.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <string.h>

#define LOOPBACK 1 /* test runs come in on it; a link of port 0 leaves by it: XDP_TX */

int gw_xdp_test_run_open(struct gw_xdp_test_run *run, uint64_t flows, bool tracing)
{
	struct gw_xdp_object_options options = {.flows = flows, .tracing = tracing};
	uint32_t port = 0, ifindex = LOOPBACK;
	int error;

	memset(run, 0, sizeof(*run));
	error = gw_xdp_object_open(&run->object, &options);
	if (!error)
		error = gw_xdp_tables_init(&run->tables, &run->object);
	if (error) {
		gw_xdp_test_run_close(run);
		return error;
	}
	bpf_map_update_elem(
		bpf_map__fd(run->object.skeleton->maps.gw_tx_ports), &port, &ifindex, BPF_ANY);
	run->object.config->port_ifindex[0] = LOOPBACK;
	run->object.config->port_count = 1;
	run->object.config->flags |= GW_XDP_CLOCK_STOPPED;
	return 0;
}

void gw_xdp_test_run_close(struct gw_xdp_test_run *run)
{
	gw_xdp_tables_fini(&run->tables);
	gw_xdp_object_close(&run->object);
}

int gw_xdp_test_run_publish(
	struct gw_xdp_test_run *run, struct gw_snapshot *snapshot, char why[static GW_XDP_WHY])
{
	int error = gw_xdp_tables_publish(&run->tables, snapshot, false, why);

	if (!error)
		gw_xdp_tables_settle(&run->tables);
	return error;
}

int gw_xdp_test_run_frame(struct gw_xdp_test_run *run, uint64_t now_ns, const void *frame,
	size_t length, void *out, size_t *out_length)
{
	struct xdp_md context = {.data_end = (uint32_t)length, .ingress_ifindex = LOOPBACK};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame, .data_size_in = (uint32_t)length,
		.data_out = out, .data_size_out = (uint32_t)*out_length, .ctx_in = &context,
		.ctx_size_in = sizeof(context));

	run->object.config->stopped_ns = now_ns;
	if (bpf_prog_test_run_opts(run->object.program, &options))
		return -errno;
	*out_length = options.data_size_out;
	return (int)options.retval;
}
