/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's end. SIGTERM withdraws: the node announces its addresses no longer, while all that
 * arrives is forwarded as before. With `shutdown.drain` it then waits until no flow is tracked any
 * more, or that time is over, and only then ends; a second signal ends it at once. Without it,
 * the default, it ends at once, and a restart is over before anybody has noticed: in both paths the
 * datapath forwards on without this process.
 */
#include "control/daemon.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#define LOOK_MS 1000

static bool flows_ended(struct gw_daemon *daemon)
{
	struct gw_publisher_stats stats = {0};

	return daemon->publisher->ops->stats(daemon->publisher, &stats) || !stats.flows_active;
}

static void drain_look(uv_timer_t *timer)
{
	struct gw_daemon *daemon = timer->data;
	bool late = uv_now(daemon->loop) >= daemon->end.limit;

	if (!late && !flows_ended(daemon))
		return;
	gw_daemon_stop(daemon, late ? "shutdown.drain is over" : "no flow is left");
}

static const char *signal_name(int number)
{
	return number == SIGTERM ? "SIGTERM" : "SIGINT";
}

void gw_daemon_end(struct gw_daemon *daemon, int signal)
{
	uint64_t drain = daemon->config->shutdown_drain_ms;
	char status[96];

	if (daemon->stopping)
		return;
	if (signal != SIGTERM || !drain || daemon->end.draining || !daemon->publisher ||
		!daemon->datapath.present) {
		gw_process_stopping("ending", 0);
		gw_daemon_stop(daemon, signal_name(signal));
		return;
	}
	daemon->end.draining = true;
	daemon->end.limit = uv_now(daemon->loop) + drain;
	gw_node_leave(daemon->node);
	gw_daemon_node_follow(daemon);
	snprintf(status, sizeof(status), "withdrawn; waiting up to %" PRIu64 " s for flows to end",
		(drain + 999) / 1000);
	gw_events_add(
		daemon->events, "node", "", "", "leaving", "%s: %s", signal_name(signal), status);
	gw_process_stopping(status, drain);
	uv_timer_init(daemon->loop, &daemon->end.timer);
	daemon->end.timer.data = daemon;
	uv_timer_start(&daemon->end.timer, drain_look, LOOK_MS, LOOK_MS);
}

void gw_daemon_node_follow(struct gw_daemon *daemon)
{
	if (daemon->publisher)
		daemon->publisher->ops->withdraw(
			daemon->publisher, !gw_node_announces(daemon->node));
}

void gw_daemon_end_close(struct gw_daemon *daemon)
{
	if (daemon->end.draining)
		uv_close((uv_handle_t *)&daemon->end.timer, NULL);
}
