/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration is taken whole or not at all: loaded, then built on copies of ids and runtime,
 * and only when that worked put in the place of the one in use. Identities that stay keep their
 * health, overrides, drains and counters; backends that went drain first.
 */
#include "base/log.h"
#include "control/config_compare.h"
#include "control/config_store.h"
#include "control/daemon.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void gw_daemon_load_note(struct gw_daemon *daemon, json_t *errors)
{
	json_decref(daemon->load.errors);
	daemon->load.errors = errors;
	daemon->load.valid = !errors;
	daemon->load.time_ms = gw_clock_wall_ms();
}

static json_t *errors_lines(const struct gw_config_errors *errors)
{
	json_t *lines = json_array();
	char line[1024];

	for (size_t i = 0; i < errors->count; i++) {
		gw_config_error_format(&errors->list[i], line, sizeof(line));
		gw_log_error("%s", line);
		json_array_append_new(lines, json_string(line));
	}
	if (errors->omitted)
		gw_log_error("and %zu errors more", errors->omitted);
	return lines;
}

static int load_end(struct gw_daemon *daemon, int ret, struct gw_config_errors *errors)
{
	if (ret == -EINVAL)
		gw_daemon_load_note(daemon, errors_lines(errors));
	else if (ret)
		gw_daemon_load_note(daemon, json_pack("[s]", strerror(-ret)));
	gw_config_errors_free(errors);
	return ret;
}

int gw_daemon_texts_load(struct gw_daemon *daemon, const struct gw_config_text *texts, size_t count,
	struct gw_config **out)
{
	struct gw_config_errors errors = {0};
	int ret = gw_config_load_texts(
		texts, count, GW_CONFIG_DAEMON | GW_CONFIG_PARTS, out, &errors);

	return load_end(daemon, ret, &errors);
}

/* From disk. *members_only: members files alone are to blame. */
static int file_load(struct gw_daemon *daemon, struct gw_config **out, bool *members_only)
{
	struct gw_config_errors errors = {0};
	int ret = gw_config_load(
		daemon->options.config, GW_CONFIG_DAEMON | GW_CONFIG_PARTS, out, &errors);

	*members_only = ret == -EINVAL && errors.members && errors.members == errors.count;
	if (!ret)
		gw_config_texts_digest(*out, daemon->disk_digest);
	return load_end(daemon, ret, &errors);
}

/* What was last in use, for a start without whole members files. */
static int kept_load(struct gw_daemon *daemon)
{
	const char *dir =
		daemon->options.state_dir ? daemon->options.state_dir : GW_STATE_DIR_DEFAULT;
	struct gw_config_errors errors = {0};
	struct gw_config_bundle bundle;
	int ret = gw_config_store_read(dir, UINT64_MAX, &bundle);

	if (ret)
		return ret;
	ret = gw_config_load_texts(bundle.texts, bundle.count, GW_CONFIG_DAEMON | GW_CONFIG_PARTS,
		&daemon->config, &errors);
	if (!ret)
		gw_log_warning("starting with the configuration of version %llu, whose members "
			       "are known, until the members files above can be read",
			(unsigned long long)bundle.version);
	gw_config_errors_free(&errors);
	gw_config_bundle_clear(&bundle);
	return ret;
}

int gw_daemon_load_first(struct gw_daemon *daemon)
{
	bool members_only;
	int ret = file_load(daemon, &daemon->config, &members_only);

	if (ret && (!members_only || kept_load(daemon)))
		return ret;
	if (!ret)
		gw_daemon_load_note(daemon, NULL);
	daemon->loaded_ms = daemon->load.time_ms;
	return 0;
}

static void override_ended(void *owner, const struct gw_runtime_backend *backend)
{
	struct gw_daemon *daemon = owner;
	char subject[GW_PART_MAX + GW_NAME_MAX + 2];

	snprintf(subject, sizeof(subject), "%s/%s", backend->pool, backend->name);
	gw_events_add(daemon->events, "override", subject, "set", "ended",
		"the file's own value changed");
}

int gw_daemon_identities_take(
	struct gw_daemon *daemon, const struct gw_config *config, bool *ids_changed)
{
	int ret =
		gw_ids_assign(gw_state_ids(daemon->state), config, gw_clock_boot_ms(), ids_changed);

	return ret ? ret
		   : gw_runtime_apply(gw_state_runtime(daemon->state), config, gw_clock_wall_ms(),
			     override_ended, daemon);
}

/* What only a restart can change keeps its old value till then; say so. */
static void restarts_tell(const struct gw_config *old, const struct gw_config *new)
{
	json_t *lines = gw_config_restarts(old, new);
	const json_t *line;
	size_t i;

	json_array_foreach (lines, i, line)
		gw_log_warning("%s", json_string_value(line));
	json_decref(lines);
}

static void state_flush(struct gw_daemon *daemon)
{
	int ret = gw_state_writer_flush(daemon->writer);

	if (ret)
		gw_log_error("cannot write the state in %s: %s; after a crash flows may move and "
			     "drains are forgotten",
			gw_daemon_state_dir(daemon), strerror(-ret));
}

/* Ids, runtime, monitor and publisher take over the configuration, which was tried before. */
static int config_adopt(struct gw_daemon *daemon, struct gw_config *config, bool *ids_changed)
{
	struct gw_config *former = daemon->config;
	int ret;

	ret = gw_daemon_identities_take(daemon, config, ids_changed);
	if (ret)
		return ret;
	ret = gw_monitor_configure(daemon->monitor, config);
	if (!ret)
		ret = gw_hook_configure(daemon->hook, &config->hooks);
	if (ret)
		return ret;
	restarts_tell(former, config);
	daemon->config = config;
	gw_daemon_publisher_configure(daemon);
	gw_config_free(former);
	if (gw_daemon_members_watch(daemon))
		gw_log_warning("members files cannot be watched: out of memory");
	return 0;
}

/* -EPERM and the lines in daemon->load when it moves flows that nobody agreed to move. */
static int moves_check(
	struct gw_daemon *daemon, const struct gw_config *config, const struct gw_daemon_wish *wish)
{
	json_t *lines = gw_config_moves(daemon->config, config);
	const json_t *line;
	size_t i;

	if (wish->accept_moves || !json_array_size(lines)) {
		json_decref(lines);
		return 0;
	}
	json_array_foreach (lines, i, line)
		gw_log_error("%s; \"guideway config reload --accept-moves\" takes it all the same",
			json_string_value(line));
	gw_events_warn(daemon->events, "reload", daemon->options.config, "", "refused",
		"%s: it moves flows and needs --accept-moves: %s", wish->why,
		json_string_value(json_array_get(lines, 0)));
	gw_daemon_load_note(daemon, lines);
	return -EPERM;
}

/* All that can fail; consumes the configuration unless it was taken. */
static int config_try(struct gw_daemon *daemon, struct gw_config *config, struct gw_build **build,
	bool *ids_changed, char error[static GW_LISTENERS_ERROR])
{
	struct gw_listeners_change *listeners;
	uint64_t version = gw_state_next_version(daemon->state);
	int ret = gw_listeners_prepare(daemon, config, &listeners, error);

	if (ret)
		goto fail;
	ret = gw_daemon_build_trial(daemon, config, version, false, build, error);
	if (!ret) {
		ret = config_adopt(daemon, config, ids_changed);
		if (ret) {
			snprintf(error, GW_LISTENERS_ERROR, "%s", strerror(-ret));
			gw_build_free(*build);
		}
	}
	if (ret) {
		gw_listeners_abandon(listeners);
		goto fail;
	}
	gw_listeners_commit(daemon, listeners);
	return 0;
fail:
	gw_state_return_version(daemon->state, version);
	gw_config_free(config);
	return ret;
}

void gw_daemon_config_keep(struct gw_daemon *daemon, uint64_t version)
{
	struct gw_state_config *kept = gw_state_config(daemon->state);
	int ret = gw_config_store_write(gw_daemon_state_dir(daemon), version, daemon->config);

	if (ret)
		gw_log_warning("cannot keep the configuration of version %llu in %s/configs: %s; "
			       "\"config rollback\" cannot go back to it",
			(unsigned long long)version, gw_daemon_state_dir(daemon), strerror(-ret));
	else
		kept->version = version;
	gw_state_writer_touch(daemon->writer);
}

/* Notes where the configuration in use comes from and whether it awaits confirmation. */
static void origin_note(struct gw_daemon *daemon, enum gw_daemon_origin origin,
	const struct gw_daemon_wish *wish, uint64_t former, bool other)
{
	struct gw_state_config *state = gw_state_config(daemon->state);

	if (origin == GW_ORIGIN_MEMBERS || origin == GW_ORIGIN_REFRESH)
		return;
	state->held = origin == GW_ORIGIN_KEPT;
	snprintf(state->digest, sizeof(state->digest), "%s",
		origin == GW_ORIGIN_KEPT ? daemon->disk_digest : "");
	/* One that follows an unconfirmed one goes back to where that one would. */
	if (!wish->confirm_ms || !other)
		state->former = 0;
	else if (!state->former)
		state->former = former;
	state->until_ms = state->former ? gw_clock_wall_ms() + wish->confirm_ms : 0;
	snprintf(state->who, sizeof(state->who), "%s", wish->who ? wish->who : "");
	gw_state_writer_touch(daemon->writer);
	gw_daemon_confirm_arm(daemon);
}

static void taken_tell(struct gw_daemon *daemon, enum gw_daemon_origin origin,
	const struct gw_daemon_wish *wish, bool other, const struct gw_build *build)
{
	if (origin == GW_ORIGIN_REFRESH)
		return;
	if (!other)
		gw_events_add(daemon->events, "reload", daemon->options.config, "", "unchanged",
			"%s: the configuration in use is the same", wish->why);
	else
		gw_events_add(daemon->events, "reload", daemon->options.config, "", "accepted",
			"%s%s%s: %zu pools, %zu services, %zu tables made anew", wish->why,
			wish->who ? " by " : "", wish->who ? wish->who : "", build->pool_count,
			build->service_count, build->rebuilt_count);
}

/* A start does not just take what the file says. */
static bool start_chooses(const struct gw_daemon *daemon)
{
	const struct gw_state_config *state = gw_state_config(daemon->state);

	return state->held || state->former;
}

/*
 * The state goes to disk first when control, should it die before the datapath has the build or
 * right after, could not know better from the file and the state of before: new numbers, which
 * the datapath's flows will name, and another configuration than the file's to go on with or to
 * go back to. A start makes the rest of a reload anew from those two (who leaves and drains,
 * which overrides the file ended), so the datapath, which may be waited for, comes first.
 *
 * Either way it is on disk when who asked hears that it is done: no crash undoes what the next
 * change of the file builds upon.
 */
static void build_publish(struct gw_daemon *daemon, enum gw_daemon_origin origin,
	struct gw_build *build, int64_t begun_ms, bool always, bool state_first)
{
	if (state_first)
		state_flush(daemon);
	gw_daemon_publish_build(daemon, build, begun_ms, always); /* tells what fails, tries on */
	if (!state_first && origin != GW_ORIGIN_REFRESH)
		state_flush(daemon);
}

int gw_daemon_take(struct gw_daemon *daemon, struct gw_config *config, enum gw_daemon_origin origin,
	const struct gw_daemon_wish *wish, bool *changed)
{
	const struct gw_config *old = daemon->config;
	bool other = !gw_config_texts_equal(
		old->texts, old->text_count, config->texts, config->text_count);
	uint64_t former = gw_state_config(daemon->state)->version;
	int64_t begun_ms = gw_clock_wall_ms();
	bool state_first = start_chooses(daemon), ids_changed = false;
	char error[GW_LISTENERS_ERROR] = "out of memory";
	struct gw_build *build;
	int ret;

	if (gw_config_keep_leavers(config, gw_state_runtime(daemon->state), begun_ms) < 0) {
		gw_config_free(config);
		return -ENOMEM;
	}
	ret = moves_check(daemon, config, wish);
	if (!ret && wish->confirm_ms && !former) {
		gw_daemon_load_note(daemon,
			json_pack("[s]", "the configuration in use could not be kept in the state "
					 "folder, so there is nothing to go back to"));
		ret = -EINVAL;
	}
	if (ret) {
		gw_config_free(config);
		return ret;
	}
	ret = config_try(daemon, config, &build, &ids_changed, error);
	if (ret) {
		gw_daemon_load_note(daemon, json_pack("[s]", error));
		gw_events_warn(daemon->events, "reload", daemon->options.config, "", "refused",
			"%s: %s; the configuration in use goes on", wish->why, error);
		return ret == -ENOMEM ? ret : -EINVAL;
	}
	gw_daemon_load_note(daemon, NULL);
	daemon->loaded_ms = daemon->load.time_ms;
	taken_tell(daemon, origin, wish, other, build);
	gw_cause_add(&daemon->cause, wish->who, "%s", wish->why);
	if (other)
		gw_daemon_config_keep(daemon, build->version);
	origin_note(daemon, origin, wish, former, other);
	if (changed)
		*changed = other;
	state_first = state_first || start_chooses(daemon) || ids_changed;
	build_publish(daemon, origin, build, begun_ms, other, state_first);
	return 0;
}

int gw_daemon_reload(struct gw_daemon *daemon, const struct gw_daemon_wish *wish, bool *changed)
{
	struct gw_config *config;
	bool members_only;
	int ret = file_load(daemon, &config, &members_only);

	if (!ret)
		return gw_daemon_take(daemon, config, GW_ORIGIN_FILE, wish, changed);
	gw_events_warn(daemon->events, "reload", daemon->options.config, "", "refused",
		"%s: errors: %zu; the configuration in use goes on", wish->why,
		json_array_size(daemon->load.errors));
	return ret;
}

void gw_daemon_refresh(struct gw_daemon *daemon)
{
	const struct gw_daemon_wish wish = {
		.why = "a removed backend's drain is over", .accept_moves = true};
	bool valid = daemon->load.valid;
	int64_t time_ms = daemon->load.time_ms;
	json_t *errors = json_incref(daemon->load.errors);
	struct gw_config *config;

	if (!gw_daemon_texts_load(
		    daemon, daemon->config->texts, daemon->config->text_count, &config))
		gw_daemon_take(daemon, config, GW_ORIGIN_REFRESH, &wish, NULL);
	/* What the file is like does not change by that. */
	gw_daemon_load_note(daemon, errors);
	daemon->load.valid = valid;
	daemon->load.time_ms = time_ms;
}
