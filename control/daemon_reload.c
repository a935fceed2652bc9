/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A configuration is taken whole or not at all: loaded, then built on copies of ids and runtime,
 * and only when that worked put in the place of the one in use. Identities that stay keep their
 * health, overrides and counters.
 */
#include "base/log.h"
#include "control/config.h"
#include "control/daemon.h"

#include <errno.h>
#include <string.h>

static void load_record(struct gw_daemon *daemon, json_t *errors)
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

static int config_load(struct gw_daemon *daemon, struct gw_config **out)
{
	struct gw_config_errors errors = {0};
	int ret = gw_config_load(daemon->options.config, GW_CONFIG_DAEMON, out, &errors);

	if (ret == -EINVAL)
		load_record(daemon, errors_lines(&errors));
	else if (ret)
		load_record(daemon, json_pack("[s]", strerror(-ret)));
	gw_config_errors_free(&errors);
	return ret;
}

int gw_daemon_load_first(struct gw_daemon *daemon)
{
	int ret = config_load(daemon, &daemon->config);

	if (ret)
		return ret;
	load_record(daemon, NULL);
	daemon->loaded_ms = daemon->load.time_ms;
	return 0;
}

static void override_ended(void *owner, const struct gw_runtime_backend *backend)
{
	struct gw_daemon *daemon = owner;
	char subject[2 * GW_NAME_MAX + 2];

	snprintf(subject, sizeof(subject), "%s/%s", backend->pool, backend->name);
	gw_events_add(daemon->events, "override", subject, "set", "ended",
		"the file's own value changed");
}

int gw_daemon_identities_take(
	struct gw_daemon *daemon, const struct gw_config *config, bool *ids_changed)
{
	int ret =
		gw_ids_assign(gw_state_ids(daemon->state), config, gw_clock_boot_ms(), ids_changed);

	int64_t now_ms = gw_clock_wall_ms();

	if (!ret)
		ret = gw_runtime_apply(
			gw_state_runtime(daemon->state), config, now_ms, override_ended, daemon);
	if (!ret) /* as the trial build of a reload did on its copy */
		gw_runtime_advance(gw_state_runtime(daemon->state), now_ms);
	return ret;
}

static bool text_differs(const char *a, const char *b)
{
	return a != b && (!a || !b || strcmp(a, b));
}

static bool interfaces_differ(
	const struct gw_config_dataplane *old, const struct gw_config_dataplane *new)
{
	if (old->interface_count != new->interface_count)
		return true;
	for (size_t i = 0; i < old->interface_count; i++) {
		const struct gw_config_interface *a = &old->interfaces[i], *b = &new->interfaces[i];

		if (text_differs(a->name, b->name) || text_differs(a->pci, b->pci) ||
			text_differs(a->vdev, b->vdev) || a->mode != b->mode || a->vlan != b->vlan)
			return true;
	}
	return false;
}

/* What only a restart can change keeps its old value till then; say so. */
static void fixed_tell(const struct gw_daemon *daemon, const struct gw_config *new)
{
	const struct gw_config *old = daemon->config;

	if (old->dataplane.path != new->dataplane.path)
		gw_log_warning("dataplane.path changed from %s to %s: restart guideway-control "
			       "for that",
			gw_config_path_name(old->dataplane.path),
			gw_config_path_name(new->dataplane.path));
	if (interfaces_differ(&old->dataplane, &new->dataplane) ||
		old->dataplane.flows != new->dataplane.flows)
		gw_log_warning("dataplane.interfaces or dataplane.flows changed: restart %s for "
			       "that",
			new->dataplane.path == GW_CONFIG_PATH_DPDK ? "guideway-dataplane"
								   : "guideway-control");
	if (!daemon->options.state_dir && text_differs(old->state_dir, new->state_dir))
		gw_log_warning("the state folder changed to %s: restart guideway-control for that",
			new->state_dir);
}

/* Ids, runtime, monitor and publisher take over the configuration, which was tried before. */
static int config_adopt(struct gw_daemon *daemon, struct gw_config *config)
{
	struct gw_config *former = daemon->config;
	bool ids_changed = false;
	int ret;

	ret = gw_daemon_identities_take(daemon, config, &ids_changed);
	if (ret)
		return ret;
	ret = gw_monitor_configure(daemon->monitor, config);
	if (!ret)
		ret = gw_hook_configure(daemon->hook, &config->hooks);
	if (ret)
		return ret;
	fixed_tell(daemon, config);
	daemon->config = config;
	gw_daemon_publisher_configure(daemon);
	gw_config_free(former);
	if (ids_changed) {
		ret = gw_state_writer_flush(daemon->writer);
		if (ret)
			gw_log_error("cannot write the state in %s: %s; after a crash flows may "
				     "move",
				gw_daemon_state_dir(daemon), strerror(-ret));
	}
	return 0;
}

int gw_daemon_reload(struct gw_daemon *daemon, const char *why)
{
	char error[GW_LISTENERS_ERROR];
	struct gw_listeners_change *listeners;
	struct gw_config *config;
	struct gw_build *build;
	int64_t begun_ms = gw_clock_wall_ms();
	int ret = config_load(daemon, &config);

	if (ret) {
		gw_events_warn(daemon->events, "reload", daemon->options.config, "", "refused",
			"%s: errors: %zu; the configuration in use goes on", why,
			json_array_size(daemon->load.errors));
		return ret;
	}
	ret = gw_listeners_prepare(daemon, config, &listeners, error);
	if (!ret) {
		ret = gw_daemon_build_trial(daemon, config, gw_state_next_version(daemon->state),
			false, &build, error);
		if (ret)
			gw_listeners_abandon(listeners);
	}
	if (!ret) {
		ret = config_adopt(daemon, config);
		if (ret) {
			snprintf(error, sizeof(error), "%s", strerror(-ret));
			gw_build_free(build);
			gw_listeners_abandon(listeners);
		} else {
			gw_listeners_commit(daemon, listeners);
		}
	}
	if (ret) {
		gw_config_free(config);
		load_record(daemon, json_pack("[s]", error));
		gw_events_warn(daemon->events, "reload", daemon->options.config, "", "refused",
			"%s: %s; the configuration in use goes on", why, error);
		return ret == -ENOMEM ? ret : -EINVAL;
	}
	load_record(daemon, NULL);
	daemon->loaded_ms = daemon->load.time_ms;
	gw_events_add(daemon->events, "reload", daemon->options.config, "", "accepted",
		"%s: %zu pools, %zu services, %zu tables made anew", why, config->pool_count,
		config->service_count, build->rebuilt_count);
	gw_daemon_publish_build(daemon, build, begun_ms); /* tells what fails, and tries on */
	return 0;
}
