/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A generator and a subject on the two ends of one wire (ends/wire.h): what link and nic have in
 * common. One thread.
 */
#pragma once

#include "child.h"

#include <signal.h>

struct bench_rig {
	struct bench_link_setup setup;
	struct bench_child generator, subject;
	struct bench_port_facts gen, dut;
	bool unasked; /* the balancer is another's: there is no subject to ask */
};

/*
 * Both ports as --gen and --dut have them; a dut of "tcp:ADDRESS:PORT" is the one of
 * guideway-bench --listen on another host, and a MAC address is a balancer's that nobody can ask:
 * then a sample has only what came back, and there is no bound. 0 or -errno with a message; then
 * close it all the same.
 */
int bench_rig_open(struct bench_rig *rig, const struct bench_machine *machine,
	const struct bench_case *what, const char *gen, const char *dut,
	char message[BENCH_MESSAGE]);
void bench_rig_close(struct bench_rig *rig);
/* As far as both ports are open, without a packet; closes it again. 0 or -errno with a message. */
int bench_rig_try(const struct bench_machine *machine, const struct bench_case *what,
	const char *gen, const char *dut, char message[BENCH_MESSAGE]);

/*
 * One trial of one subject. `sample` is written but for its latencies when they were not measured.
 * 0, also when frames were lost, or -errno with a message.
 */
int bench_rig_trial(struct bench_rig *rig, enum bench_subject subject,
	const struct bench_trial *trial, struct bench_sample *sample, char message[BENCH_MESSAGE]);

/* Are there as many cores for workers as a case wants? 0 or -ENOTSUP with a message. */
int bench_rig_cpus(
	const struct bench_machine *machine, uint32_t workers, char message[BENCH_MESSAGE]);

/* Can this machine have two ends of a wire? As a runner's `able`. */
int bench_rig_able(const struct bench_machine *machine, char message[BENCH_MESSAGE]);

/*
 * The other half of a nic between two hosts: opens `machine->dut` for whoever connects to the
 * address, one at a time, until *stop. 0 or -errno with a message.
 */
int bench_nic_serve(const struct bench_machine *machine, const char *address,
	const volatile sig_atomic_t *stop, char message[BENCH_MESSAGE]);

/* Puts both ports into what the runner says of itself. */
void bench_rig_describe(const struct bench_rig *rig, json_t *machine);
