/* SPDX-License-Identifier: BSD-2-Clause */
/* Running an event loop for a while, in tests of what lives on one. */
#pragma once

#include <uv.h>

#include <stdint.h>

static void loop_run_stop(uv_timer_t *timer)
{
	uv_stop(timer->loop);
}

/* Until so many milliseconds have passed, or somebody stops the loop. */
static void loop_run_for(uv_loop_t *loop, uint64_t milliseconds)
{
	uv_timer_t guard;

	uv_timer_init(loop, &guard);
	uv_update_time(loop);
	uv_timer_start(&guard, loop_run_stop, milliseconds, 0);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&guard, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
}
