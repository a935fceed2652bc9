/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running an event loop in tests of what lives on one. A test that waits for something waits for
 * just that, by loop_run_until(): how long it takes depends on timers, on where a second begins and
 * on what else the machine does. loop_run_for() is for what must not happen, and for time itself.
 */
#pragma once

#include <CUnit/CUnit.h>
#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

/* Longer than any wait on the slowest machine: a test that needs so long has failed. */
#define LOOP_RUN_LIMIT_MS 30000u
#define LOOP_RUN_LOOK_MS  5u

static inline void loop_run_stop(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

/* Until so many milliseconds have passed, or somebody stops the loop. */
static inline void loop_run_for(uv_loop_t *loop, uint64_t milliseconds)
{
	uv_timer_t guard;

	uv_timer_init(loop, &guard);
	uv_update_time(loop);
	uv_timer_start(&guard, loop_run_stop, milliseconds, 0);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&guard, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
}

static inline void loop_run_tick(uv_timer_t *timer)
{
	(void)timer;
}

/* One round, which ends after LOOP_RUN_LOOK_MS though nothing happens. */
static inline void loop_run_once(uv_loop_t *loop)
{
	uv_timer_t tick;

	uv_timer_init(loop, &tick);
	uv_update_time(loop);
	uv_timer_start(&tick, loop_run_tick, LOOP_RUN_LOOK_MS, 0);
	uv_run(loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&tick, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
}

struct loop_look {
	bool (*holds)(void *of);
	void *of;
	uint64_t end;
	bool held;
};

static inline void loop_look_check(uv_check_t *check)
{
	struct loop_look *look = check->data;

	look->held = look->holds(look->of);
	if (look->held || uv_hrtime() > look->end)
		uv_stop(check->loop);
}

/*
 * Until `holds` says so, false when it did not within the limit. It is asked in each round of the
 * loop, and a timer runs once a round at most: no more happens between two looks, however slow the
 * machine.
 */
static inline bool loop_run_until(uv_loop_t *loop, bool (*holds)(void *of), void *of)
{
	struct loop_look look = {holds, of, uv_hrtime() + LOOP_RUN_LIMIT_MS * 1000000ull, false};
	uv_check_t check;
	uv_timer_t wake;

	uv_check_init(loop, &check);
	uv_timer_init(loop, &wake);
	check.data = &look;
	uv_update_time(loop);
	uv_timer_start(&wake, loop_run_tick, 0, LOOP_RUN_LOOK_MS);
	uv_check_start(&check, loop_look_check);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&check, NULL);
	uv_close((uv_handle_t *)&wake, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
	return look.held;
}

/* The same for a condition on what is in sight, as an assertion of its own. */
#define LOOP_RUN_UNTIL(loop, condition)                                                            \
	do {                                                                                       \
		uint64_t end_ns = uv_hrtime() + LOOP_RUN_LIMIT_MS * 1000000ull;                    \
                                                                                                   \
		while (!(condition) && uv_hrtime() < end_ns)                                       \
			loop_run_once(loop);                                                       \
		CU_ASSERT(condition);                                                              \
	} while (0)
