/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader must know of the machine to believe a figure, and what on it makes figures
 * unreliable. Read once, before anything is measured.
 */
#pragma once

#include "bench.h"
#include "measure.h"

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

struct machine {
	char cpu_model[96];
	char kernel[128];
	char governor[32]; /* of the measured core; empty: no frequency scaling to be seen */
	char isolated[128], nohz_full[128]; /* lists of CPUs, may be empty */
	int cores;			    /* online, threads counted */
	int turbo;			    /* 1 on, 0 off, -1 not known */
	int bpf_jit;			    /* net.core.bpf_jit_enable; -1 not known */
	int bpf_stats;			    /* kernel.bpf_stats_enabled; -1 not known */
	bool hypervisor;
	uint64_t huge_free; /* bytes */
	double tsc_hz;	    /* 0: not known */
	double load;	    /* of the last minute */
	bool measured_isolated;
	bool autogroup_plain;	/* sched_autogroup_enabled, and this process's is not preferred */
	int cpu, generator_cpu; /* those that will be used */
};

/* isolcpus takes CPUs out of every process's set at boot; to measure on one it has to be in. */
void machine_cpus_widen(void);

/* `cpu` and `generator_cpu` as the options give them, -1: choose one. */
void machine_read(struct machine *machine, int cpu, int generator_cpu);
/* Compiler and version of the program too. The caller's; NULL without memory. */
json_t *machine_json(const struct machine *machine);

/* Is the CPU in a list as the kernel writes it, "0-3,8"? */
bool machine_list_has(const char *list, int cpu);

/* One line each, as told to `warn`. Of the machine, for these runners' paths … */
typedef void machine_warning(void *owner, const char *text);
void machine_warn(const struct machine *machine, bool dpdk, bool xdp, bool huge_pages,
	machine_warning *warn, void *owner);
/* … and of one measurement: what happened meanwhile. */
void measurement_warn(const struct measurement *measurement, machine_warning *warn, void *owner);
