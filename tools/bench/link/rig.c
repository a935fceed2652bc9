/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define REMOTE	       "tcp:"
#define PATIENCE_S     20 /* beyond what a trial takes by itself */
#define PRIME_PER_FLOW 20e-6
#define PRIME_PATIENCE 60
#define PORT_TEXT      96

int bench_rig_able(const struct bench_machine *machine, char message[BENCH_MESSAGE])
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -errno;
	if (CPU_COUNT(&allowed) >= 2)
		return 0;
	snprintf(message, BENCH_MESSAGE,
		"needs two cores, one to generate and one to balance; this process may use one");
	return -ENODEV;
}

/* Workers take the measured core and those after it; none of them may be the generator's. */
int bench_rig_cpus(
	const struct bench_machine *machine, uint32_t workers, char message[BENCH_MESSAGE])
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return -errno;
	for (uint32_t i = 0; i < workers; i++) {
		int cpu = machine->cpu + (int)i;

		if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed) && cpu != machine->generator_cpu)
			continue;
		snprintf(message, BENCH_MESSAGE,
			"%u workers from CPU %d on, and the generator on CPU %d: CPU %d is not "
			"there for it",
			workers, machine->cpu, machine->generator_cpu, cpu);
		return -ENOTSUP;
	}
	return 0;
}

static void fill_setup(struct bench_link_setup *setup, const struct bench_machine *machine,
	const struct bench_case *what)
{
	*setup = (struct bench_link_setup){.what = *what,
		.balancer_mac = BENCH_OUR_MAC,
		.cpu = machine->cpu,
		.main_cpu = machine->generator_cpu,
		.huge_pages = machine->huge_pages};
	snprintf(setup->encap, sizeof(setup->encap), "%s", what->encap);
	snprintf(setup->eal_args, sizeof(setup->eal_args), "%s",
		machine->eal_args ? machine->eal_args : "");
}

static int start(struct bench_rig *rig, struct bench_child *child, const char *word,
	const char *port, int cpu, struct bench_port_facts *facts, char message[BENCH_MESSAGE])
{
	rig->setup.cpu = cpu;
	if (snprintf(rig->setup.port, sizeof(rig->setup.port), "%s", port) >=
		(int)sizeof(rig->setup.port)) {
		snprintf(message, BENCH_MESSAGE, "port %.64s…: too long a name", port);
		return -EINVAL;
	}
	return bench_child_start(child, word, &rig->setup, facts, message);
}

/* What the generator's own port can say of frames that did not come back. */
static const char *port_text(const struct bench_generated *seen, char text[PORT_TEXT])
{
	if (!seen->port_sent)
		return "the generator's port does not count";
	snprintf(text, PORT_TEXT,
		"the generator's port counts %" PRIu64 " out, %" PRIu64 " in, %" PRIu64 " missed",
		seen->port_sent, seen->port_received, seen->port_missed);
	return text;
}

/* Of a balancer that is another's and cannot say what it did. */
static int prime_unasked(struct bench_rig *rig, double patience, char message[BENCH_MESSAGE])
{
	const struct bench_ask ask = {.kind = BENCH_ASK_PRIME};
	struct bench_answer answer;
	char port[PORT_TEXT];
	int error = bench_child_talk(&rig->generator, &ask, patience, &answer, message);

	/* With a rate it is a source of packets, whoever counts them. */
	if (error || answer.generated.received || rig->setup.what.rate)
		return error;
	snprintf(message, BENCH_MESSAGE,
		"nothing came back from the balancer: %" PRIu64 " frames sent, %s, %" PRIu64
		" of others. Does it have what --print-config says? "
		"(--rate N only sends)",
		answer.generated.sent, port_text(&answer.generated, port),
		answer.generated.foreign);
	return -EIO;
}

/* Every flow's first packets, so that what is measured are packets of established flows. */
static int prime(struct bench_rig *rig, char message[BENCH_MESSAGE])
{
	const struct bench_ask begin = {.kind = BENCH_ASK_START, .subject = BENCH_BALANCER};
	const struct bench_ask ask = {.kind = BENCH_ASK_PRIME};
	const struct bench_ask end = {.kind = BENCH_ASK_STOP};
	double patience = PRIME_PATIENCE +
			  ((double)rig->setup.what.flows + (double)rig->setup.what.table_flows) *
				  PRIME_PER_FLOW;
	struct bench_answer answer, counted;
	int error;

	if (rig->unasked)
		return prime_unasked(rig, patience, message);
	error = bench_child_talk(&rig->subject, &begin, PATIENCE_S, &answer, message);
	if (!error)
		error = bench_child_talk(&rig->generator, &ask, patience, &answer, message);
	if (!error)
		error = bench_child_talk(&rig->subject, &end, PATIENCE_S, &counted, message);
	if (error)
		return error;
	if (answer.generated.received)
		return 0;
	snprintf(message, BENCH_MESSAGE,
		"nothing came back from the balancer: %" PRIu64 " frames sent, %" PRIu64
		" reached it, it sent %" PRIu64 " (%s); %" PRIu64 " others' frames arrived",
		answer.generated.sent, counted.counted.rx, counted.counted.tx,
		counted.counted.note[0] ? counted.counted.note : "no drops",
		answer.generated.foreign);
	return -EIO;
}

static int open_ports(struct bench_rig *rig, const struct bench_machine *machine,
	const struct bench_case *what, const char *gen, const char *dut,
	char message[BENCH_MESSAGE])
{
	bool remote = strncmp(dut, REMOTE, sizeof(REMOTE) - 1) == 0;
	int error;

	*rig = (struct bench_rig){};
	fill_setup(&rig->setup, machine, what);
	rig->unasked = bench_mac_read(dut, rig->setup.balancer_mac);
	if (rig->unasked)
		error = 0;
	else if (remote)
		error = bench_child_connect(
			&rig->subject, dut + sizeof(REMOTE) - 1, &rig->setup, &rig->dut, message);
	else
		error = bench_rig_cpus(machine, what->workers, message);
	if (!error && !remote && !rig->unasked)
		error = start(
			rig, &rig->subject, BENCH_SUBJECT, dut, machine->cpu, &rig->dut, message);
	if (!error)
		error = start(rig, &rig->generator, BENCH_GENERATOR, gen, machine->generator_cpu,
			&rig->gen, message);
	return error;
}

int bench_rig_open(struct bench_rig *rig, const struct bench_machine *machine,
	const struct bench_case *what, const char *gen, const char *dut,
	char message[BENCH_MESSAGE])
{
	int error = open_ports(rig, machine, what, gen, dut, message);

	return error ? error : prime(rig, message);
}

int bench_rig_try(const struct bench_machine *machine, const struct bench_case *what,
	const char *gen, const char *dut, char message[BENCH_MESSAGE])
{
	struct bench_case small = *what;
	struct bench_rig rig;
	int error;

	small.flows = small.services;
	small.table_flows = 0;
	small.table_flows = bench_table_flows(&small);
	error = open_ports(&rig, machine, &small, gen, dut, message);
	bench_rig_close(&rig);
	return error;
}

void bench_rig_close(struct bench_rig *rig)
{
	bench_child_end(&rig->generator);
	bench_child_end(&rig->subject);
}

static void __attribute__((format(printf, 2, 3)))
add_note(struct bench_sample *sample, const char *format, ...)
{
	size_t used = strlen(sample->note);
	va_list arguments;

	if (used)
		used += (size_t)snprintf(sample->note + used, sizeof(sample->note) - used, ", ");
	if (used >= sizeof(sample->note))
		return;
	va_start(arguments, format);
	vsnprintf(sample->note + used, sizeof(sample->note) - used, format, arguments);
	va_end(arguments);
}

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Which frames a paced trial did not send, and where others were lost: before the subject, in it,
 * behind it. */
static void name_losses(struct bench_sample *sample, const struct bench_generated *seen,
	const struct bench_counted *counted)
{
	uint64_t before = above(seen->sent, counted->rx);
	uint64_t behind = above(counted->tx, seen->received);

	if (seen->never)
		add_note(sample, "never sent %" PRIu64, seen->never);
	if (!sample->lost)
		return;
	if (before)
		add_note(sample, "never received %" PRIu64, before);
	if (counted->note[0])
		add_note(sample, "%s", counted->note);
	if (behind)
		add_note(sample, "lost behind it %" PRIu64, behind);
	if (behind && seen->port_missed)
		add_note(
			sample, "of which the generator's port missed %" PRIu64, seen->port_missed);
}

static void fill_sample(struct bench_sample *sample, const struct bench_generated *seen,
	const struct bench_counted *counted)
{
	*sample = (struct bench_sample){.seconds = seen->seconds,
		.packets = seen->received,
		.offered = seen->sent,
		.lost = above(seen->sent, seen->received),
		.cycles = counted->busy_cycles,
		.sampled = seen->sampled,
		.wrong = seen->wrong,
		.swaps = counted->swaps,
		.flows_new = counted->flows_new,
		.untracked = counted->untracked,
		.remembered = counted->remembered,
		.counted_rx = counted->rx,
		.counted_tx = counted->tx,
		.counted_drops = counted->drops,
		.counted_other = counted->other};
	sample->has_latency = seen->timed > 0;
	sample->late = seen->late;
	sample->never_sent = seen->never;
	memcpy(sample->latency_ns, seen->latency_ns, sizeof(sample->latency_ns));
	sample->latency_max_ns = seen->latency_ns[BENCH_LATENCIES - 1];
	name_losses(sample, seen, counted);
}

/* Only the generator's word: what came back, and was right. */
static int trial_unasked(struct bench_rig *rig, const struct bench_ask *ask,
	struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	const struct bench_counted nothing = {};
	struct bench_answer seen;
	int error = bench_child_talk(
		&rig->generator, ask, ask->trial.seconds + PATIENCE_S, &seen, message);
	char port[PORT_TEXT];

	if (error)
		return error;
	fill_sample(sample, &seen.generated, &nothing);
	sample->unasked = true;
	if (sample->lost)
		snprintf(
			sample->note, sizeof(sample->note), "%s", port_text(&seen.generated, port));
	return 0;
}

int bench_rig_trial(struct bench_rig *rig, enum bench_subject subject,
	const struct bench_trial *trial, struct bench_sample *sample, char message[BENCH_MESSAGE])
{
	const struct bench_ask begin = {.kind = BENCH_ASK_START, .subject = subject};
	const struct bench_ask end = {.kind = BENCH_ASK_STOP};
	struct bench_ask ask = {.kind = BENCH_ASK_TRIAL, .subject = subject, .trial = *trial};
	struct bench_answer seen, counted;
	int error;

	if (rig->unasked && subject == BENCH_BOUND)
		return -ENODATA;
	if (rig->unasked)
		return trial_unasked(rig, &ask, sample, message);
	error = bench_child_talk(&rig->subject, &begin, PATIENCE_S, &seen, message);
	if (!error)
		error = bench_child_talk(
			&rig->generator, &ask, trial->seconds + PATIENCE_S, &seen, message);
	if (!error)
		error = bench_child_talk(&rig->subject, &end, PATIENCE_S, &counted, message);
	if (!error)
		fill_sample(sample, &seen.generated, &counted.counted);
	return error;
}

static json_t *describe_port(const struct bench_port_facts *facts)
{
	json_t *port = json_pack("{s:s, s:s}", "driver", facts->driver, "device", facts->device);

	if (facts->mbps)
		json_object_set_new(port, "mbps", json_integer(facts->mbps));
	return port;
}

void bench_rig_describe(const struct bench_rig *rig, json_t *machine)
{
	/* What is known is at this end. */
	const struct bench_port_facts *facts = rig->unasked ? &rig->gen : &rig->dut;
	const uint8_t *mac = rig->setup.balancer_mac;
	char text[24];

	json_object_set_new(machine, "driver", json_string(facts->driver));
	json_object_set_new(machine, "device", json_string(facts->device));
	if (rig->dut.is_virtual || rig->gen.is_virtual)
		json_object_set_new(machine, "synthetic", json_true());
	json_object_set_new(machine, "generator", describe_port(&rig->gen));
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		mac[3], mac[4], mac[5]);
	json_object_set_new(machine, "dut",
		rig->unasked ? json_pack("{s:s}", "mac", text) : describe_port(&rig->dut));
}
