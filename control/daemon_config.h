/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which configuration the daemon works with.
 *
 *	file, SIGHUP, API ----> gw_daemon_reload --+
 *	members files, inotify > daemon_members.c -+--> gw_daemon_take: whole or not at all
 *	API, deadline --------> gw_daemon_rollback-+
 *
 * Each configuration that was taken is kept in the state folder (config_store.h) under the first
 * snapshot version made from it; going back reads it from there. After going back the file on disk
 * is not what is in use, so it is set aside: a restart goes on with what was in use until the file
 * changes or someone asks for a reload. A reload that awaits confirmation and does not get it in
 * time goes back by itself, also when control was down at that time.
 */
#pragma once

#include "control/config.h"

#include <uv.h>

#include <stdint.h>

struct gw_daemon;

/* What someone asks for. */
struct gw_daemon_wish {
	const char *why;     /* "SIGHUP", "config reload" */
	const char *who;     /* NULL: nobody in particular */
	bool accept_moves;   /* may change table_size, hash_seed, affinity */
	uint32_t confirm_ms; /* goes back unless confirmed within; 0: stays */
};

/* Where a configuration comes from. */
enum gw_daemon_origin {
	GW_ORIGIN_FILE,	   /* read from disk just now */
	GW_ORIGIN_MEMBERS, /* what was in use, with other members */
	GW_ORIGIN_KEPT,	   /* an earlier one; the file is set aside */
	GW_ORIGIN_REFRESH, /* what was in use, without removed backends that drained */
};

/* The first load; -EINVAL after logging every error. When members files alone are to blame, what
 * was last in use is loaded instead. */
int gw_daemon_load_first(struct gw_daemon *daemon);

/* At the start, once the state is open: goes on with what was in use where the file is set aside,
 * or back where a confirmation never came. */
void gw_daemon_choose(struct gw_daemon *daemon);

/*
 * Reads the file again. Returns 0 and *changed (may be NULL) tells whether it was another one;
 * -EINVAL with the errors in daemon->load, -EPERM with what would move there.
 */
int gw_daemon_reload(struct gw_daemon *daemon, const struct gw_daemon_wish *wish, bool *changed);

/* Back to what was in use at this snapshot version. The same; -ENOENT when it is not kept. */
int gw_daemon_rollback(
	struct gw_daemon *daemon, uint64_t version, const struct gw_daemon_wish *wish);

/* What awaits confirmation stays. -ENOENT when nothing does. */
int gw_daemon_confirm(struct gw_daemon *daemon, const char *who);

/* Lets removed backends go whose drain is over. */
void gw_daemon_refresh(struct gw_daemon *daemon);

/*
 * Takes a loaded configuration, consumed in any case. Returns 0, -EINVAL or -EPERM as
 * gw_daemon_reload, having told.
 */
int gw_daemon_take(struct gw_daemon *daemon, struct gw_config *config, enum gw_daemon_origin origin,
	const struct gw_daemon_wish *wish, bool *changed);

/* Loads `texts` with errors told and kept in daemon->load. */
int gw_daemon_texts_load(struct gw_daemon *daemon, const struct gw_config_text *texts, size_t count,
	struct gw_config **out);
/* Notes the outcome of an attempt; consumes errors, NULL for none. */
void gw_daemon_load_note(struct gw_daemon *daemon, json_t *errors);

/* The configuration in use was published as this version: keeps it, if it is not the one kept. */
void gw_daemon_config_keep(struct gw_daemon *daemon, uint64_t version);

/* daemon_rollback.c: arms or stops the timer by what the state says. */
void gw_daemon_confirm_arm(struct gw_daemon *daemon);

/* daemon_members.c: watches the members files of the configuration in use. */
struct gw_members_watch;
int gw_daemon_members_watch(struct gw_daemon *daemon);
void gw_daemon_members_close(struct gw_daemon *daemon);
/* What they hold now is known and not to be taken; what they hold later is. */
void gw_daemon_members_skip(struct gw_daemon *daemon);
/* Looks at them now. */
void gw_daemon_members_look(struct gw_daemon *daemon);
