/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a build changes beside the one before, told as events: what the clock did to backends (the
 * other transitions were told when they were reported) and what became of pools.
 */
#include "control/daemon.h"

#include <stdio.h>

struct told {
	struct gw_daemon *daemon;
	const struct gw_build_pool *pool;
	const struct gw_config_pool *rules; /* NULL: not of this configuration */
	const struct gw_build_backend *backend;
	enum gw_reason from;
	char subject[GW_PART_MAX + GW_NAME_MAX + 2];
};

static void held_tell(const struct told *told)
{
	const struct gw_runtime_backend *known = gw_runtime_find(
		gw_state_runtime(told->daemon->state), told->pool->name, told->backend->name);
	char time[32];

	gw_events_warn(told->daemon->events, "damping", told->subject, "down", "held",
		"it went down %u times without staying up; held down until %s",
		known ? known->flips : 0,
		gw_time_format(told->backend->effect.held_until_ms, time));
}

static void queued_tell(const struct told *told)
{
	const struct gw_config_enter_limit *limit = told->rules ? &told->rules->enter_limit : NULL;

	gw_events_add(told->daemon->events, "enter", told->subject, "", "waiting",
		"enter_limit: %u members within %u ms", limit ? limit->count : 0,
		limit ? limit->per_ms : 0);
}

/* A reason that only the clock, or a rule for those who come back, brings about or ends. */
static void backend_tell(const struct told *told)
{
	struct gw_events *events = told->daemon->events;
	const struct gw_effect *effect = &told->backend->effect;
	enum gw_reason from = told->from, to = effect->reason;

	if (from == to)
		return;
	if (to == GW_REASON_DRAIN_OVER)
		gw_events_add(events, "drain", told->subject, "drain", "disabled",
			"drain_timeout is over");
	if (from == GW_REASON_HELD && effect->state != GW_BACKEND_DOWN)
		gw_events_add(events, "damping", told->subject, "held",
			gw_backend_state_name(effect->state), "its hold is over");
	if (to == GW_REASON_HELD)
		held_tell(told);
	else if (to == GW_REASON_QUEUED)
		queued_tell(told);
	else if (from == GW_REASON_QUEUED && effect->member)
		gw_events_add(events, "enter", told->subject, "waiting", "active",
			"it is its turn (enter_limit)");
	if (to == GW_REASON_SLOW_START)
		gw_events_add(events, "slow_start", told->subject, "", "rising",
			"its weight begins at %u%%", effect->ramp);
	else if (from == GW_REASON_SLOW_START && to == GW_REASON_HEALTHY)
		gw_events_add(events, "slow_start", told->subject, "rising", "full",
			"its weight is %u", effect->base_weight);
}

static void backends_tell(struct gw_daemon *daemon, const struct gw_build_pool *pool)
{
	struct told told = {.daemon = daemon,
		.pool = pool,
		.rules = gw_config_pool_find(daemon->config, pool->name)};

	for (size_t b = 0; b < pool->backend_count; b++) {
		const struct gw_build_backend *former =
			gw_build_backend_at(daemon->build, pool->backends[b].id, NULL);

		if (!former)
			continue;
		told.backend = &pool->backends[b];
		told.from = former->effect.reason;
		snprintf(told.subject, sizeof(told.subject), "%s/%s", pool->name,
			told.backend->name);
		backend_tell(&told);
	}
}

static void pool_tell(
	struct gw_daemon *daemon, const struct gw_build_pool *pool, const struct gw_build_pool *old)
{
	if (!pool->member_count && (!old || old->member_count))
		gw_events_warn(daemon->events, "pool", pool->name, old ? "serving" : "", "empty",
			"no eligible backend: new flows are dropped");
	else if (pool->member_count && old && !old->member_count)
		gw_events_add(daemon->events, "pool", pool->name, "empty", "serving",
			"%u of %zu backends", pool->member_count, pool->backend_count);
	if (pool->effect.panic && (!old || !old->effect.panic))
		gw_events_warn(daemon->events, "pool", pool->name, "", "panic",
			"%u of %u backends healthy: all that are not disabled are used",
			pool->effect.healthy, pool->effect.not_disabled);
	else if (!pool->effect.panic && old && old->effect.panic)
		gw_events_add(daemon->events, "pool", pool->name, "panic", "normal",
			"%u of %u backends healthy", pool->effect.healthy,
			pool->effect.not_disabled);
}

void gw_daemon_tell(struct gw_daemon *daemon, const struct gw_build *build)
{
	for (size_t p = 0; p < build->pool_count; p++) {
		const struct gw_build_pool *pool = &build->pools[p];
		const struct gw_build_pool *old =
			daemon->build ? gw_build_pool_find(daemon->build, pool->name) : NULL;

		if (old)
			backends_tell(daemon, pool);
		pool_tell(daemon, pool, old);
	}
}
