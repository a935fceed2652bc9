/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A server of the dataplane's socket on a thread of its own, which does what a test tells it by the
 * fields below.
 */
#pragma once

#include "abi/dataplane_socket.h"

#include <pthread.h>
#include <stdatomic.h>

struct server {
	char *folder;
	char path[128];
	pthread_t thread;
	uint32_t pid; /* of its hello */
	atomic_bool stop;
	atomic_int result;	/* enum gw_snapshot_result of the next answers */
	atomic_int result_once; /* for one answer, before `result`; -1: none */
	atomic_bool hold;	/* answers no snapshot while set */
	atomic_bool deaf;	/* answers no question */
	atomic_int wrong_hello; /* closes after that many hellos of a wrong ABI */
	atomic_ullong in_force;
	atomic_int snapshots; /* received */
	atomic_int without;   /* tables left out of the last one */
	atomic_int tables;    /* in the last one */
	uint16_t slots[1021]; /* its last table; to be read after its reply */
	atomic_int seals;
	atomic_int accepted;
	int listener;
	int stats_fd;
	struct gw_stats *stats;
	bool has_pending;
	struct gw_message pending; /* a snapshot not answered yet */
	uint64_t pending_version;
};

/* Listens at server->path; each start is another process as far as its hello says. */
void server_start(struct server *server);
void server_stop(struct server *server);
