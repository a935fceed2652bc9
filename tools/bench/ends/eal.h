/* SPDX-License-Identifier: BSD-2-Clause */
/* What both children of link and nic (ends/wire.h) do first: start DPDK, find their port. */
#pragma once

#include "wire.h"

/*
 * Starts EAL for setup->port with one lcore for the main thread on `main_cpu` and `workers` more
 * from setup->cpu upwards (lcores 1, 2, …), and `megabytes` of memory where there are no huge
 * pages. Writes the name by which DPDK knows the port. 0 or -errno with a message.
 */
int bench_eal_start(const struct bench_link_setup *setup, const char *role, int main_cpu,
	uint32_t workers, uint64_t megabytes, char name[BENCH_PORT_TEXT],
	char message[BENCH_MESSAGE]);

/*
 * Frames of the case, encapsulated, must pass: raises the port's MTU where it is lower than that,
 * and writes the one that it had, for bench_port_restore (0: it was high enough, or the driver
 * knows none). Before the port starts. 0, or -errno with a message.
 */
int bench_port_widen(uint16_t ethdev, const struct bench_case *what, uint16_t *before,
	char message[BENCH_MESSAGE]);
void bench_port_restore(uint16_t ethdev, uint16_t mtu); /* 0: nothing to do */

/* Waits until the port has a link, at most some seconds; false when it has none then. */
bool bench_port_wait(uint16_t ethdev);

/* Driver, device and speed; the port has been started. */
void bench_port_describe(uint16_t ethdev, struct bench_port_facts *facts);
