/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/listeners.h"

#include "base/log.h"
#include "control/api.h"
#include "control/daemon.h"
#include "control/metrics.h"
#include "http_listen.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPEC_MAX	 256
#define CONNECTIONS	 64
#define CONNECTIONS_EACH 16 /* from one address */

/* What one of them is to be. spec tells one from another; "" is none. */
struct wanted {
	char spec[SPEC_MAX];
	const struct gw_config_socket *socket; /* of these two one or none */
	const struct gw_config_listen *listen;
	struct gw_http_tls tls;
};

struct listener {
	struct gw_api_entry entry;
	struct gw_http_server *server; /* NULL: none */
	char spec[SPEC_MAX];
	uint64_t tls_hash;
	int64_t tls_ends_ms;
};

struct gw_listeners {
	struct listener at[GW_DOORS];
};

struct gw_listeners_change {
	struct gw_config_socket control; /* the command line's path has the last word */
	struct wanted wanted[GW_DOORS];
	int fd[GW_DOORS]; /* opened anew; -1: none */
};

static const char *const door_keys[GW_DOORS] = {
	[GW_DOOR_CONTROL] = "api.unix",
	[GW_DOOR_READ_ONLY] = "api.read_only.unix",
	[GW_DOOR_TCP] = "api.tcp.listen",
	[GW_DOOR_METRICS] = "metrics.listen",
};

/* Fills change->wanted from the configuration; certificates are read. */
static int wants_find(struct gw_daemon *daemon, const struct gw_config *config,
	struct gw_listeners_change *change, char error[static GW_LISTENERS_ERROR])
{
	struct wanted *wanted = change->wanted;
	const struct gw_config_tcp *tcp = &config->api.tcp;
	char why[GW_PRIVATE_ERROR];
	int ret;

	change->control = config->api.control;
	if (daemon->options.api_socket)
		change->control.path = daemon->options.api_socket;
	wanted[GW_DOOR_CONTROL].socket = &change->control;
	wanted[GW_DOOR_READ_ONLY].socket =
		config->api.read_only.path ? &config->api.read_only : NULL;
	wanted[GW_DOOR_TCP].listen = tcp->listen.text ? &tcp->listen : NULL;
	wanted[GW_DOOR_METRICS].listen = config->metrics.text ? &config->metrics : NULL;
	for (int i = 0; i < GW_DOORS; i++)
		snprintf(wanted[i].spec, SPEC_MAX, "%s",
			wanted[i].socket   ? wanted[i].socket->path
			: wanted[i].listen ? wanted[i].listen->text
					   : "");
	if (!tcp->certificate)
		return 0;
	ret = gw_http_tls_read(&wanted[GW_DOOR_TCP].tls, tcp->certificate, tcp->key, why);
	if (ret)
		snprintf(error, GW_LISTENERS_ERROR, "api.tcp.certificate: %s", why);
	return ret;
}

static int one_open(
	enum gw_door door, const struct wanted *wanted, char error[static GW_LISTENERS_ERROR])
{
	int fd = wanted->socket ? gw_http_listen_unix(wanted->socket)
				: gw_http_listen_tcp(wanted->listen);

	if (fd == -EADDRINUSE && door == GW_DOOR_CONTROL)
		snprintf(error, GW_LISTENERS_ERROR,
			"another guideway-control answers at %.*s; end that one, or give this one "
			"another socket by --socket",
			SPEC_MAX, wanted->spec);
	else if (fd == -ENOKEY)
		snprintf(error, GW_LISTENERS_ERROR, "%s: there is no group \"%s\"", door_keys[door],
			wanted->socket->group);
	else if (fd < 0)
		snprintf(error, GW_LISTENERS_ERROR, "%s: cannot listen at %s: %s", door_keys[door],
			wanted->spec, strerror(-fd));
	return fd;
}

int gw_listeners_prepare(struct gw_daemon *daemon, const struct gw_config *config,
	struct gw_listeners_change **out, char error[static GW_LISTENERS_ERROR])
{
	struct gw_listeners_change *change = calloc(1, sizeof(*change));
	int ret;

	snprintf(error, GW_LISTENERS_ERROR, "out of memory");
	if (!change)
		return -ENOMEM;
	for (int i = 0; i < GW_DOORS; i++)
		change->fd[i] = -1;
	ret = wants_find(daemon, config, change, error);
	for (enum gw_door i = 0; i < GW_DOORS && !ret; i++) {
		const struct listener *now = &daemon->listeners->at[i];
		const struct wanted *wanted = &change->wanted[i];

		if (wanted->socket && gw_http_group_check(wanted->socket)) {
			snprintf(error, GW_LISTENERS_ERROR, "%s: there is no group \"%s\"",
				door_keys[i], wanted->socket->group);
			ret = -EINVAL;
		} else if (wanted->spec[0] &&
			   (!now->server || strcmp(now->spec, wanted->spec) != 0)) {
			ret = one_open(i, wanted, error);
			if (ret >= 0) {
				change->fd[i] = ret;
				ret = 0;
			}
		}
	}
	if (ret) {
		gw_listeners_abandon(change);
		return ret;
	}
	*out = change;
	return 0;
}

static void change_free(struct gw_listeners_change *change)
{
	for (int i = 0; i < GW_DOORS; i++)
		gw_http_tls_clear(&change->wanted[i].tls);
	free(change);
}

void gw_listeners_abandon(struct gw_listeners_change *change)
{
	if (!change)
		return;
	for (int i = 0; i < GW_DOORS; i++) {
		if (change->fd[i] < 0)
			continue;
		close(change->fd[i]);
		if (change->wanted[i].socket)
			unlink(change->wanted[i].spec);
	}
	change_free(change);
}

/* Serves at fd, which is given away. */
static int listener_start(
	struct gw_daemon *daemon, enum gw_door door, struct wanted *wanted, int fd)
{
	struct listener *listener = &daemon->listeners->at[door];
	const struct gw_http_handler handler = {
		.owner = &listener->entry,
		.body_limit = door == GW_DOOR_METRICS ? gw_metrics_body_limit : gw_api_body_limit,
		.answer = door == GW_DOOR_METRICS ? gw_metrics_answer : gw_api_answer,
	};
	const struct gw_http_options options = {
		.listener = fd,
		.unix_path = wanted->socket ? wanted->spec : NULL,
		.tls = wanted->tls.certificate ? &wanted->tls : NULL,
		.connections = CONNECTIONS,
		.connections_each = door == GW_DOOR_TCP ? CONNECTIONS_EACH : 0,
	};
	int ret;

	listener->entry = (struct gw_api_entry){daemon, door};
	ret = gw_http_server_open(daemon->loop, &options, &handler, &listener->server);
	if (ret) {
		listener->server = NULL;
		gw_log_error("%s: cannot serve at %s: %s", door_keys[door], wanted->spec,
			strerror(-ret));
		return ret;
	}
	snprintf(listener->spec, sizeof(listener->spec), "%s", wanted->spec);
	listener->tls_hash = wanted->tls.hash;
	listener->tls_ends_ms = wanted->tls.expires_ms;
	return 0;
}

static int one_commit(struct gw_daemon *daemon, enum gw_door door, struct wanted *wanted, int fd)
{
	struct listener *now = &daemon->listeners->at[door];
	struct gw_http_server *former = now->server;
	int ret;

	if (fd >= 0 || !wanted->spec[0]) {
		now->server = NULL;
		gw_http_server_retire(former, NULL);
		return fd >= 0 ? listener_start(daemon, door, wanted, fd) : 0;
	}
	if (now->tls_hash != wanted->tls.hash) {
		now->server = NULL;
		gw_http_server_retire(former, &fd);
		return listener_start(daemon, door, wanted, fd);
	}
	ret = wanted->socket ? gw_http_socket_allow(wanted->socket) : 0;
	if (ret)
		gw_log_warning("%s: cannot give %s its group: %s; restart guideway-control for "
			       "that",
			door_keys[door], wanted->spec, strerror(-ret));
	return 0;
}

static int change_commit(struct gw_daemon *daemon, struct gw_listeners_change *change)
{
	int ret = 0;

	for (enum gw_door i = 0; i < GW_DOORS; i++) {
		int error = one_commit(daemon, i, &change->wanted[i], change->fd[i]);

		ret = ret ? ret : error;
	}
	change_free(change);
	return ret;
}

void gw_listeners_commit(struct gw_daemon *daemon, struct gw_listeners_change *change)
{
	change_commit(daemon, change); /* has logged */
}

int gw_listeners_open(struct gw_daemon *daemon)
{
	struct gw_listeners_change *change;
	char error[GW_LISTENERS_ERROR];
	int ret;

	daemon->listeners = calloc(1, sizeof(*daemon->listeners));
	if (!daemon->listeners)
		return -ENOMEM;
	ret = gw_listeners_prepare(daemon, daemon->config, &change, error);
	if (ret) {
		gw_log_error("%s", error);
		return ret;
	}
	return change_commit(daemon, change);
}

void gw_listeners_close(struct gw_daemon *daemon)
{
	if (!daemon->listeners)
		return;
	for (int i = 0; i < GW_DOORS; i++)
		gw_http_server_close(daemon->listeners->at[i].server);
}

int64_t gw_listeners_certificate_end(const struct gw_daemon *daemon)
{
	return daemon->listeners ? daemon->listeners->at[GW_DOOR_TCP].tls_ends_ms : 0;
}
