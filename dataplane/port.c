/* SPDX-License-Identifier: BSD-2-Clause */
#include "port.h"

#include "base/log.h"

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>

#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESCRIPTORS 1024

static int set_option(struct gw_port_spec *spec, const char *option, const char **why)
{
	if (strcmp(option, "steer") == 0) {
		spec->steer = true;
		return 0;
	}
	if (strncmp(option, "kernel=", 7) == 0) {
		if (!option[7] || strlen(option + 7) >= IF_NAMESIZE) {
			*why = "kernel= wants an interface's name of 1 to 15 characters";
			return -EINVAL;
		}
		snprintf(spec->kernel, sizeof(spec->kernel), "%s", option + 7);
		return 0;
	}
	if (strncmp(option, "vlan=", 5) == 0) {
		char *end;
		unsigned long vlan = strtoul(option + 5, &end, 10);

		if (option[5] < '0' || option[5] > '9' || *end || vlan < 1 || vlan > 4094) {
			*why = "vlan= wants a number from 1 to 4094";
			return -EINVAL;
		}
		spec->vlan = (uint16_t)vlan;
		return 0;
	}
	*why = "the options are kernel=IFNAME, vlan=N and steer";
	return -EINVAL;
}

int gw_port_spec_parse(struct gw_port_spec *spec, const char *text, const char **why)
{
	struct gw_port_spec made = {};
	char copy[GW_PORT_NAME_MAX + 64];
	char *option, *rest;

	if (strlen(text) >= sizeof(copy)) {
		*why = "too long";
		return -EINVAL;
	}
	strcpy(copy, text);
	rest = copy;
	option = strsep(&rest, ",");
	if (!*option || strlen(option) >= sizeof(made.name)) {
		*why = "the port's name is empty or longer than 63 characters";
		return -EINVAL;
	}
	snprintf(made.name, sizeof(made.name), "%s", option);
	while ((option = strsep(&rest, ",")))
		if (set_option(&made, option, why))
			return -EINVAL;
	*spec = made;
	return 0;
}

/* The iface= of an af_packet or af_xdp device. */
static void find_kernel(struct gw_port *port, const struct rte_device *device)
{
	const struct rte_devargs *devargs = rte_dev_devargs(device);
	const char *at = devargs && devargs->args ? strstr(devargs->args, "iface=") : NULL;

	if (at && !port->kernel[0])
		snprintf(port->kernel, sizeof(port->kernel), "%.*s", (int)strcspn(at + 6, ","),
			at + 6);
}

/*
 * Network cards can wake a sleeping worker. Virtual ports are not asked: most only write errors to
 * DPDK's log, memif cannot before its other end is there, and net_tap hands frames out only after a
 * signal that comes later than its interrupt.
 */
static bool may_interrupt(const struct rte_eth_dev_info *info)
{
	const struct rte_bus *bus = rte_dev_bus(info->device);

	return bus && strcmp(rte_bus_name(bus), "vdev") != 0;
}

static int configure(struct gw_port *port, const struct rte_eth_dev_info *info, uint16_t workers,
	struct rte_mempool *pool)
{
	struct rte_eth_conf conf = {.intr_conf.rxq = port->rx_interrupts};
	uint16_t rx_descriptors = DESCRIPTORS, tx_descriptors = DESCRIPTORS;
	int error;

	port->rx_queues = workers < info->max_rx_queues ? workers : info->max_rx_queues;
	port->tx_queues = workers;
	if (workers > info->max_tx_queues) {
		gw_log_error("port %s: %u transmit queues, but %u workers need one each: give it "
			     "more (af_packet: qpairs=, af_xdp: queue_count=), or fewer --cpus",
			port->name, info->max_tx_queues, workers);
		return -EINVAL;
	}
	if (port->rx_queues > 1) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf =
			(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP) &
			info->flow_type_rss_offloads;
		if (!conf.rx_adv_conf.rss_conf.rss_hf)
			conf.rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	}
	error = rte_eth_dev_configure(port->ethdev, port->rx_queues, port->tx_queues, &conf);
	if (!error)
		error = rte_eth_dev_adjust_nb_rx_tx_desc(
			port->ethdev, &rx_descriptors, &tx_descriptors);
	for (uint16_t i = 0; i < port->rx_queues && !error; i++)
		error = rte_eth_rx_queue_setup(
			port->ethdev, i, rx_descriptors, (unsigned int)port->socket, NULL, pool);
	for (uint16_t i = 0; i < port->tx_queues && !error; i++)
		error = rte_eth_tx_queue_setup(
			port->ethdev, i, tx_descriptors, (unsigned int)port->socket, NULL);
	if (error)
		gw_log_error("port %s: queues: %s", port->name, strerror(-error));
	return error;
}

int gw_port_open(struct gw_port *port, const struct gw_port_spec *spec, uint16_t index,
	uint16_t workers, struct rte_mempool *pool)
{
	struct gw_port made = {.index = index, .steer = spec->steer};
	struct rte_eth_dev_info info;
	int error;

	memcpy(made.name, spec->name, sizeof(made.name));
	memcpy(made.kernel, spec->kernel, sizeof(made.kernel));
	made.vlan = spec->vlan;
	if (rte_eth_dev_get_port_by_name(made.name, &made.ethdev) != 0) {
		gw_log_error("port %s: DPDK knows no such device; give EAL a --vdev or -a for it",
			made.name);
		return -ENODEV;
	}
	error = rte_eth_dev_info_get(made.ethdev, &info);
	if (error)
		return error;
	snprintf(made.driver, sizeof(made.driver), "%s", info.driver_name);
	made.kernel_has_copy = strcmp(made.driver, "net_af_packet") == 0;
	made.socket = rte_eth_dev_socket_id(made.ethdev);
	find_kernel(&made, info.device);
	made.rx_interrupts = may_interrupt(&info);
	error = configure(&made, &info, workers, pool);
	if (error && made.rx_interrupts) {
		gw_log_info("port %s: no receive interrupts; idle workers nap instead", made.name);
		made.rx_interrupts = false;
		error = configure(&made, &info, workers, pool);
	}
	if (!error)
		error = rte_eth_macaddr_get(made.ethdev, &made.mac);
	if (!error)
		error = rte_eth_dev_get_mtu(made.ethdev, &made.mtu);
	if (error)
		return error;
	*port = made;
	return 0;
}

int gw_port_start(struct gw_port *port)
{
	struct rte_eth_link link = {};
	int error = rte_eth_dev_start(port->ethdev);

	if (error) {
		gw_log_error("port %s: does not start: %s", port->name, strerror(-error));
		return error;
	}
	if (rte_eth_link_get_nowait(port->ethdev, &link) == 0)
		port->link_up = link.link_status == RTE_ETH_LINK_UP;
	return 0;
}

void gw_port_close(struct gw_port *port)
{
	rte_eth_dev_stop(port->ethdev);
	rte_eth_dev_close(port->ethdev);
}
