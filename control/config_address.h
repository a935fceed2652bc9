/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Readers of what names a place on the network or in the machine: addresses, prefixes, ports,
 * listening sockets, interfaces, CPUs.
 */
#pragma once

#include "config_walk.h"

CONFIG_READER(config_read_source); /* of family key->min, 4 or 6; key->count_offset: a bool */
CONFIG_READER(config_read_source_prefix); /* the same for a prefix of at least two addresses */
CONFIG_READER(config_read_host);	  /* one address that packets can be sent to */
CONFIG_READER(config_read_listen);	  /* a struct gw_config_listen */
CONFIG_READER(config_read_cpus);	  /* of struct gw_config_dataplane: "1" or "1-3,5" */
CONFIG_READER(config_read_interface);	  /* a kernel interface's name */
CONFIG_READER(config_read_pci);		  /* "0000:01:00.0" or "01:00.0" */
CONFIG_READER(config_read_table_size);

/* One element of services[].addresses and .ports, and of healthcheck.expect. */
bool config_element_vip(struct config_walk *walk, yaml_node_t *node, void *item);
bool config_element_ports(struct config_walk *walk, yaml_node_t *node, void *item);
bool config_element_status(struct config_walk *walk, yaml_node_t *node, void *item);
