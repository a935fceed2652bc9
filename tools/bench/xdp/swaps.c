/* SPDX-License-Identifier: BSD-2-Clause */
/* The publisher at work beside a measurement: two builds in turn, as control puts them in force. */
#include "balancer.h"
#include "control/builder.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000l

/* Any CPU but the measured one; with one CPU there is no choice. */
static void leave_cpu(int measured)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	CPU_ZERO(&set);
	for (long i = 0; i < sysconf(_SC_NPROCESSORS_CONF) && i < CPU_SETSIZE; i++)
		if (i != measured)
			CPU_SET((size_t)i, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void add_ns(struct timespec *time, long ns)
{
	time->tv_nsec += ns;
	while (time->tv_nsec >= NS_PER_SECOND) {
		time->tv_nsec -= NS_PER_SECOND;
		time->tv_sec++;
	}
}

static int swap(struct xdp_balancer *balancer)
{
	char why[GW_XDP_WHY] = "";
	int error = xdp_balancer_publish(balancer, balancer->builds[balancer->version % 2], why);

	if (error)
		return error;
	xdp_balancer_beat(balancer);
	return 0;
}

/* In the order of the calendar, not after the last: what one swap is late by, the next catches up.
 */
static void *run(void *argument)
{
	struct xdp_balancer *balancer = argument;
	struct xdp_swaps *swaps = &balancer->swaps;
	struct timespec next;

	leave_cpu(balancer->cpu);
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!__atomic_load_n(&swaps->stop, __ATOMIC_ACQUIRE)) {
		swaps->error = swap(balancer);
		if (swaps->error)
			return NULL;
		__atomic_add_fetch(&swaps->done, 1, __ATOMIC_RELEASE);
		add_ns(&next, NS_PER_SECOND / (long)swaps->per_second);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	return NULL;
}

int xdp_swaps_start(struct xdp_balancer *balancer)
{
	struct xdp_swaps *swaps = &balancer->swaps;
	int error;

	if (!swaps->per_second || swaps->held)
		return 0;
	swaps->stop = false;
	swaps->done = 0;
	swaps->error = 0;
	error = pthread_create(&swaps->thread, NULL, run, balancer);
	swaps->running = !error;
	return -error;
}

int64_t xdp_swaps_stop(struct xdp_balancer *balancer)
{
	struct xdp_swaps *swaps = &balancer->swaps;

	if (!swaps->running)
		return 0;
	__atomic_store_n(&swaps->stop, true, __ATOMIC_RELEASE);
	pthread_join(swaps->thread, NULL);
	swaps->running = false;
	return swaps->error ? swaps->error : (int64_t)swaps->done;
}
