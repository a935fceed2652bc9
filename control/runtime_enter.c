/* SPDX-License-Identifier: BSD-2-Clause */
/* Coming back: damping, whose turn it is to enter, and how heavy (runtime.h). */
#include "control/runtime.h"
#include "control/runtime_table.h"

#include <string.h>

#define SHIFT_MAX 20 /* 100 ms << 20 is over a day, more than any bound */

void runtime_flip_note(struct gw_runtime_backend *entry, int64_t now_ms)
{
	const struct gw_config_damping *damping = &entry->damping;
	int64_t up_since = entry->health_since_ms, hold = damping->hold_ms;
	uint32_t beyond;

	if (!damping->after)
		return;
	/* Being held down is not staying up: what breaks under load shows only in service. */
	if (entry->held_until_ms > up_since)
		up_since = entry->held_until_ms;
	if (now_ms - up_since >= damping->window_ms)
		entry->flips = 0;
	if (entry->flips < UINT32_MAX)
		entry->flips++;
	if (entry->flips <= damping->after)
		return;
	beyond = entry->flips - damping->after - 1;
	hold <<= beyond < SHIFT_MAX ? beyond : SHIFT_MAX;
	if (hold > damping->hold_max_ms)
		hold = damping->hold_max_ms;
	entry->held_until_ms = now_ms + hold;
}

bool runtime_held(const struct gw_runtime_backend *entry, int64_t now_ms)
{
	return entry->damping.after && entry->held_until_ms > now_ms;
}

/* The step of slow start that the weight is at; `steps`: it is over. */
static uint32_t ramp_step(const struct gw_runtime_backend *entry, int64_t now_ms)
{
	const struct gw_config_slow_start *start = &entry->slow_start;
	int64_t passed = now_ms - entry->entered_ms;

	if (!start->duration_ms || !entry->entered || !entry->entered_ms ||
		passed >= start->duration_ms)
		return start->steps;
	return passed < 0 ? 0 : (uint32_t)(passed * start->steps / start->duration_ms);
}

uint8_t runtime_ramp(const struct gw_runtime_backend *entry, int64_t now_ms)
{
	const struct gw_config_slow_start *start = &entry->slow_start;
	uint32_t step = ramp_step(entry, now_ms);

	if (step >= start->steps)
		return 100;
	return (uint8_t)(start->from + (100u - start->from) * step / start->steps);
}

/* Wall clocks are set back at times: nothing lies further ahead than its rule allows. */
static void clock_mend(struct gw_runtime_backend *entry, int64_t now_ms)
{
	if (entry->entered_ms > now_ms)
		entry->entered_ms = now_ms;
	if (entry->held_until_ms > now_ms + entry->damping.hold_max_ms)
		entry->held_until_ms = now_ms + entry->damping.hold_max_ms;
}

static bool entered_lately(const struct gw_runtime_backend *entry, int64_t now_ms)
{
	return entry->enter_limit.count && entry->entered_ms &&
	       entry->entered_ms > now_ms - entry->enter_limit.per_ms;
}

static void entry_admit(struct gw_runtime_backend *entry, int64_t entered_ms)
{
	entry->entered = true;
	entry->queued = false;
	entry->entered_ms = entered_ms;
}

/* The one that became healthy first. */
static struct gw_runtime_backend *queue_first(struct gw_runtime_backend *pool, size_t count)
{
	struct gw_runtime_backend *first = NULL;

	for (size_t i = 0; i < count; i++)
		if (pool[i].queued && (!first || pool[i].health_since_ms < first->health_since_ms))
			first = &pool[i];
	return first;
}

/* One pool's entries, side by side. */
static size_t pool_advance(const struct gw_runtime *runtime, struct gw_runtime_backend *pool,
	size_t count, int64_t now_ms)
{
	const struct gw_config_enter_limit *limit = &pool->enter_limit;
	uint32_t lately = 0;
	size_t entered = 0;

	for (size_t i = 0; i < count; i++) {
		struct gw_runtime_backend *entry = &pool[i];
		bool fresh = entry->fresh;

		clock_mend(entry, now_ms);
		lately += entered_lately(entry, now_ms);
		entry->fresh = false;
		entry->queued = false;
		if (!runtime_takes_part(runtime, entry, now_ms))
			entry->entered = false;
		else if (fresh)
			entry_admit(entry, 0);
		else
			entry->queued = !entry->entered;
	}
	while (!limit->count || lately < limit->count) {
		struct gw_runtime_backend *first = queue_first(pool, count);

		if (!first)
			break;
		entry_admit(first, now_ms);
		entered++;
		lately++;
	}
	return entered;
}

/* How many entries from `first` on are of its pool. */
static size_t pool_size(const struct gw_runtime *runtime, size_t first)
{
	size_t end = first + 1;

	while (end < runtime->count && !strcmp(runtime->list[end].pool, runtime->list[first].pool))
		end++;
	return end - first;
}

size_t gw_runtime_advance(struct gw_runtime *runtime, int64_t now_ms)
{
	size_t entered = 0, size;

	for (size_t i = 0; i < runtime->count; i += size) {
		size = pool_size(runtime, i);
		entered += pool_advance(runtime, &runtime->list[i], size, now_ms);
	}
	return entered;
}

static void sooner(int64_t *next, int64_t when, int64_t now_ms)
{
	if (when > now_ms && (!*next || when < *next))
		*next = when;
}

static int64_t entry_deadline(const struct gw_runtime_backend *entry, int64_t now_ms)
{
	const struct gw_config_slow_start *start = &entry->slow_start;
	uint32_t step = ramp_step(entry, now_ms);
	int64_t next = 0;

	if (entry->override.until_ms)
		sooner(&next, entry->override.until_ms, now_ms);
	if (entry->drain_since_ms && entry->drain_timeout_ms)
		sooner(&next, entry->drain_since_ms + entry->drain_timeout_ms, now_ms);
	if (runtime_held(entry, now_ms))
		sooner(&next, entry->held_until_ms, now_ms);
	if (step < start->steps) /* rounded up, so that the step is there then */
		sooner(&next,
			entry->entered_ms +
				((int64_t)start->duration_ms * (step + 1) + start->steps - 1) /
					start->steps,
			now_ms);
	return next;
}

int64_t gw_runtime_next_deadline(const struct gw_runtime *runtime, int64_t now_ms)
{
	int64_t next = 0;
	size_t size;

	for (size_t first = 0; first < runtime->count; first += size) {
		const struct gw_runtime_backend *pool = &runtime->list[first];
		int64_t turn = 0;
		bool queue = false;

		size = pool_size(runtime, first);
		for (size_t i = 0; i < size; i++) {
			sooner(&next, entry_deadline(&pool[i], now_ms), now_ms);
			queue |= pool[i].queued;
			if (entered_lately(&pool[i], now_ms))
				sooner(&turn, pool[i].entered_ms + pool[i].enter_limit.per_ms,
					now_ms);
		}
		if (queue)
			sooner(&next, turn, now_ms);
	}
	return next;
}
