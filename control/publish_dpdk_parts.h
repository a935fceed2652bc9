/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the DPDK publisher: what publish_dpdk*.c share. Internal. */
#pragma once

#include "abi/dataplane_socket.h"
#include "control/model.h"
#include "control/publisher.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- publish_dpdk_wire.c: one message out or in ------------------------------------------ */

/* Connects without waiting; the descriptor, or -errno (-ENOENT, -ECONNREFUSED: nobody there). */
int wire_connect(const char *path);

/* Fills the head and sends, with `fd` unless it is -1. 0, -EAGAIN when the socket is full, -errno.
 */
int wire_send(int connection, void *message, size_t length, enum gw_message_type type, uint32_t id,
	int fd);

union wire_message {
	struct gw_message head;
	struct gw_message_hello hello;
	struct gw_message_snapshot_reply snapshot_reply;
	struct gw_message_flow_reply flow_reply;
	uint8_t bytes[GW_MESSAGE_MAX];
};

/*
 * Receives one message without waiting. 0 and the message; its descriptor in *fd (the caller closes
 * it) or -1; in *age_ns how long ago it was sent, as far as the wall clock can tell. -EAGAIN: none
 * there; -ENOTCONN: the other side closed; -EPROTO: no message of this ABI. Only types that a
 * dataplane sends pass, each with its right length.
 */
int wire_receive(int connection, union wire_message *message, int *fd, uint64_t *age_ns);

/* ---- publish_dpdk_image.c: a snapshot without what is there already ----------------------- */

/* The tables a dataplane has: pool id and digest, sorted by id. */
struct table_set {
	struct table_known {
		uint32_t pool;
		struct gw_digest digest;
	} * list;
	size_t count;
};

int table_set_take(struct table_set *set, const struct gw_snapshot_header *image);
void table_set_clear(struct table_set *set);

/*
 * A sealed memfd of the image without the tables of `known` (NULL: with all). Returns the
 * descriptor, or -errno: -EFBIG when it is larger than GW_SNAPSHOT_MAX_SIZE.
 */
int image_memfd(const struct gw_snapshot *snapshot, const struct table_set *known);

/* ---- publish_dpdk_stats.c: the dataplane's statistics memfd ------------------------------- */

struct stats_map {
	const struct gw_stats *map; /* NULL: none */
	size_t size;
	struct gw_traffic *backends; /* copies, handed out until the next read */
	uint32_t *backend_flows;
	struct gw_traffic *services;
	struct gw_worker_stats *workers;
	struct gw_port_stats *ports;
};

/* Maps the descriptor, which the caller closes. -EPROTO when it is no sealed statistics area. */
int stats_map_open(struct stats_map *stats, int fd);
void stats_map_close(struct stats_map *stats);
/* Where the sample of flows lies; -EPROTO when that is not within the area. */
int stats_map_samples(
	const struct stats_map *stats, const struct gw_flow_sample **samples, size_t *count);
/* A consistent copy; 0, -EAGAIN when the writer never stood still, -EPROTO, -ENOMEM. */
int stats_map_read(struct stats_map *stats, struct gw_publisher_stats *out);

/* ---- publish_dpdk_hello.c: what a hello says --------------------------------------------- */

/* What differs from the configuration, one line in text; false: nothing. */
bool hello_differs(const struct gw_message_hello *hello,
	const struct gw_config_dataplane *dataplane, char *text, size_t size);
struct json_t *hello_json(const struct gw_message_hello *hello);
