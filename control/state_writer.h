/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the state file off the event loop: changes within GW_STATE_DELAY_MS become one write, done
 * by libuv's thread pool, one at a time. A write that fails is logged once and tried again.
 */
#pragma once

#include "control/state.h"

#include <uv.h>

#define GW_STATE_DELAY_MS 200

struct gw_state_writer;

int gw_state_writer_open(uv_loop_t *loop, struct gw_state *state, struct gw_state_writer **out);
/* Something in the state changed. */
void gw_state_writer_touch(struct gw_state_writer *writer);
/*
 * Writes now and waits: before a snapshot with new ids is published, and at the end. Returns 0 or
 * -errno.
 */
int gw_state_writer_flush(struct gw_state_writer *writer);
/* Flushes what is due and lets go; its handles are gone after the loop's next turn. NULL is fine.
 */
void gw_state_writer_close(struct gw_state_writer *writer);
