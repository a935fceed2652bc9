/* SPDX-License-Identifier: BSD-2-Clause */
#include "machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#ifdef __x86_64__
#	include <x86intrin.h>
#endif

#define CALIBRATE_NS 20000000

#define CPU_FOLDER "/sys/devices/system/cpu"
#define HUGE	   "/sys/kernel/mm/hugepages/hugepages-"

/* The first line of a file, without its end; empty when it cannot be read. */
static void line_read(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	line[0] = '\0';
	if (!file)
		return;
	if (fgets(line, (int)size, file))
		line[strcspn(line, "\n")] = '\0';
	else
		line[0] = '\0';
	fclose(file);
}

static long long number_read(const char *path, long long otherwise)
{
	char line[32];
	char *end;
	long long number;

	line_read(path, line, sizeof(line));
	number = strtoll(line, &end, 10);
	return end == line ? otherwise : number;
}

bool machine_list_has(const char *list, int cpu)
{
	while (*list) {
		char *end;
		long low = strtol(list, &end, 10), high = low;

		if (end == list)
			return false;
		if (*end == '-')
			high = strtol(end + 1, &end, 10);
		if (cpu >= low && cpu <= high)
			return true;
		list = *end == ',' ? end + 1 : end + strlen(end);
	}
	return false;
}

/* "model name" and whether the flags have "hypervisor". */
static void cpu_read(struct machine *machine)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[4096];

	snprintf(machine->cpu_model, sizeof(machine->cpu_model), "unknown CPU");
	while (file && fgets(line, sizeof(line), file) && line[0] != '\n') {
		char *value = strchr(line, ':');

		if (!value)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "model name", 10))
			snprintf(
				machine->cpu_model, sizeof(machine->cpu_model), "%.90s", value + 2);
		else if (!strncmp(line, "flags", 5))
			machine->hypervisor = strstr(value, " hypervisor");
	}
	if (file)
		fclose(file);
}

static double tsc_measure(void)
{
#ifdef __x86_64__
	struct timespec begin, now;
	uint64_t ticks = __rdtsc();
	int64_t ns;

	clock_gettime(CLOCK_MONOTONIC_RAW, &begin);
	do {
		clock_gettime(CLOCK_MONOTONIC_RAW, &now);
		ns = (now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec;
	} while (ns < CALIBRATE_NS);
	return (double)(__rdtsc() - ticks) * 1e9 / (double)ns;
#else
	return 0;
#endif
}

static uint64_t huge_free(void)
{
	long long small = number_read(HUGE "2048kB/free_hugepages", 0);
	long long large = number_read(HUGE "1048576kB/free_hugepages", 0);

	return ((uint64_t)small << 21) + ((uint64_t)large << 30);
}

static int turbo_read(void)
{
	long long off = number_read(CPU_FOLDER "/intel_pstate/no_turbo", -1);

	if (off >= 0)
		return !off;
	return (int)number_read(CPU_FOLDER "/cpufreq/boost", -1);
}

void machine_cpus_widen(void)
{
	char isolated[128];
	cpu_set_t wanted;

	line_read(CPU_FOLDER "/isolated", isolated, sizeof(isolated));
	if (!isolated[0] || sched_getaffinity(0, sizeof(wanted), &wanted))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (machine_list_has(isolated, cpu))
			CPU_SET(cpu, &wanted);
	/* Refused in a container that must not have them: then it stays as it is. */
	sched_setaffinity(0, sizeof(wanted), &wanted);
}

/* The measured core: an isolated one, else the last that this process may have. */
static int cpu_choose(const struct machine *machine, int other)
{
	int best = -1;
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return machine->cores - 1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed) || cpu == other)
			continue;
		best = cpu;
		if (machine_list_has(machine->isolated, cpu))
			break;
	}
	return best >= 0 ? best : other;
}

/* The generator's: the first other one. */
static int generator_choose(int measured)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return measured;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && cpu != measured)
			return cpu;
	return measured;
}

/* With autogroup, nice values count only among the processes of one session. */
static bool autogroup_plain(void)
{
	char line[64];
	int nice;

	if (number_read("/proc/sys/kernel/sched_autogroup_enabled", 0) != 1)
		return false;
	line_read("/proc/self/autogroup", line, sizeof(line)); /* "/autogroup-12 nice 0" */
	return sscanf(line, "/autogroup-%*d nice %d", &nice) == 1 && nice >= 0;
}

void machine_read(struct machine *machine, int cpu, int generator_cpu)
{
	char path[96];
	struct utsname name;

	*machine = (struct machine){.cores = (int)sysconf(_SC_NPROCESSORS_ONLN)};
	cpu_read(machine);
	if (!uname(&name))
		snprintf(machine->kernel, sizeof(machine->kernel), "%.10s %.100s", name.sysname,
			name.release);
	line_read(CPU_FOLDER "/isolated", machine->isolated, sizeof(machine->isolated));
	line_read(CPU_FOLDER "/nohz_full", machine->nohz_full, sizeof(machine->nohz_full));
	if (!strcmp(machine->nohz_full, "(null)")) /* the kernel's word for none */
		machine->nohz_full[0] = '\0';
	machine->turbo = turbo_read();
	machine->bpf_jit = (int)number_read("/proc/sys/net/core/bpf_jit_enable", -1);
	machine->bpf_stats = (int)number_read("/proc/sys/kernel/bpf_stats_enabled", -1);
	machine->huge_free = huge_free();
	machine->tsc_hz = tsc_measure();
	if (getloadavg(&machine->load, 1) != 1)
		machine->load = 0;
	machine->cpu = cpu >= 0 ? cpu : cpu_choose(machine, generator_cpu);
	machine->generator_cpu =
		generator_cpu >= 0 ? generator_cpu : generator_choose(machine->cpu);
	machine->measured_isolated = machine_list_has(machine->isolated, machine->cpu) ||
				     machine_list_has(machine->nohz_full, machine->cpu);
	machine->autogroup_plain = autogroup_plain();
	snprintf(path, sizeof(path), CPU_FOLDER "/cpu%d/cpufreq/scaling_governor", machine->cpu);
	line_read(path, machine->governor, sizeof(machine->governor));
}

json_t *machine_json(const struct machine *machine)
{
#ifdef __clang__
	static const char compiler[] = __VERSION__;
#else
	static const char compiler[] = "gcc " __VERSION__;
#endif
	json_t *json = json_pack("{s:s, s:s, s:i, s:s, s:s, s:f, s:i, s:i, s:b, s:s, s:s, s:I}",
		"version", GW_VERSION, "cpu", machine->cpu_model, "cores", machine->cores, "kernel",
		machine->kernel, "compiler", compiler, "tsc_ghz", machine->tsc_hz * 1e-9,
		"measured_cpu", machine->cpu, "generator_cpu", machine->generator_cpu, "hypervisor",
		machine->hypervisor, "isolated_cpus", machine->isolated, "nohz_full_cpus",
		machine->nohz_full, "huge_pages_free_bytes", (json_int_t)machine->huge_free);

	if (!json)
		return NULL;
	json_object_set_new(json, "governor",
		machine->governor[0] ? json_string(machine->governor) : json_null());
	json_object_set_new(
		json, "turbo", machine->turbo < 0 ? json_null() : json_boolean(machine->turbo));
	json_object_set_new(json, "bpf_jit",
		machine->bpf_jit < 0 ? json_null() : json_boolean(machine->bpf_jit));
	return json;
}
