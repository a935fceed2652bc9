/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server's end of abi/dataplane_socket.h: one listening socket, at most one connection. Main
 * only; nothing here blocks. Any breach of the protocol closes the connection and changes nothing
 * else; every descriptor that comes with a message is closed here, wanted or not.
 */
#pragma once

#include "abi/dataplane_socket.h"

struct gw_engine;
struct gw_stats_area;

struct gw_control_socket {
	struct gw_engine *engine;
	struct gw_stats_area *stats;
	int listener;
	int connection;	   /* -1: none */
	uint64_t heard_ns; /* CLOCK_MONOTONIC of control's last message, or of the start */
	bool lost;	   /* told that it was silent for too long */
	bool ordered;	   /* by control: the node is drained, or about to end */
	int epoll;	   /* main's; listener and connection are registered by their own numbers */
	char path[108];
};

/*
 * Listens at `path` (mode 0600; makes its folder; takes over a stale socket, refuses, with
 * -EADDRINUSE, one that another process serves). Returns 0 or -errno.
 */
int gw_control_socket_open(struct gw_control_socket *control, const char *path, int epoll,
	struct gw_engine *engine, struct gw_stats_area *stats);

/* Closes both and removes the path. */
void gw_control_socket_close(struct gw_control_socket *control);

/*
 * Every second: withdraws the node when control has been silent for longer than the snapshot in
 * force allows, and ends that when it is heard again.
 */
void gw_control_socket_tick(struct gw_control_socket *control);

/* For an event of epoll on descriptor `fd`: true when it was one of this socket's. */
bool gw_control_socket_event(struct gw_control_socket *control, int fd);
