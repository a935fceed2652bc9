/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe that is one socket and one timer: what tcp, udp and dns have in common. The kind embeds
 * struct check_socket first, opens it with a function to call when the socket is ready, and ends it
 * by check_socket_answer. The memory lives until both handles are closed.
 */
#pragma once

#include "check_deadline.h"
#include "control/check.h"

#include <netinet/in.h>

struct check_socket {
	struct gw_probe probe;
	uv_poll_t poll;
	struct check_deadline deadline;
	/* error 0 or -errno of the socket; events are libuv's. Called while unanswered only. */
	void (*ready)(struct check_socket *probe, int error, int events);
	gw_check_done *done; /* NULL once answered or cancelled */
	void *owner;
	int fd;
	int open_handles;
};

/* Returns the length. */
socklen_t gw_check_sockaddr(
	const uint8_t address[static 16], uint16_t port, struct sockaddr_storage *storage);

/*
 * A socket that does not block, with the target's mark and source; a TCP one closes by RST. The
 * caller closes it. Returns the descriptor or -errno.
 */
int gw_check_socket_open(const struct gw_check_target *target, int type);

/*
 * Allocates `size` bytes (zeroed, struct check_socket first), opens a socket of the type, connects
 * it and starts the timer. ops, ready, done and owner are taken over; wait for `events`. Returns 0
 * or -errno.
 */
int check_socket_start(struct gw_checker *checker, const struct gw_check_target *target, int type,
	int events, size_t size, const struct check_socket *kind, struct check_socket **out);

/*
 * The datagram that is there, valid until the next call, and its length. -1: there is none, or the
 * socket's error was the answer; either way leave the probe alone.
 */
ssize_t check_socket_receive(struct check_socket *probe, int error, const uint8_t **data);

/* The answer; the probe is gone afterwards. */
void check_socket_answer(struct check_socket *probe, bool success, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void check_socket_cancel(struct gw_probe *probe);
