/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The time that a probe may take. What counts is time in which this process ran: when its CPU was
 * taken away, or it built a large table, the answer may have been there for long, unread. A
 * deadline that is noticed late is therefore put off once by as much as it was late, at most by the
 * timeout itself; what has come meanwhile is read in the same turn of the loop. So our own delay is
 * nobody's failure, and a backend that is silent is still found out within twice the timeout.
 *
 * Event loop's thread only.
 */
#pragma once

#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

struct check_deadline {
	uv_timer_t timer; /* whoever embeds it closes it; its data is theirs */
	void (*over)(struct check_deadline *deadline);
	uint64_t due_ns;
	uint32_t timeout_ms;
	bool put_off;
};

/* Calls `over` once when the time is up, unless the timer is closed before. */
void check_deadline_start(uv_loop_t *loop, struct check_deadline *deadline, uint32_t timeout_ms,
	void (*over)(struct check_deadline *deadline));
