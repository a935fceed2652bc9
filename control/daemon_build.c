/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"
#include "control/daemon.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Changes within it become one snapshot; a second detection in the same moment costs nothing. */
#define COALESCE_MS	20
#define DEADLINE_MAX_MS (3600 * 1000) /* the wall clock may be set meanwhile */

static void build_timer_ran_out(uv_timer_t *timer)
{
	gw_daemon_publish(timer->data);
}

void gw_daemon_touch(struct gw_daemon *daemon)
{
	if (daemon->stopping || daemon->build_due)
		return;
	daemon->build_due = true;
	uv_timer_start(&daemon->build_timer, build_timer_ran_out, COALESCE_MS, 0);
}

static void override_expired(void *owner, const struct gw_runtime_backend *backend)
{
	struct gw_daemon *daemon = owner;
	char subject[2 * GW_NAME_MAX + 2];

	snprintf(subject, sizeof(subject), "%s/%s", backend->pool, backend->name);
	gw_events_add(daemon->events, "override", subject, "set", "ended",
		"the time that %s gave it is over", backend->override.who);
	gw_cause_add(&daemon->cause, NULL, "%s: the time of an override is over", subject);
	gw_state_writer_touch(daemon->writer);
}

static void deadline_timer_ran_out(uv_timer_t *timer)
{
	struct gw_daemon *daemon = timer->data;

	if (gw_runtime_leavers_over(gw_state_runtime(daemon->state), gw_clock_wall_ms()))
		gw_daemon_refresh(daemon);
	gw_daemon_publish(daemon);
}

/* A drain that ended since the build looked at the clock is due at once, not forgotten. */
static void deadline_arm(struct gw_daemon *daemon, int64_t built_ms)
{
	int64_t deadline = gw_runtime_next_deadline(gw_state_runtime(daemon->state), built_ms);
	int64_t wait = deadline - gw_clock_wall_ms();

	if (!deadline) {
		uv_timer_stop(&daemon->deadline_timer);
		return;
	}
	if (wait < 1)
		wait = 1;
	if (wait > DEADLINE_MAX_MS)
		wait = DEADLINE_MAX_MS;
	uv_timer_start(&daemon->deadline_timer, deadline_timer_ran_out, (uint64_t)wait, 0);
}

/* What was given no cause came about by the clock. */
static void history_note(struct gw_daemon *daemon, const struct gw_build *build)
{
	if (!daemon->cause.text[0])
		gw_cause_add(&daemon->cause, NULL, "time: a drain, a hold or a slow start");
	if (gw_history_add(daemon->history, build, gw_state_config(daemon->state)->version,
		    &daemon->cause, gw_clock_wall_ms()))
		gw_log_warning("version %llu cannot be remembered: out of memory",
			(unsigned long long)build->version);
	daemon->cause = (struct gw_cause){0};
}

int gw_daemon_publish_build(
	struct gw_daemon *daemon, struct gw_build *build, int64_t built_ms, bool always)
{
	struct gw_build *former = daemon->build;
	int ret;

	gw_daemon_tell(daemon, build);
	daemon->build = build;
	if (former && !always && !daemon->build_always && gw_build_same(former, build)) {
		gw_state_return_version(daemon->state, build->version);
		gw_build_renumber(build, former->version);
		daemon->cause = (struct gw_cause){0};
		gw_build_free(former);
		deadline_arm(daemon, built_ms);
		return 0;
	}
	history_note(daemon, build);
	ret = daemon->publisher->ops->publish(daemon->publisher, build->snapshot);
	daemon->build_always = ret != 0;
	if (ret)
		gw_events_warn(daemon->events, "publish", "", "", "failed",
			"snapshot %llu: %s; what is in force goes on",
			(unsigned long long)build->version, strerror(-ret));
	if (gw_state_keep_tables(daemon->state, build))
		gw_log_warning("table versions cannot be remembered: out of memory");
	gw_state_writer_touch(daemon->writer);
	gw_build_free(former);
	deadline_arm(daemon, built_ms);
	return ret;
}

int gw_daemon_publish(struct gw_daemon *daemon)
{
	char error[GW_BUILD_ERROR];
	struct gw_build *build;
	struct gw_build_input input = {
		.config = daemon->config,
		.runtime = gw_state_runtime(daemon->state),
		.ids = gw_state_ids(daemon->state),
		.previous = daemon->build,
		.state = daemon->state,
		.version = gw_state_next_version(daemon->state),
		.now_ms = gw_clock_wall_ms(),
	};
	int ret;

	daemon->build_due = false;
	gw_runtime_expire(gw_state_runtime(daemon->state), input.now_ms, override_expired, daemon);
	gw_runtime_advance(gw_state_runtime(daemon->state), input.now_ms);
	ret = gw_build_make(&input, &build, error);
	if (ret) {
		if (!daemon->build_failed)
			gw_events_warn(daemon->events, "publish", "", "", "failed",
				"cannot build a snapshot: %s; what is in force goes on", error);
		daemon->build_failed = true;
		return ret;
	}
	daemon->build_failed = false;
	return gw_daemon_publish_build(daemon, build, input.now_ms, false);
}

/* Those that `now` does not know, or knows at another address. */
static void newcomers_set_up(struct gw_runtime *trial, const struct gw_runtime *now, int64_t now_ms)
{
	for (size_t i = 0; i < gw_runtime_count(trial); i++) {
		const struct gw_runtime_backend *backend = gw_runtime_at(trial, i);
		const struct gw_runtime_backend *known =
			gw_runtime_find(now, backend->pool, backend->name);

		if (backend->health == GW_HEALTH_UNKNOWN &&
			(!known || memcmp(known->address, backend->address, 16) != 0))
			gw_runtime_set_health(
				trial, backend->pool, backend->name, GW_HEALTH_UP, NULL, now_ms);
	}
}

int gw_daemon_build_trial(struct gw_daemon *daemon, const struct gw_config *config,
	uint64_t version, bool newcomers_up, struct gw_build **out,
	char error[static GW_BUILD_ERROR])
{
	struct gw_runtime *runtime = gw_runtime_clone(gw_state_runtime(daemon->state));
	struct gw_ids *ids = gw_ids_clone(gw_state_ids(daemon->state));
	int64_t now = gw_clock_wall_ms();
	int ret = -ENOMEM;

	snprintf(error, GW_BUILD_ERROR, "out of memory");
	if (runtime && ids)
		ret = gw_ids_assign(ids, config, gw_clock_boot_ms(), NULL);
	if (ret == -ENOSPC)
		snprintf(error, GW_BUILD_ERROR,
			"no free number for a pool, service or backend: those of removed ones are "
			"kept for up to an hour; try again later");
	if (!ret)
		ret = gw_runtime_apply(runtime, config, now, NULL, NULL);
	if (!ret && newcomers_up)
		newcomers_set_up(runtime, gw_state_runtime(daemon->state), now);
	else if (!ret)
		gw_runtime_advance(runtime, now);
	if (!ret)
		ret = gw_build_make(
			&(struct gw_build_input){
				.config = config,
				.runtime = runtime,
				.ids = ids,
				.previous = daemon->build,
				.state = daemon->state,
				.version = version,
				.now_ms = now,
			},
			out, error);
	gw_runtime_free(runtime);
	gw_ids_free(ids);
	return ret;
}
