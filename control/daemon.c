/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/daemon.h"

#include "base/log.h"
#include "control/config_compare.h"
#include "control/config_store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_INVALID = 5 };

const char *gw_daemon_state_dir(const struct gw_daemon *daemon)
{
	return daemon->options.state_dir ? daemon->options.state_dir : daemon->config->state_dir;
}

const char *gw_daemon_pin_dir(const struct gw_daemon *daemon)
{
	return daemon->options.pin_dir ? daemon->options.pin_dir : daemon->config->xdp_pin_dir;
}

const char *gw_daemon_dataplane_socket(const struct gw_daemon *daemon)
{
	return daemon->options.dataplane_socket ? daemon->options.dataplane_socket
						: daemon->config->dataplane.socket;
}

const char *gw_daemon_api_socket(const struct gw_daemon *daemon)
{
	return daemon->options.api_socket ? daemon->options.api_socket
					  : daemon->config->api.control.path;
}

/* What the monitor asks and reports. */

static enum gw_health health_known(void *owner, const char *pool, const char *name)
{
	struct gw_daemon *daemon = owner;
	const struct gw_runtime_backend *backend =
		gw_runtime_find(gw_state_runtime(daemon->state), pool, name);

	return backend ? backend->health : GW_HEALTH_UNKNOWN;
}

static bool health_presumed(void *owner, const char *pool, const char *name)
{
	struct gw_daemon *daemon = owner;
	const struct gw_runtime_backend *backend =
		gw_runtime_find(gw_state_runtime(daemon->state), pool, name);

	return backend && backend->presumed;
}

static void health_changed(
	void *owner, const char *pool, const char *name, const struct gw_health_change *change)
{
	struct gw_daemon *daemon = owner;
	char subject[GW_PART_MAX + GW_NAME_MAX + 2];
	int ret;

	ret = gw_runtime_set_health(gw_state_runtime(daemon->state), pool, name, change->to,
		change->cause, gw_clock_wall_ms());
	snprintf(subject, sizeof(subject), "%s/%s", pool, name);
	gw_events_add(daemon->events, "health", subject, gw_health_name(change->from),
		gw_health_name(change->to), "%s", change->cause);
	if (ret <= 0)
		return;
	gw_cause_add(&daemon->cause, NULL, "%s %s: %s", subject, gw_health_name(change->to),
		change->cause);
	gw_state_writer_touch(daemon->writer);
	gw_daemon_touch(daemon);
}

static void probe_failed(void *owner, const char *pool, const char *name, const char *text)
{
	struct gw_daemon *daemon = owner;

	gw_runtime_note_failure(
		gw_state_runtime(daemon->state), pool, name, text, gw_clock_wall_ms());
}

/* What the publisher reports. */

static void datapath_reported(void *owner, bool present, const char *detail)
{
	struct gw_daemon *daemon = owner;
	bool was = daemon->datapath.present;
	uint64_t version;

	daemon->datapath.present = present;
	snprintf(daemon->datapath.detail, sizeof(daemon->datapath.detail), "%s",
		detail ? detail : "");
	if (present != was)
		gw_events_add(daemon->events, "datapath",
			gw_config_path_name(daemon->config->dataplane.path),
			was ? "present" : "absent", present ? "present" : "absent", "%s",
			daemon->datapath.detail);
	if (!present) {
		daemon->datapath.in_force = 0;
		return;
	}
	if (!daemon->publisher)
		return; /* still in its open() */
	version = daemon->publisher->ops->version(daemon->publisher);
	if (daemon->build && version > daemon->build->version) {
		gw_state_raise_version(daemon->state, version);
		gw_cause_add(&daemon->cause, NULL, "the datapath ran a later version");
		daemon->build_always = true;
		gw_daemon_touch(daemon);
	}
}

static void snapshot_in_force(void *owner, uint64_t version, uint64_t took_ns)
{
	struct gw_daemon *daemon = owner;
	const struct gw_build *build = daemon->build;
	bool newest = build && build->version == version;
	char subject[24];

	daemon->datapath.in_force = version;
	daemon->datapath.in_force_ms = gw_clock_wall_ms();
	gw_history_in_force(daemon->history, version, daemon->datapath.in_force_ms);
	daemon->datapath.took_ns = took_ns;
	daemon->datapath.refused = 0;
	snprintf(subject, sizeof(subject), "%llu", (unsigned long long)version);
	if (newest)
		gw_events_add(daemon->events, "publish", subject, "", "in force",
			"%zu of %zu tables made anew in %.1f ms, put in force in %.1f ms",
			build->rebuilt_count, build->pool_count, (double)build->took_ns / 1e6,
			(double)took_ns / 1e6);
	else
		gw_events_add(daemon->events, "publish", subject, "", "in force",
			"put in force in %.1f ms", (double)took_ns / 1e6);
}

static void snapshot_refused(void *owner, uint64_t version, const char *why)
{
	struct gw_daemon *daemon = owner;
	char subject[24];

	snprintf(subject, sizeof(subject), "%llu", (unsigned long long)version);
	daemon->datapath.refused = version;
	daemon->build_always = true; /* the same again may do better */
	snprintf(daemon->datapath.why, sizeof(daemon->datapath.why), "%s", why);
	gw_events_warn(daemon->events, "publish", subject, "", "refused",
		"%s; what was in force goes on", why);
}

/* Starting and stopping. */

void gw_daemon_stop(struct gw_daemon *daemon, const char *why)
{
	if (daemon->stopping)
		return;
	daemon->stopping = true;
	gw_events_add(daemon->events, "stop", "", "", "", "%s; the datapath forwards on", why);
	gw_listeners_close(daemon);
	gw_monitor_free(daemon->monitor);
	gw_hook_close(daemon->hook);
	if (daemon->publisher)
		daemon->publisher->ops->close(daemon->publisher);
	gw_state_writer_close(daemon->writer);
	gw_daemon_end_close(daemon);
	gw_process_close(&daemon->process);
	gw_daemon_members_close(daemon);
	uv_close((uv_handle_t *)&daemon->confirm_timer, NULL);
	uv_close((uv_handle_t *)&daemon->build_timer, NULL);
	uv_close((uv_handle_t *)&daemon->deadline_timer, NULL);
	for (size_t i = 0; i < sizeof(daemon->signals) / sizeof(daemon->signals[0]); i++)
		uv_close((uv_handle_t *)&daemon->signals[i], NULL);
}

static void signal_came(uv_signal_t *handle, int number)
{
	struct gw_daemon *daemon = handle->data;

	if (number != SIGHUP) {
		gw_daemon_end(daemon, number);
		return;
	}
	gw_process_reloading();
	gw_daemon_reload(daemon, &(const struct gw_daemon_wish){.why = "SIGHUP"}, NULL);
	gw_process_reloaded(daemon->load.valid ? "running" : "running; the file is invalid");
}

static void handles_init(struct gw_daemon *daemon)
{
	static const int numbers[] = {SIGHUP, SIGTERM, SIGINT};

	uv_timer_init(daemon->loop, &daemon->confirm_timer);
	daemon->confirm_timer.data = daemon;
	uv_timer_init(daemon->loop, &daemon->build_timer);
	uv_timer_init(daemon->loop, &daemon->deadline_timer);
	daemon->build_timer.data = daemon;
	daemon->deadline_timer.data = daemon;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		uv_signal_init(daemon->loop, &daemon->signals[i]);
		daemon->signals[i].data = daemon;
		uv_signal_start(&daemon->signals[i], signal_came, numbers[i]);
	}
	signal(SIGPIPE, SIG_IGN);
}

/* A probe is a descriptor; thousands of backends need more than the usual 1024. */
static void descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int state_open(struct gw_daemon *daemon)
{
	char warning[GW_STATE_WARNING];
	const char *dir = gw_daemon_state_dir(daemon);
	int ret = gw_state_open(dir, &daemon->state, warning);

	if (ret == -EBUSY)
		gw_log_error("another guideway-control works with the state in %s; give this one "
			     "another by --state-dir",
			dir);
	else if (ret)
		gw_log_error("cannot open the state in %s: %s%s", dir, strerror(-ret),
			ret == -EACCES ? "; where it is another user's, name him by --user" : "");
	else if (warning[0])
		gw_log_warning("%s", warning);
	if (ret)
		return ret;
	ret = gw_node_open(dir, &daemon->node, warning);
	if (ret)
		gw_log_error("cannot read %s/node.json: %s", dir, strerror(-ret));
	else if (warning[0])
		gw_log_warning("%s", warning);
	if (ret)
		return ret;
	ret = gw_state_writer_open(daemon->loop, daemon->state, &daemon->writer);
	if (ret)
		gw_log_error("cannot prepare to write the state in %s: %s", dir, strerror(-ret));
	return ret;
}

/* Numbers must be on disk before a snapshot uses them. */
static int identities_take(struct gw_daemon *daemon)
{
	int ret = gw_config_keep_leavers(
		daemon->config, gw_state_runtime(daemon->state), gw_clock_wall_ms());

	if (ret >= 0)
		ret = gw_daemon_identities_take(daemon, daemon->config, NULL);
	if (ret) {
		gw_log_error("cannot number the configuration's pools, services and backends: %s",
			strerror(-ret));
		return ret;
	}
	ret = gw_state_writer_flush(daemon->writer);
	if (ret)
		gw_log_error("cannot write the state in %s: %s", gw_daemon_state_dir(daemon),
			strerror(-ret));
	return ret;
}

/* Transitions are told to the hook; what the daemon does for itself is not one. */
static void event_heard(void *owner, int64_t time_ms, const char *kind, const char *subject,
	const char *from, const char *to, const char *why)
{
	static const char *const ours[] = {"publish", "start", "stop", "reload"};
	struct gw_daemon *daemon = owner;

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(kind, ours[i]))
			return;
	if (!daemon->stopping)
		gw_hook_run(daemon->hook,
			&(struct gw_hook_event){time_ms, kind, subject, from, to, why});
}

static int monitor_open(struct gw_daemon *daemon)
{
	const struct gw_monitor_events events = {
		.owner = daemon,
		.known = health_known,
		.presumed = health_presumed,
		.changed = health_changed,
		.failed = probe_failed,
	};
	int ret = gw_hook_new(daemon->loop, &daemon->hook);

	if (!ret)
		ret = gw_hook_configure(daemon->hook, &daemon->config->hooks);
	if (!ret)
		gw_events_listen(daemon->events, event_heard, daemon);
	if (!ret)
		ret = gw_monitor_new(daemon->loop, &events, &daemon->monitor);
	if (!ret)
		ret = gw_monitor_configure(daemon->monitor, daemon->config);
	if (ret)
		gw_log_error("cannot start the health checks: %s", strerror(-ret));
	return ret;
}

static int publisher_open(struct gw_daemon *daemon)
{
	const struct gw_publisher_events events = {
		.owner = daemon,
		.datapath = datapath_reported,
		.in_force = snapshot_in_force,
		.refused = snapshot_refused,
	};
	int ret = gw_daemon_publisher_open(daemon, &events);
	uint64_t version;

	if (ret)
		return ret;
	gw_daemon_node_follow(daemon);
	version = daemon->publisher->ops->version(daemon->publisher);
	gw_state_raise_version(daemon->state, version);
	daemon->datapath.in_force = version;
	return 0;
}

/* A start takes what a reload would ask about: whoever edited the file hears what it did. */
static void moves_tell(const struct gw_config *config, const struct gw_config_bundle *last)
{
	struct gw_config_errors errors = {0};
	struct gw_config *former = NULL;
	const json_t *line;
	json_t *lines = NULL;
	size_t i;

	if (last->count && !gw_config_load_texts(last->texts, last->count, 0, &former, &errors))
		lines = gw_config_moves(former, config);
	json_array_foreach (lines, i, line)
		gw_log_warning("%s since the last start", json_string_value(line));
	json_decref(lines);
	gw_config_free(former);
	gw_config_errors_free(&errors);
}

/* A configuration that is not the one kept last is kept as well. */
static void config_keep(struct gw_daemon *daemon)
{
	const struct gw_config *config = daemon->config;
	struct gw_config_bundle last = {0};

	if (gw_config_store_read(gw_daemon_state_dir(daemon), UINT64_MAX, &last) ||
		!gw_config_texts_equal(last.texts, last.count, config->texts, config->text_count)) {
		moves_tell(config, &last);
		gw_daemon_config_keep(daemon, daemon->build->version);
	} else {
		gw_state_config(daemon->state)->version = last.version;
	}
	gw_history_made_from(daemon->history, gw_state_config(daemon->state)->version);
	gw_config_bundle_clear(&last);
}

static int first_publish(struct gw_daemon *daemon)
{
	int ret;

	gw_cause_add(&daemon->cause, NULL, "start of guideway-control");
	ret = gw_daemon_publish(daemon);
	if (ret)
		return ret;
	config_keep(daemon);
	ret = gw_daemon_members_watch(daemon);
	if (!ret && gw_state_config(daemon->state)->held)
		gw_daemon_members_skip(daemon);
	return ret;
}

static int daemon_start(struct gw_daemon *daemon)
{
	int ret = state_open(daemon);

	if (!ret)
		gw_daemon_choose(daemon);
	if (!ret)
		ret = identities_take(daemon);
	if (!ret)
		ret = gw_listeners_open(daemon);
	if (!ret)
		ret = publisher_open(daemon);
	if (!ret)
		ret = first_publish(daemon);
	if (!ret)
		ret = gw_process_started();
	if (!ret)
		ret = monitor_open(daemon);
	if (!ret)
		gw_process_ready(&daemon->process, daemon->loop, "running");
	if (!ret)
		gw_events_add(daemon->events, "start", "", "", "",
			"guideway-control " GW_VERSION ", %s, path %s, API at %s",
			daemon->options.config, gw_config_path_name(daemon->config->dataplane.path),
			gw_daemon_api_socket(daemon) ? gw_daemon_api_socket(daemon) : "none");
	return ret;
}

void gw_daemon_free(struct gw_daemon *daemon)
{
	gw_build_free(daemon->build);
	gw_state_free(daemon->state);
	gw_node_free(daemon->node);
	gw_config_free(daemon->config);
	gw_history_free(daemon->history);
	gw_events_free(daemon->events);
	gw_metrics_cache_free(&daemon->metrics);
	json_decref(daemon->load.errors);
	free(daemon->listeners);
	free(daemon);
}

int gw_daemon_open(uv_loop_t *loop, const struct gw_daemon_options *options, struct gw_daemon **out)
{
	struct gw_daemon *daemon = calloc(1, sizeof(*daemon));
	int ret;

	if (!daemon)
		return EXIT_FAILED;
	daemon->loop = loop;
	daemon->options = *options;
	daemon->start_ms = gw_clock_wall_ms();
	daemon->events = gw_events_new();
	daemon->history = gw_history_new();
	ret = daemon->events && daemon->history ? gw_daemon_load_first(daemon) : -ENOMEM;
	if (ret) {
		gw_daemon_free(daemon);
		return ret == -EINVAL ? EXIT_INVALID : EXIT_FAILED;
	}
	handles_init(daemon);
	ret = daemon_start(daemon);
	if (ret) {
		gw_daemon_stop(daemon, "could not start");
		uv_run(loop, UV_RUN_DEFAULT);
		gw_daemon_free(daemon);
		return EXIT_FAILED;
	}
	*out = daemon;
	return EXIT_DONE;
}

int gw_daemon_run(const struct gw_daemon_options *options)
{
	struct gw_daemon *daemon;
	uv_loop_t loop;
	int status;

	if (uv_loop_init(&loop)) {
		gw_log_error("cannot make an event loop: out of memory");
		return EXIT_FAILED;
	}
	descriptors_raise();
	status = gw_daemon_open(&loop, options, &daemon);
	if (!status) {
		uv_run(&loop, UV_RUN_DEFAULT);
		gw_daemon_free(daemon);
	}
	uv_loop_close(&loop);
	return status;
}
