/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a file descriptor to a generation in force. An image is untrusted until it is proved
 * unchangeable (seals, before it is mapped) and consistent (every bound and index, section by
 * section); then it is copied, and one pointer is swapped. Whatever fails on the way, what was in
 * force stays.
 */
#pragma once

#include "abi/dataplane_socket.h"
#include "abi/snapshot.h"

#include <stddef.h>

struct gw_engine;

/*
 * Checks a whole image. Reads nothing outside data[size]; `data` is aligned to 64 bytes and does
 * not change meanwhile. Returns 0; -EINVAL with `text` naming the section, the record and what is
 * wrong with it; -ENOMEM. A pure function: fuzzed by tests/fuzz/snapshot.c.
 */
int gw_snapshot_check(const void *data, size_t size, char text[GW_SNAPSHOT_TEXT]);

/*
 * Puts the snapshot in `fd` in force (the caller keeps and closes fd). `version` is the message's.
 * Fills result, text, version, in_force and missing[] of the reply, not its head. Main only.
 */
void gw_snapshot_load(struct gw_engine *engine, int fd, uint64_t version,
	struct gw_message_snapshot_reply *reply);

/* The same for an image in memory that nobody else can write. */
void gw_snapshot_load_image(struct gw_engine *engine, const void *data, size_t size,
	struct gw_message_snapshot_reply *reply);
