/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports: any ethdev that EAL has probed. Each worker has a receive and a transmit queue of its own
 * on every port (its index is the queue's), as far as the port has so many receive queues.
 */
#pragma once

#include "abi/dataplane_socket.h"

#include <rte_ether.h>
#include <rte_mempool.h>

#define GW_PORTS_MAX GW_HELLO_PORTS

/* One port. Written by main before the workers start, then only read, except where noted. */
struct gw_port {
	char name[GW_PORT_NAME_MAX]; /* ethdev's */
	char kernel[16];	     /* kernel interface that carries its routes; "" for none */
	char driver[32];
	struct rte_ether_addr mac;
	uint16_t index;	 /* in the order of --port; what gw_link.port means */
	uint16_t ethdev; /* DPDK's port id */
	uint16_t vlan;	 /* id that service traffic leaves with here; 0: untagged */
	uint16_t mtu;	 /* written by the host thread when the link changes (atomic) */
	uint16_t rx_queues;
	uint16_t tx_queues;
	int socket;	      /* NUMA node; SOCKET_ID_ANY when it has none */
	bool steer;	      /* our steering program feeds it */
	bool kernel_has_copy; /* the kernel sees every frame too: nothing is handed to it again */
	bool no_host_path;    /* frames for the host cannot reach its stack; host.c */
	bool any_mac;	      /* take frames to any destination MAC (replay) */
	bool rx_interrupts;   /* its receive queues can wake a worker */
	bool link_up;	      /* written by the host thread (atomic) */
};

/* What --port says: NAME[,kernel=IFNAME][,vlan=N][,steer]. */
struct gw_port_spec {
	char name[GW_PORT_NAME_MAX];
	char kernel[16];
	uint16_t vlan;
	bool steer;
};

/* Returns 0, or -EINVAL with *why naming the part that is wrong (a static text). */
int gw_port_spec_parse(struct gw_port_spec *spec, const char *text, const char **why);

/*
 * Opens the port: queues for so many workers, MTU, MAC, promiscuity off. Logs what is wrong and
 * what to do. The caller owns *port and closes it. Main thread, after rte_eal_init.
 */
int gw_port_open(struct gw_port *port, const struct gw_port_spec *spec, uint16_t index,
	uint16_t workers, struct rte_mempool *pool);
int gw_port_start(struct gw_port *port);
void gw_port_close(struct gw_port *port);
