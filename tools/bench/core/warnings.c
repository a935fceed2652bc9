/* SPDX-License-Identifier: BSD-2-Clause */
/* What makes a figure unreliable, in words that say what to do about it. */
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STEAL_MUCH     0.005
#define SIBLING_MUCH   0.05
#define NEW_MUCH       0.02
#define UNTRACKED_MUCH 0.02
#define BOUND_SLOW     1.1  /* over the balancer: that is no bound */
#define SLOWED_MUCH    0.10 /* of the measurements */
#define SPREAD_MUCH    0.10 /* between the rounds of one figure */
#define PREEMPTED_MUCH 10   /* a second would be the scheduler's tick on an idle machine */

#ifdef __has_feature
#	if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#		define BUILT_WITH_SANITIZER 1
#	endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#	define BUILT_WITH_SANITIZER 1
#endif
#ifndef BUILT_WITH_SANITIZER
#	define BUILT_WITH_SANITIZER 0
#endif

#ifdef __OPTIMIZE__
#	define BUILT_OPTIMIZED 1
#else
#	define BUILT_OPTIMIZED 0
#endif

static void warn_of_frequency(
	const struct machine *machine, machine_warning *warn, void *owner, char *text, size_t size)
{
	if (machine->governor[0] && strcmp(machine->governor, "performance")) {
		snprintf(text, size,
			"frequency scaling: CPU %d's governor is %s (cpupower frequency-set -g "
			"performance)",
			machine->cpu, machine->governor);
		warn(owner, text);
	}
	if (machine->turbo == 1)
		warn(owner,
			"turbo is on: the clock depends on what the other cores do (write 1 to "
			"/sys/devices/system/cpu/intel_pstate/no_turbo, or 0 to cpufreq/boost)");
	if (machine->hypervisor)
		warn(owner, "hypervisor: a virtual machine shares its cores, caches and clock with "
			    "others");
}

static void warn_of_core(
	const struct machine *machine, machine_warning *warn, void *owner, char *text, size_t size)
{
	if (!machine->measured_isolated) {
		snprintf(text, size,
			"isolation: CPU %d is neither in isolcpus nor in nohz_full, others may run "
			"on it",
			machine->cpu);
		warn(owner, text);
	}
	if (machine->cpu == machine->generator_cpu) {
		snprintf(text, size,
			"CPU %d is measured and does all else as well: there is no other for this "
			"process",
			machine->cpu);
		warn(owner, text);
	}
	if (machine->load > 0.5 * machine->cores) {
		snprintf(text, size, "other work: the load average is %.1f on %d cores",
			machine->load, machine->cores);
		warn(owner, text);
		if (machine->autogroup_plain)
			warn(owner, "autogroup: other sessions' work has an equal share whatever "
				    "nice says (setsid, then write -19 to /proc/self/autogroup)");
	}
}

void machine_warn(const struct machine *machine, bool dpdk, bool xdp, bool huge_pages,
	machine_warning *warn, void *owner)
{
	char text[BENCH_MESSAGE];

	warn_of_frequency(machine, warn, owner, text, sizeof(text));
	warn_of_core(machine, warn, owner, text, sizeof(text));
	if (dpdk && !huge_pages)
		warn(owner,
			"no huge pages: each access to the flow table and the frames may cost a "
			"TLB miss (--huge N reserves some for the run)");
	if (xdp && !machine->bpf_jit)
		warn(owner, "BPF's JIT is off: eBPF is interpreted (sysctl "
			    "net.core.bpf_jit_enable=1)");
	if (xdp && machine->bpf_stats > 0)
		warn(owner, "kernel.bpf_stats_enabled is on: each run of an eBPF program is timed");
	if (BUILT_WITH_SANITIZER)
		warn(owner, "this build has a sanitizer: its figures mean nothing");
	else if (!BUILT_OPTIMIZED)
		warn(owner, "this build is not optimized (meson setup --buildtype=release)");
}

void measurement_warn(const struct measurement *measurement, machine_warning *warn, void *owner)
{
	const struct spread *ns = &measurement->ns;
	char text[BENCH_MESSAGE];

	if (measurement->what && measurement->what->asked_size) {
		snprintf(text, sizeof(text),
			"--size %u: the shortest frame with TCP over IPv6 has %u bytes, and was "
			"sent",
			measurement->what->asked_size, measurement->what->packet_size);
		warn(owner, text);
	}
	if (measurement->unasked)
		warn(owner,
			"the balancer could not be asked for its counters, and there is no bound: "
			"this is what came back and was right");
	if (measurement->steal_share > STEAL_MUCH) {
		snprintf(text, sizeof(text), "steal: the hypervisor took %.1f%% of the core's time",
			measurement->steal_share * 100);
		warn(owner, text);
	}
	if (measurement->sibling_busy > SIBLING_MUCH) {
		snprintf(text, sizeof(text), "the core's other thread was %.0f%% busy",
			measurement->sibling_busy * 100);
		warn(owner, text);
	}
	if ((double)measurement->slowed > SLOWED_MUCH * (double)measurement->samples) {
		snprintf(text, sizeof(text),
			"the core was slowed from outside in %.0f%% of the measurements (--steady "
			"N "
			"takes them again)",
			(double)measurement->slowed / (double)measurement->samples * 100);
		warn(owner, text);
	}
	if (measurement->preempted > PREEMPTED_MUCH) {
		snprintf(text, sizeof(text), "it was interrupted %" PRIu64 " times by other tasks",
			measurement->preempted);
		warn(owner, text);
	}
	if (measurement->what && measurement->what->new_share == 0 &&
		(double)measurement->flows_new > NEW_MUCH * (double)measurement->packets) {
		snprintf(text, sizeof(text),
			"%.1f%% of the packets opened a flow, though all should be known: is the "
			"flow table too small for them?",
			(double)measurement->flows_new / (double)measurement->packets * 100);
		warn(owner, text);
	}
	if ((double)measurement->untracked > UNTRACKED_MUCH * (double)measurement->packets) {
		snprintf(text, sizeof(text),
			"%.1f%% of the packets went untracked: the flow table had no room for "
			"their flows",
			(double)measurement->untracked / (double)measurement->packets * 100);
		warn(owner, text);
	}
	if (measurement->outcome == OUTCOME_FIGURE &&
		measurement->bound_ns.median > BOUND_SLOW * ns->median) {
		snprintf(text, sizeof(text),
			"the bound took %.1f times as long as the balancer, which does more: other "
			"work disturbed it",
			measurement->bound_ns.median / ns->median);
		warn(owner, text);
	}
	if (measurement->outcome == OUTCOME_FIGURE &&
		ns->max - ns->min > SPREAD_MUCH * ns->median) {
		snprintf(text, sizeof(text), "rounds differ by %.0f%% of the median",
			(ns->max - ns->min) / ns->median * 100);
		warn(owner, text);
	}
}
