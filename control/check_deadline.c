/* SPDX-License-Identifier: BSD-2-Clause */
#include "check_deadline.h"

#include <stddef.h>

#define NS_PER_MS   1000000ull
#define NOTICE_LATE (20 * NS_PER_MS) /* a busy loop's turns take less */

static void timer_ran_out(uv_timer_t *timer);

static void wait_until(struct check_deadline *deadline, uint64_t now, uint64_t due_ns)
{
	deadline->due_ns = due_ns;
	/* The loop's idea of the time is as old as its turn. */
	uv_update_time(deadline->timer.loop);
	uv_timer_start(
		&deadline->timer, timer_ran_out, (due_ns - now + NS_PER_MS - 1) / NS_PER_MS, 0);
}

static void timer_ran_out(uv_timer_t *timer)
{
	struct check_deadline *deadline =
		(void *)((char *)timer - offsetof(struct check_deadline, timer));
	uint64_t now = uv_hrtime(), timeout = deadline->timeout_ms * NS_PER_MS, late;

	if (now < deadline->due_ns) {
		wait_until(deadline, now, deadline->due_ns);
		return;
	}
	late = now - deadline->due_ns;
	if (deadline->put_off || late <= NOTICE_LATE) {
		deadline->over(deadline);
		return;
	}
	deadline->put_off = true;
	wait_until(deadline, now, now + (late < timeout ? late : timeout));
}

void check_deadline_start(uv_loop_t *loop, struct check_deadline *deadline, uint32_t timeout_ms,
	void (*over)(struct check_deadline *deadline))
{
	uint64_t now = uv_hrtime();

	uv_timer_init(loop, &deadline->timer); /* cannot fail */
	deadline->over = over;
	deadline->timeout_ms = timeout_ms;
	deadline->put_off = false;
	wait_until(deadline, now, now + timeout_ms * NS_PER_MS);
}
