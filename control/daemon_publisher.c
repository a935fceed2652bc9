/* SPDX-License-Identifier: BSD-2-Clause */
/* Which publisher serves the configured path, and what it is told. */
#include "base/log.h"
#include "control/daemon.h"
#include "control/publish_dpdk.h"
#include "control/publish_xdp.h"

#include <errno.h>
#include <string.h>

static int xdp_open(struct gw_daemon *daemon, const struct gw_publisher_events *events)
{
	struct gw_publisher_xdp_options options = {
		.config = daemon->config,
		.pin_dir = gw_daemon_pin_dir(daemon),
	};
	int ret = gw_publisher_xdp_open(daemon->loop, &options, events, &daemon->publisher);

	if (ret)
		gw_log_error("cannot start the XDP datapath: %s", strerror(-ret));
	return ret;
}

static int dpdk_open(struct gw_daemon *daemon, const struct gw_publisher_events *events)
{
	struct gw_publisher_dpdk_options options = {
		.socket = gw_daemon_dataplane_socket(daemon),
		.dataplane = &daemon->config->dataplane,
	};
	int ret = gw_publisher_dpdk_open(daemon->loop, &options, events, &daemon->publisher);

	if (ret)
		gw_log_error("cannot reach for guideway-dataplane at %s: %s", options.socket,
			strerror(-ret));
	return ret;
}

int gw_daemon_publisher_open(struct gw_daemon *daemon, const struct gw_publisher_events *events)
{
	if (daemon->config->dataplane.path == GW_CONFIG_PATH_DPDK)
		return dpdk_open(daemon, events);
	return xdp_open(daemon, events);
}

void gw_daemon_publisher_configure(struct gw_daemon *daemon)
{
	if (!strcmp(daemon->publisher->ops->name, "dpdk"))
		gw_publisher_dpdk_configure(daemon->publisher, &daemon->config->dataplane);
}
