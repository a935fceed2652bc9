/* SPDX-License-Identifier: BSD-2-Clause */
#include "steady.h"

#include "clock.h"

#include <sched.h>

#define SPINS	   2	 /* the shorter one counts: a timer's interrupt may fall into one */
#define SPIN_TURNS 20000 /* of 16 additions */
#define SLOWED	   1.2	 /* times the core's own time; between threads of a core it is 1.5 to 2 */
#define PAUSE_NS   4000000

static double shortest; /* 0: none yet */

/* Eight chains of additions that do not wait for each other; the compiler must not join them. */
static double spin(void)
{
	uint64_t chain[8] = {0};
	double begin = bench_clock_seconds();

	for (uint32_t i = 0; i < SPIN_TURNS; i++) {
#pragma GCC unroll 16
		for (uint32_t k = 0; k < 16; k++) {
			chain[k % 8] += 1;
			__asm__ volatile("" : "+r"(chain[k % 8]));
		}
	}
	return bench_clock_seconds() - begin;
}

/* The time of a spin on that CPU; 0: this thread may not go there. */
static double spin_on(int cpu)
{
	cpu_set_t before, there;
	double least = 0;

	CPU_ZERO(&there);
	CPU_SET(cpu, &there);
	if (sched_getaffinity(0, sizeof(before), &before) ||
		sched_setaffinity(0, sizeof(there), &there))
		return 0;
	for (int i = 0; i < SPINS; i++) {
		double time = spin();

		if (!i || time < least)
			least = time;
	}
	sched_setaffinity(0, sizeof(before), &before);
	if (!shortest || least < shortest)
		shortest = least;
	return least;
}

bool steady_slowed(int cpu)
{
	return spin_on(cpu) > SLOWED * shortest;
}

void steady_begin(int cpu, double seconds)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	double end = bench_clock_seconds() + seconds;

	if (shortest)
		return;
	while (spin_on(cpu) && bench_clock_seconds() < end)
		nanosleep(&pause, NULL);
}
