/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-control's parts and how they hang together, all in one event loop:
 *
 *	monitor --changed--> runtime --touch--> (20 ms) build --> publisher --in_force--> events
 *	SIGHUP, API -------> config, ids, runtime ---------^
 *	API: overrides ----> runtime ------------^
 *
 * daemon.c starts and stops the parts and takes what they report; daemon_build.c turns what changed
 * into a published snapshot; daemon_reload.c exchanges the configuration whole or not at all; the
 * API (api.c) reads this struct and calls the functions below.
 *
 * A restart adopts: the state file brings ids, health, overrides and the version counter, so the
 * first snapshot of a new run decides as the last of the old one did. Where nothing is known, the
 * backends of a new pool serve until their first probe has answered (runtime.h).
 */
#pragma once

#include "control/builder.h"
#include "control/daemon_config.h"
#include "control/events.h"
#include "control/history.h"
#include "control/hook.h"
#include "control/listeners.h"
#include "control/metrics.h"
#include "control/model.h"
#include "control/monitor.h"
#include "control/node.h"
#include "control/process.h"
#include "control/publisher.h"
#include "control/state.h"
#include "control/state_writer.h"

#include <jansson.h>
#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

#define GW_DAEMON_TEXT 256

/* From the command line; NULL: the file's value. */
struct gw_daemon_options {
	const char *config;
	const char *state_dir;
	const char *pin_dir;
	const char *dataplane_socket;
	const char *api_socket;
};

/* The last attempt to read the file. */
struct gw_daemon_load {
	int64_t time_ms; /* wall clock */
	bool valid;
	json_t *errors; /* array of lines; NULL when valid */
};

/* What the publisher last reported. */
struct gw_daemon_datapath {
	bool present;
	char detail[GW_DAEMON_TEXT];
	uint64_t in_force;
	int64_t in_force_ms; /* wall clock; 0: adopted from an earlier run */
	uint64_t took_ns;
	uint64_t refused; /* version, 0: none since the last success */
	char why[GW_DAEMON_TEXT];
};

/* daemon_end.c: waiting for flows to end. */
struct gw_daemon_ending {
	bool draining;
	uint64_t limit; /* of the loop's clock, milliseconds */
	uv_timer_t timer;
};

/* What the API counted since the start. */
struct gw_daemon_api {
	uint64_t requests;
	uint64_t changes; /* asked for, done or not */
	uint64_t refused; /* without a valid token */
	int64_t refused_told_ms;
};

struct gw_daemon {
	uv_loop_t *loop;
	struct gw_daemon_options options;
	struct gw_config *config;
	struct gw_state *state; /* owns ids and runtime */
	struct gw_state_writer *writer;
	struct gw_events *events;
	struct gw_monitor *monitor;
	struct gw_hook *hook;
	struct gw_publisher *publisher;
	struct gw_listeners *listeners;
	struct gw_daemon_api api;
	struct gw_metrics_cache metrics;
	struct gw_build *build; /* the newest: published, in force once the datapath says so */
	struct gw_daemon_load load;
	struct gw_daemon_datapath datapath;
	struct gw_node *node;
	struct gw_process process;
	struct gw_daemon_ending end;
	struct gw_history *history;
	struct gw_cause cause; /* of what is published next */
	struct gw_members_watch *members;
	char disk_digest[33];	   /* of the file as it was last read whole */
	uv_timer_t confirm_timer;  /* a reload that awaits confirmation */
	uv_timer_t build_timer;	   /* coalesces changes */
	uv_timer_t deadline_timer; /* the next drain that ends by time */
	uv_signal_t signals[3];
	int64_t start_ms;  /* wall clock */
	int64_t loaded_ms; /* of the configuration in use */
	bool build_due;
	bool build_failed; /* said once */
	bool build_always; /* the next build is published even if it changes nothing */
	bool stopping;
};

/* Loads the file and starts everything. Returns the exit status that `guideway-control` ends with:
 * 0 after a clean stop, 1 or 5 when it could not start. */
int gw_daemon_run(const struct gw_daemon_options *options);

/* A signal to end: by way of withdrawing where `shutdown` says so (daemon_end.c). */
void gw_daemon_end(struct gw_daemon *daemon, int signal);
void gw_daemon_end_close(struct gw_daemon *daemon);

/* Lets go of everything; the loop ends when all is closed. */
void gw_daemon_stop(struct gw_daemon *daemon, const char *why);

/* The same in pieces, in a loop of the caller's: what gw_daemon_run returns, 0 with *out, or
 * another status after everything was closed again. gw_daemon_stop and the loop's end come before
 * free. */
int gw_daemon_open(
	uv_loop_t *loop, const struct gw_daemon_options *options, struct gw_daemon **out);
void gw_daemon_free(struct gw_daemon *daemon);

/* The datapath follows whether the node announces. */
void gw_daemon_node_follow(struct gw_daemon *daemon);

/* Something that decides packets changed: builds and publishes soon. */
void gw_daemon_touch(struct gw_daemon *daemon);

/*
 * Builds from what is known now and hands it to the publisher; tells events. Returns 0 or -errno,
 * and then what was before goes on.
 */
int gw_daemon_publish(struct gw_daemon *daemon);

/*
 * Takes a finished build as the newest and hands it to the publisher. Consumes it. built_ms: wall
 * clock not after the one it was built with. Unless `always`, one that gives the datapath what it
 * has already is no new version: it takes the former's place under the former's number.
 */
int gw_daemon_publish_build(
	struct gw_daemon *daemon, struct gw_build *build, int64_t built_ms, bool always);

/*
 * What the configuration would be built into, with the present runtime and ids, none of which is
 * changed. newcomers_up: backends that the running configuration does not have count as healthy, as
 * they will once checked. Returns 0 or -errno with a line in error.
 */
int gw_daemon_build_trial(struct gw_daemon *daemon, const struct gw_config *config,
	uint64_t version, bool newcomers_up, struct gw_build **out,
	char error[static GW_BUILD_ERROR]);

/* daemon_tell.c: events for what a build changes beside daemon->build. */
void gw_daemon_tell(struct gw_daemon *daemon, const struct gw_build *build);

/*
 * Ids and runtime take over the configuration; overrides that it ends are told. *ids_changed (may
 * be NULL): write the state before publishing. Returns 0 or -errno.
 */
int gw_daemon_identities_take(
	struct gw_daemon *daemon, const struct gw_config *config, bool *ids_changed);

/* Command line before file. */
const char *gw_daemon_state_dir(const struct gw_daemon *daemon);
const char *gw_daemon_pin_dir(const struct gw_daemon *daemon);
const char *gw_daemon_dataplane_socket(const struct gw_daemon *daemon);
const char *gw_daemon_api_socket(const struct gw_daemon *daemon);

/* publishers.c: opens the one for the configured path. Returns 0 or -errno, having logged. */
int gw_daemon_publisher_open(struct gw_daemon *daemon, const struct gw_publisher_events *events);
/* Tells it of a new configuration, before the old one is freed. */
void gw_daemon_publisher_configure(struct gw_daemon *daemon);
