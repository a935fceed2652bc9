/* SPDX-License-Identifier: BSD-2-Clause */
#include "pace.h"

void bench_pace_begin(struct bench_pace *pace, uint64_t start, uint64_t hz, uint64_t rate)
{
	*pace = (struct bench_pace){.start = start, .hz = hz, .rate = rate};
}

/* In 128 bits: ticks of an hour times a rate of millions are more than 64. */
static uint64_t scale(uint64_t value, uint64_t by, uint64_t over)
{
	return (uint64_t)((unsigned __int128)value * by / over);
}

uint64_t bench_pace_due(const struct bench_pace *pace, uint64_t now)
{
	uint64_t until_now = now > pace->start ? scale(now - pace->start, pace->rate, pace->hz) : 0;

	return until_now > pace->done ? until_now - pace->done : 0;
}

uint64_t bench_pace_time(const struct bench_pace *pace, uint64_t ahead, uint64_t now)
{
	uint64_t due = pace->start + scale(pace->done + ahead + 1, pace->hz, pace->rate);

	return due < now ? due : now;
}

void bench_pace_sent(struct bench_pace *pace, uint64_t count, uint64_t now)
{
	uint64_t grace = scale(pace->hz, BENCH_LATE_US, 1000000);
	uint64_t late = now > grace ? bench_pace_due(pace, now - grace - 1) : 0;

	pace->late += late < count ? late : count;
	pace->done += count;
}

void bench_pace_give_up(struct bench_pace *pace, uint64_t count, uint32_t share, uint64_t now,
	struct bench_latency *latency)
{
	for (uint64_t i = (share - pace->done % share) % share; i < count; i += share)
		bench_latency_add(latency, now - bench_pace_time(pace, i, now));
	pace->never += count;
	pace->done += count;
}
