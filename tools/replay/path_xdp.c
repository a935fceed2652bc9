/* SPDX-License-Identifier: BSD-2-Clause */
/* The eBPF program in the kernel, by test runs; the decision is read from its trace. */
#include "abi/flow_place.h"
#include "base/log.h"
#include "control/xdp_test_run.h"
#include "path.h"

#include <linux/bpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct gw_xdp_test_run test_run;
static struct gw_xdp_test_run untraced;
static uint8_t *untraced_out; /* NULL: nobody asked for it */
static struct sink sink;
static struct frame *out;

static int program_open(
	struct gw_xdp_test_run *run, const struct path_setup *setup, uint64_t seed, bool tracing)
{
	char why[GW_XDP_WHY] = "";
	int error = gw_xdp_test_run_open(run, setup->flows, tracing);

	if (error)
		return error;
	memcpy(run->object.config->port_mac[0], (const uint8_t[])REPLAY_OUR_MAC, 6);
	run->object.config->flags |= GW_XDP_ANY_MAC;
	run->object.paths[REPLAY_WAYS_RECORD] = *setup->ways;
	if (seed)
		run->object.config->flow_seed = seed;
	error = gw_xdp_test_run_publish(run, setup->snapshot, why);
	if (error)
		gw_log_error("the snapshot cannot be put in force: %s", why);
	return error;
}

static int open_xdp(const struct path_setup *setup, const struct sink *wanted)
{
	int error;

	sink = *wanted;
	out = frames_alloc();
	if (!out)
		return -ENOMEM;
	error = program_open(&test_run, setup, 0, true);
	if (error || !setup->untraced)
		return error;
	untraced_out = malloc(REPLAY_FRAME_MAX);
	if (!untraced_out)
		return -ENOMEM;
	/* With the same seed both forget the same flows when their tables are full. */
	return program_open(&untraced, setup, test_run.object.config->flow_seed, false);
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

/* The program as production loads it, on the same frame: 0 when it does what the other did. */
static int untraced_check(
	const uint8_t *frame, size_t length, uint64_t now_ns, int action, size_t out_length)
{
	size_t untraced_length = REPLAY_FRAME_MAX;
	int other = gw_xdp_test_run_frame(
		&untraced, now_ns, frame, length, untraced_out, &untraced_length);

	if (other == action && untraced_length == out_length &&
		!memcmp(untraced_out, out[0].bytes, out_length))
		return 0;
	gw_log_error("without a trace the program does something else: XDP action %d and %zu "
		     "bytes, not %d and %zu, or other bytes",
		other, untraced_length, action, out_length);
	return -EPROTO;
}

static int run_xdp(uint64_t index, const uint8_t *frame, size_t length, uint64_t now_ns)
{
	const struct gw_xdp_trace *trace = test_run.object.trace;
	size_t out_length = REPLAY_FRAME_MAX;
	int action =
		gw_xdp_test_run_frame(&test_run, now_ns, frame, length, out[0].bytes, &out_length);
	struct fate fate;

	if (action < 0) {
		gw_log_error("test run of %zu bytes: %s%s", length, strerror(-action),
			action == -EINVAL && length > GW_XDP_TEST_RUN_PAGE
				? " (this kernel takes no frame of more than a page)"
				: "");
		return action;
	}
	fate = (struct fate){
		.verdict = trace->verdict,
		.reason = trace->reason,
		.service = trace->service,
		.backend = trace->backend,
		.hash = trace->hash,
		.slot = trace->slot,
		.flow = trace->flow,
		.out = out,
		.out_count = action == XDP_TX || action == XDP_REDIRECT,
	};
	if (!action_fits(action, fate.verdict)) {
		gw_log_error("the program says verdict %d, but returned XDP action %d",
			(int)fate.verdict, action);
		return -EPROTO;
	}
	if (untraced_out && untraced_check(frame, length, now_ns, action, out_length))
		return -EPROTO;
	out[0].length = out_length;
	sink.decided(sink.owner, index, &fate);
	return 0;
}

/* Nothing is ever held. */
static void finish_xdp(void)
{
}

static uint64_t flow_xdp(const struct gw_flow_key *key)
{
	const struct gw_xdp_config *config = test_run.object.config;
	struct gw_flow_place place = gw_flow_place(key, config->flow_seed, config->bucket_count);

	for (int i = 0; i < 2; i++) {
		const struct gw_flow_bucket *bucket = &test_run.object.flows[place.bucket];
		uint32_t at = gw_flow_find(bucket, place.tag);

		if (at < GW_FLOW_BUCKET_WORDS)
			return bucket->word[at];
		place.bucket = gw_flow_other_bucket(place.bucket, place.tag, config->bucket_count);
	}
	return GW_FLOW_EMPTY;
}

static int counters_xdp(struct gw_counters *counters)
{
	return gw_xdp_counters(&test_run.object, counters);
}

static void close_xdp(void)
{
	gw_xdp_test_run_close(&test_run);
	if (untraced_out)
		gw_xdp_test_run_close(&untraced);
	free(untraced_out);
	untraced_out = NULL;
	frames_free(out);
	out = NULL;
}

const struct path path_xdp = {
	"xdp", open_xdp, run_xdp, finish_xdp, flow_xdp, counters_xdp, close_xdp};
