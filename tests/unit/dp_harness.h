/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A real engine for unit tests: EAL without huge pages, one worker driven by hand, and port 0, a
 * net_ring device that gives back what is sent on it.
 */
#pragma once

#include "dataplane/engine.h"
#include "dataplane/snapshot.h"
#include "dp_image.h"

/* Starts EAL once per program and makes the engine; ends the program when that fails. */
struct gw_engine *harness_start(uint64_t flows, uint16_t workers);

/* Frees the engine; all frames must be back in the pool (checked by CUnit). */
void harness_stop(struct gw_engine *engine);

/* Loads a snapshot made of the spec; CU_FAIL unless it is put in force. */
void harness_load(struct gw_engine *engine, const struct image_spec *spec);

/* A frame in an mbuf of the engine's pool, in `segments` pieces. */
struct rte_mbuf *harness_frame(
	struct gw_engine *engine, const void *bytes, size_t length, unsigned int segments);

/*
 * Runs one frame through worker 0 and returns what became of it. What left by port 0 is copied to
 * out (may be NULL), its length to *out_length, 0 when nothing did.
 */
struct gw_result harness_run(
	struct gw_engine *engine, struct rte_mbuf *mbuf, uint8_t out[2048], size_t *out_length);

/* The counters of worker 0; checks rx = tx + to_host + replied + consumed + held + drops. */
struct gw_counters harness_counters(const struct gw_engine *engine);
