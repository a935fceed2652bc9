/* SPDX-License-Identifier: BSD-2-Clause */
/* The eBPF program in the kernel, by test runs; the decision is read from its trace. */
#include "base/log.h"
#include "control/xdp_test_run.h"
#include "path.h"

#include <linux/bpf.h>

#include <errno.h>
#include <string.h>

/* A page less headroom and tail room: what the kernel takes for a test run without fragments. */
#define XDP_FRAME_MAX 3520

static struct gw_xdp_test_run test_run;

static int open_xdp(struct gw_snapshot *snapshot, uint64_t flows)
{
	char why[GW_XDP_WHY] = "";
	int error = gw_xdp_test_run_open(&test_run, flows);

	if (error)
		return error;
	error = gw_xdp_test_run_publish(&test_run, snapshot, why);
	if (error)
		gw_log_error("the snapshot cannot be put in force: %s", why);
	return error;
}

static int action_fits(int action, enum gw_verdict verdict)
{
	switch (action) {
	case XDP_TX:
	case XDP_REDIRECT:
		return verdict == GW_VERDICT_TX || verdict == GW_VERDICT_REPLY;
	case XDP_PASS:
		return verdict == GW_VERDICT_HOST;
	default:
		return verdict == GW_VERDICT_DROP || verdict == GW_VERDICT_CONSUMED;
	}
}

static int run_xdp(const uint8_t *frame, size_t length, uint64_t now_ns, struct fate *fate)
{
	const struct gw_xdp_trace *trace = test_run.object.trace;
	size_t out_length = REPLAY_FRAME_MAX;
	int action;

	if (length > XDP_FRAME_MAX) {
		gw_log_error(
			"%zu bytes are more than the %d of an XDP test run", length, XDP_FRAME_MAX);
		return -EMSGSIZE;
	}
	action = gw_xdp_test_run_frame(
		&test_run, now_ns, frame, length, fate->out[0].bytes, &out_length);
	if (action < 0) {
		gw_log_error("test run: %s", strerror(-action));
		return action;
	}
	fate->verdict = trace->verdict;
	fate->reason = trace->reason;
	fate->service = trace->service;
	fate->backend = trace->backend;
	fate->hash = trace->hash;
	fate->slot = trace->slot;
	fate->flow = trace->flow;
	if (!action_fits(action, fate->verdict)) {
		gw_log_error("the program says verdict %d, but returned XDP action %d",
			(int)fate->verdict, action);
		return -EPROTO;
	}
	fate->out_count = action == XDP_TX || action == XDP_REDIRECT;
	fate->out[0].length = out_length;
	return 0;
}

static int counters_xdp(struct gw_counters *counters)
{
	return gw_xdp_counters(&test_run.object, counters);
}

static void close_xdp(void)
{
	gw_xdp_test_run_close(&test_run);
}

const struct path path_xdp = {"xdp", open_xdp, run_xdp, counters_xdp, close_xdp};
