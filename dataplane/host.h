/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The host thread: what is not the balancer's reaches the kernel, and what the kernel sends reaches
 * the wire.
 *
 * Where DPDK owns a port alone (a NIC bound to vfio, or a port whose `kernel=` names an interface
 * that does not exist), the thread makes a tap with the port's MAC and MTU: addresses, routes, ARP,
 * BGP live there. Workers put the host's frames on a ring, the thread writes them to the tap; what
 * the kernel sends on the tap goes by ring to the first worker. Where the kernel keeps its
 * interface (af_xdp, af_packet) it has its own frames already, and nothing is handed over.
 *
 * The thread also keeps the next hops live (neighbour.h). It sleeps in epoll; only while taps exist
 * does it look at the rings every millisecond, for workers make no system call to wake it.
 */
#pragma once

struct gw_engine;
struct gw_host;

/* Makes the taps and starts the thread; ports are open. Sets port.kernel where it made a tap. Logs.
 */
int gw_host_start(struct gw_engine *engine, struct gw_host **out);

/* A new generation came: its next hops are wanted now. Any thread. NULL is fine. */
void gw_host_wake(struct gw_host *host);

/* Ends the thread and removes the taps; the workers have stopped. NULL is fine. */
void gw_host_stop(struct gw_host *host);
