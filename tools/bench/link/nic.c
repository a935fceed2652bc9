/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dpdk/nic: a generator on one real port, the balancer on another, and the search for the highest
 * rate without loss between them (search.h). A measurement is a whole search, each trial of it as
 * long as --seconds says: RFC 2544 asks for 60 s.
 *
 * The first trial sends all that the generator's port takes, which is at most the line rate; the
 * search goes on below what that one offered. With a load, `open` searches, and a measurement is
 * one trial at that share of the balancer's highest rate, for latency; with a rate, one at that.
 */
#include "rig.h"
#include "search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOLUTION     0.01 /* unless --resolution says otherwise */
#define LOAD_TRIAL_S   1.0
#define IMIX_CYCLE     12
#define CHECK_SEQUENCE 4

struct nic {
	struct bench_rig rig;
	const struct bench_machine *machine;
	struct bench_search_rule rule; /* `highest` as the first trial finds it */
	uint64_t fixed_rate;	       /* of a case with a load or a rate; 0: search */
	uint32_t idle_us;
	uint64_t line_rate; /* 0: not known */
	double best[2];	    /* frames a second, of each subject; 0: none yet */
};

static void tell(const struct nic *nic, enum bench_subject subject, double seconds,
	const struct bench_sample *sample, const struct bench_search *search)
{
	double rate = seconds > 0 ? (double)sample->offered / seconds : 0;
	char text[BENCH_MESSAGE];

	if (!nic->machine->tell)
		return;
	snprintf(text, sizeof(text),
		"%s, trial %u: %.4f Mpps, lost %" PRIu64 " of %" PRIu64 "%s%s%s; passed so "
		"far: %.4f Mpps",
		subject == BENCH_BALANCER ? "balancer" : "bound", search->trials, rate / 1e6,
		sample->lost, sample->offered, sample->note[0] ? " (" : "", sample->note,
		sample->note[0] ? ")" : "", (double)search->passed / 1e6);
	nic->machine->tell(nic->machine->tell_owner, text);
}

/* One trial, and what it says to the search. */
static int take_trial(struct nic *nic, enum bench_subject subject, double seconds,
	struct bench_search *search, struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	const struct bench_trial trial = {
		.seconds = seconds, .rate = search->rule.highest == UINT64_MAX ? 0 : search->rate};
	int error = bench_rig_trial(&nic->rig, subject, &trial, sample, message);

	if (error)
		return error;
	if (sample->wrong) {
		snprintf(message, BENCH_MESSAGE,
			"%" PRIu64 " of %" PRIu64 " frames looked at were wrong", sample->wrong,
			sample->sampled);
		return -EBADMSG;
	}
	/* The highest there can be is what this one offered. */
	if (search->rule.highest == UINT64_MAX) {
		search->rule.highest = (uint64_t)((double)sample->offered / seconds);
		search->rate = search->rule.highest ? search->rule.highest : 1;
	}
	bench_search_trial(search, sample->offered, sample->lost);
	tell(nic, subject, seconds, sample, search);
	return 0;
}

/* A whole search; `sample` is the trial at the highest rate that passed, or the last that lost. */
static int find_highest(struct nic *nic, enum bench_subject subject, double seconds,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	struct bench_search_rule rule = nic->rule;
	struct bench_search search;

	rule.highest = UINT64_MAX;
	bench_search_begin(&search, &rule);
	nic->best[subject] = 0;
	while (search.rate) {
		struct bench_sample trial;
		uint64_t passed = search.passed;
		int error = take_trial(nic, subject, seconds, &search, &trial, message);

		if (error)
			return error;
		if (search.passed > passed || !search.passed)
			*sample = trial;
	}
	if (search.passed && sample->seconds > 0)
		nic->best[subject] = (double)sample->packets / sample->seconds;
	return 0;
}

/* Bytes of a frame on the wire, check sequence included. */
static double average_size(const struct bench_case *what)
{
	struct bench_frames frames = {.what = what};
	uint32_t sum = 0;

	for (uint32_t i = 0; i < IMIX_CYCLE; i++)
		sum += bench_frame_length(&frames, i) + CHECK_SEQUENCE;
	return (double)sum / IMIX_CYCLE;
}

static int open_ports(struct nic *nic, const struct bench_machine *machine,
	const struct bench_case *what, char message[BENCH_MESSAGE])
{
	struct bench_sample sample = {};
	int error;

	if (!machine->gen || !machine->dut) {
		snprintf(message, BENCH_MESSAGE, "needs --gen PORT and --dut");
		return -EINVAL;
	}
	error = bench_rig_open(&nic->rig, machine, what, machine->gen, machine->dut, message);
	if (error)
		return error;
	nic->line_rate = bench_line_rate(nic->rig.gen.mbps, average_size(what));
	nic->fixed_rate = what->rate;
	if (what->load > 0) {
		error = find_highest(nic, BENCH_BALANCER, LOAD_TRIAL_S, &sample, message);
		nic->fixed_rate = (uint64_t)(what->load * nic->best[BENCH_BALANCER]);
		if (!error && !nic->fixed_rate) {
			snprintf(message, BENCH_MESSAGE,
				"no rate without loss was found that a load could be a share of");
			return -EIO;
		}
	}
	return error;
}

/* Cores and the like are a case's own matter. */
static int try_ports_nic(const struct bench_machine *machine, const struct bench_case *what,
	char message[BENCH_MESSAGE])
{
	int error = bench_rig_try(machine, what, machine->gen, machine->dut, message);

	return error == -ENOTSUP ? 0 : error;
}

static int open_nic(const struct bench_machine *machine, const struct bench_case *what,
	void **state, char message[BENCH_MESSAGE])
{
	struct nic *nic = calloc(1, sizeof(*nic));
	int error;

	if (!nic)
		return -ENOMEM;
	nic->machine = machine;
	nic->idle_us = what->idle_us;
	nic->rule = (struct bench_search_rule){.repeats = machine->repeats,
		.resolution = machine->resolution > 0 ? machine->resolution : RESOLUTION};
	error = open_ports(nic, machine, what, message);
	if (error) {
		bench_rig_close(&nic->rig);
		free(nic);
		return error;
	}
	*state = nic;
	return 0;
}

static int measure_nic(void *state, enum bench_subject subject, double seconds,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	struct nic *nic = state;
	struct bench_trial trial = {
		.seconds = seconds, .rate = nic->fixed_rate, .idle_us = nic->idle_us};

	if (nic->fixed_rate || nic->idle_us)
		return bench_rig_trial(&nic->rig, subject, &trial, sample, message);
	return find_highest(nic, subject, seconds, sample, message);
}

static void close_nic(void *state)
{
	struct nic *nic = state;

	if (!nic)
		return;
	bench_rig_close(&nic->rig);
	free(nic);
}

static void describe_nic(void *state, json_t *machine, json_t *found)
{
	const struct nic *nic = state;

	bench_rig_describe(&nic->rig, machine);
	json_object_set_new(machine, "repeats", json_integer(nic->rule.repeats));
	json_object_set_new(machine, "resolution", json_real(nic->rule.resolution));
	if (!nic->line_rate)
		return;
	json_object_set_new(found, "line_rate_mpps", json_real((double)nic->line_rate / 1e6));
	if (nic->best[BENCH_BALANCER] > 0)
		json_object_set_new(found, "percent_of_line_rate",
			json_real(100 * nic->best[BENCH_BALANCER] / (double)nic->line_rate));
}

const struct bench_runner bench_dpdk_nic = {
	.path = "dpdk",
	.mode = "nic",
	.what = "a generator on one port, the balancer on another; the highest rate without loss, "
		"by RFC 2544's search",
	.bound = "receive, swap MACs, send, by the same process on the same port",
	.primed = true,
	.able = bench_rig_able,
	.try_ports = try_ports_nic,
	.open = open_nic,
	.measure = measure_nic,
	.close = close_nic,
	.describe = describe_nic,
};
