/* SPDX-License-Identifier: BSD-2-Clause */
#include "process.h"

#include "base/log.h"
#include "base/notify.h"
#include "base/privileges.h"

#include <rte_eal.h>

#include <linux/capability.h>
#include <string.h>

/* Sockets of AF_XDP and AF_PACKET, taps, next hops; maps of the steering program; locked memory. */
#define WORK                                                                                       \
	(GW_CAPABILITY(CAP_NET_ADMIN) | GW_CAPABILITY(CAP_NET_RAW) | GW_CAPABILITY(CAP_BPF) |      \
		GW_CAPABILITY(CAP_IPC_LOCK))
/*
 * Opening the steering program's maps by their ids and reading physical addresses
 * (CAP_SYS_ADMIN), I/O ports of old devices, loading programs, raising limits, placing threads.
 */
#define START                                                                                      \
	(WORK | GW_CAPABILITY(CAP_SYS_ADMIN) | GW_CAPABILITY(CAP_SYS_RAWIO) |                      \
		GW_CAPABILITY(CAP_PERFMON) | GW_CAPABILITY(CAP_SYS_RESOURCE) |                     \
		GW_CAPABILITY(CAP_SYS_NICE))

#define LOOKS_SAID 5 /* a worker that stands still so many seconds is worth a line */

int gw_process_restrict(void)
{
	int error = gw_privileges_keep(START);

	if (error)
		gw_log_error("cannot give up privileges: %s", strerror(-error));
	return error;
}

int gw_process_started(void)
{
	bool physical = rte_eal_iova_mode() == RTE_IOVA_PA;
	int error = gw_privileges_keep(physical ? WORK | GW_CAPABILITY(CAP_SYS_ADMIN) : WORK);

	if (error)
		gw_log_error("cannot give up the privileges of the start: %s", strerror(-error));
	return error;
}

void gw_process_ready(struct gw_process *process, const char *status)
{
	process->watched = gw_notify_watchdog_ms() != 0;
	gw_notify_warn(gw_notify("READY=1\nSTATUS=%s", status));
}

/* A loop's end adds cycles; sleeping ones wake at least every few milliseconds. */
static int worker_stuck(struct gw_process *process, const struct gw_engine *engine)
{
	int stuck = -1;

	for (uint16_t i = 0; i < engine->worker_count; i++) {
		uint64_t cycles =
			__atomic_load_n(&engine->worker[i]->stats.total_cycles, __ATOMIC_RELAXED);

		if (cycles == process->cycles[i])
			stuck = i;
		process->cycles[i] = cycles;
	}
	return stuck;
}

void gw_process_tick(struct gw_process *process, const struct gw_engine *engine)
{
	int stuck;

	if (!process->watched)
		return;
	stuck = worker_stuck(process, engine);
	process->stuck = stuck < 0 ? 0 : process->stuck + 1;
	if (process->stuck == LOOKS_SAID)
		gw_log_error("the worker on CPU %u stands still: the watchdog is not fed",
			engine->worker[stuck]->cpu);
	if (stuck < 0)
		gw_notify_warn(gw_notify("WATCHDOG=1"));
}

void gw_process_stopping(void)
{
	gw_notify_warn(gw_notify("STOPPING=1\nSTATUS=ending"));
}
