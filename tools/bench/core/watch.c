/* SPDX-License-Identifier: BSD-2-Clause */
#include "watch.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, TIMES };

/* The ticks of one CPU's line; false: there is none. */
static bool ticks_read(int cpu, uint64_t ticks[static TIMES])
{
	char name[16], line[512];
	FILE *file = fopen("/proc/stat", "re");
	bool found = false;

	if (!file)
		return false;
	snprintf(name, sizeof(name), "cpu%d ", cpu);
	while (!found && fgets(line, sizeof(line), file)) {
		char *at = line + strlen(name);

		if (strncmp(line, name, strlen(name)))
			continue;
		for (int i = 0; i < TIMES; i++)
			ticks[i] = strtoull(at, &at, 10);
		found = true;
	}
	fclose(file);
	return found;
}

static uint64_t ticks_sum(const uint64_t ticks[static TIMES])
{
	uint64_t sum = 0;

	for (int i = 0; i < TIMES; i++)
		sum += ticks[i];
	return sum;
}

/* The other thread of the core: "0,4" or "0-1" names both. */
static int sibling_of(int cpu)
{
	char path[96], line[64] = "";
	int first, second, found = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
		cpu);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fgets(line, sizeof(line), file) && sscanf(line, "%d%*[,-]%d", &first, &second) == 2)
		found = first == cpu ? second : first;
	fclose(file);
	return found;
}

static uint64_t preempted_now(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : (uint64_t)usage.ru_nivcsw;
}

void watch_begin(struct watch *watch, int cpu)
{
	uint64_t ticks[TIMES];

	*watch = (struct watch){.cpu = cpu, .sibling = sibling_of(cpu)};
	if (ticks_read(cpu, ticks)) {
		watch->total = ticks_sum(ticks);
		watch->steal = ticks[STEAL];
	}
	if (watch->sibling >= 0 && ticks_read(watch->sibling, ticks)) {
		watch->sibling_total = ticks_sum(ticks);
		watch->sibling_idle = ticks[IDLE] + ticks[IOWAIT];
	}
	watch->preempted = preempted_now();
}

void watch_end(struct watch *watch)
{
	uint64_t ticks[TIMES], total;

	watch->preempted = preempted_now() - watch->preempted;
	if (ticks_read(watch->cpu, ticks) && (total = ticks_sum(ticks) - watch->total))
		watch->steal_share = (double)(ticks[STEAL] - watch->steal) / (double)total;
	if (watch->sibling >= 0 && ticks_read(watch->sibling, ticks) &&
		(total = ticks_sum(ticks) - watch->sibling_total))
		watch->sibling_busy =
			1 -
			(double)(ticks[IDLE] + ticks[IOWAIT] - watch->sibling_idle) / (double)total;
}
