/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the daemon is spoken to: the API's Unix sockets, its TCP listener, and the metrics'. A
 * reload opens what is new before anything is taken over, so a port that is in use or a certificate
 * that does not suit its key refuses the whole reload; what is unchanged keeps its connections.
 */
#pragma once

#include "control/config.h"

#include <stdint.h>

struct gw_daemon;
struct gw_listeners;
struct gw_listeners_change;

#define GW_LISTENERS_ERROR 400

/* Opens those of daemon->config. Returns 0, or -errno after logging why. */
int gw_listeners_open(struct gw_daemon *daemon);
void gw_listeners_close(struct gw_daemon *daemon);

/*
 * Opens what `config` wants and is not there yet, and changes nothing else. Returns 0 and *out is
 * to be committed or abandoned, or -errno with a line in `error`.
 */
int gw_listeners_prepare(struct gw_daemon *daemon, const struct gw_config *config,
	struct gw_listeners_change **out, char error[static GW_LISTENERS_ERROR]);
/* The new ones answer, those that are not wanted any more end. Consumes the change. */
void gw_listeners_commit(struct gw_daemon *daemon, struct gw_listeners_change *change);
void gw_listeners_abandon(struct gw_listeners_change *change); /* NULL is fine */

/* When the API's certificate ends, wall clock in ms; 0: it has none. */
int64_t gw_listeners_certificate_end(const struct gw_daemon *daemon);
