/* SPDX-License-Identifier: BSD-2-Clause */
/* Going back to an earlier configuration: asked for, or because nobody confirmed a later one. */
#include "base/log.h"
#include "control/config_store.h"
#include "control/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WAIT_MAX_MS (3600 * 1000) /* the wall clock may be set meanwhile */

static int kept_load(
	struct gw_daemon *daemon, uint64_t version, struct gw_config **out, uint64_t *found)
{
	struct gw_config_bundle bundle;
	int ret = gw_config_store_read(gw_daemon_state_dir(daemon), version, &bundle);

	if (ret)
		return ret;
	ret = gw_daemon_texts_load(daemon, bundle.texts, bundle.count, out);
	*found = bundle.version;
	gw_config_bundle_clear(&bundle);
	return ret;
}

int gw_daemon_rollback(
	struct gw_daemon *daemon, uint64_t version, const struct gw_daemon_wish *wish)
{
	struct gw_config *config;
	uint64_t found;
	int ret = kept_load(daemon, version, &config, &found);

	if (ret)
		return ret;
	ret = gw_daemon_take(daemon, config, GW_ORIGIN_KEPT, wish, NULL);
	if (!ret)
		gw_daemon_members_skip(daemon);
	if (!ret)
		gw_log_warning("the configuration in use is that of version %" PRIu64
			       "; %s is set aside until it changes or \"config reload\"",
			found, daemon->options.config);
	return ret;
}

int gw_daemon_confirm(struct gw_daemon *daemon, const char *who)
{
	struct gw_state_config *state = gw_state_config(daemon->state);

	if (!state->former)
		return -ENOENT;
	state->former = 0;
	state->until_ms = 0;
	gw_daemon_confirm_arm(daemon);
	gw_events_add(daemon->events, "reload", daemon->options.config, "unconfirmed", "confirmed",
		"by %s", who);
	if (gw_state_writer_flush(daemon->writer))
		gw_log_error("cannot write the state in %s; after a crash the configuration may go "
			     "back all the same",
			gw_daemon_state_dir(daemon));
	return 0;
}

/* Nobody confirmed. The members are those of now: they are no part of what was asked. */
static void revert(struct gw_daemon *daemon)
{
	struct gw_state_config *state = gw_state_config(daemon->state);
	uint64_t former = state->former;
	char why[96];
	const struct gw_daemon_wish wish = {.why = why, .accept_moves = true};
	int ret;

	state->former = 0;
	snprintf(why, sizeof(why), "nobody confirmed the reload in time: back to version %" PRIu64,
		former);
	ret = gw_daemon_rollback(daemon, former, &wish);
	if (ret)
		gw_events_warn(daemon->events, "reload", daemon->options.config, "unconfirmed",
			"unconfirmed", "cannot go back to version %" PRIu64 ": %s", former,
			strerror(-ret));
	else
		gw_daemon_members_look(daemon);
}

static void confirm_timer_ran_out(uv_timer_t *timer)
{
	struct gw_daemon *daemon = timer->data;

	if (gw_state_config(daemon->state)->until_ms > gw_clock_wall_ms())
		gw_daemon_confirm_arm(daemon);
	else
		revert(daemon);
}

void gw_daemon_confirm_arm(struct gw_daemon *daemon)
{
	const struct gw_state_config *state = gw_state_config(daemon->state);
	int64_t wait = state->until_ms - gw_clock_wall_ms();

	if (!state->former) {
		uv_timer_stop(&daemon->confirm_timer);
		return;
	}
	wait = wait < 1 ? 1 : wait > WAIT_MAX_MS ? WAIT_MAX_MS : wait;
	uv_timer_start(&daemon->confirm_timer, confirm_timer_ran_out, (uint64_t)wait, 0);
}

/* Before anything was built from the file's configuration. */
static void config_exchange(struct gw_daemon *daemon, uint64_t version, const char *why)
{
	struct gw_state_config *state = gw_state_config(daemon->state);
	struct gw_config *config;
	uint64_t found;
	int ret = kept_load(daemon, version, &config, &found);

	if (ret) {
		gw_log_error("cannot load the configuration of version %" PRIu64 ": %s; going on "
			     "with %s",
			version, strerror(-ret), daemon->options.config);
		state->held = false;
		return;
	}
	gw_config_free(daemon->config);
	daemon->config = config;
	gw_daemon_load_note(daemon, NULL);
	state->held = true;
	state->version = found;
	snprintf(state->digest, sizeof(state->digest), "%s", daemon->disk_digest);
	gw_log_warning("%s: the configuration in use is that of version %" PRIu64
		       "; %s is set aside until it changes or \"config reload\"",
		why, found, daemon->options.config);
}

void gw_daemon_choose(struct gw_daemon *daemon)
{
	struct gw_state_config *state = gw_state_config(daemon->state);

	if (state->former && state->until_ms <= gw_clock_wall_ms()) {
		uint64_t former = state->former;

		state->former = 0;
		config_exchange(daemon, former, "nobody confirmed the last reload in time");
	} else if (state->held && !strcmp(state->digest, daemon->disk_digest)) {
		config_exchange(daemon, state->version, "rolled back before this start");
	} else if (state->held) {
		state->held = false;
		gw_log_warning("%s changed since it was set aside: it is in use again",
			daemon->options.config);
	}
	gw_daemon_confirm_arm(daemon);
}
