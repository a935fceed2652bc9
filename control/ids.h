/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The numbers of pools, services and backends, which datapaths know them by. A number belongs to an
 * identity (pool: name; service: name; backend: pool, name and address) for as long as the
 * configuration has it, across reloads and restarts: tracked flows and counters hang on it.
 *
 * A number whose identity left is in quarantine until the longest flow timeout and one sweep have
 * passed, so that no tracked flow can still name it; only its own identity gets it back before.
 * Services and pools are not named by flows: when nothing else is free, the one freed longest ago
 * is taken early.
 *
 * Times are CLOCK_BOOTTIME milliseconds (gw_clock_boot_ms in state.h): flow tables do not survive a
 * reboot, so the state file drops quarantines of an earlier boot. One thread at a time.
 */
#pragma once

#include "abi/objects.h"
#include "control/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gw_id_kind {
	GW_ID_POOL,    /* 0 to GW_MAX_POOLS - 1 */
	GW_ID_SERVICE, /* 0 to GW_MAX_SERVICES - 1 */
	GW_ID_BACKEND, /* 1 to GW_MAX_BACKENDS - 1: 0 is "none" */
	GW_ID_KINDS
};

struct gw_ids;

struct gw_ids *gw_ids_new(void); /* NULL without memory */
void gw_ids_free(struct gw_ids *ids);
struct gw_ids *gw_ids_clone(const struct gw_ids *ids); /* NULL without memory */

/*
 * Gives every pool, service and backend of the configuration a number and puts the others'
 * into quarantine. `changed` (may be NULL) tells whether anything was given, freed or taken back:
 * then the state file must be written before a snapshot with these numbers is published. Returns 0;
 * -ENOSPC when a kind has no free number, -ENOMEM; on failure nothing changed.
 */
int gw_ids_assign(
	struct gw_ids *ids, const struct gw_config *config, int64_t boot_ms, bool *changed);

/* The number, or GW_NONE for an identity that has none. */
uint32_t gw_ids_pool(const struct gw_ids *ids, const char *name);
uint32_t gw_ids_service(const struct gw_ids *ids, const char *name);
uint32_t gw_ids_backend(const struct gw_ids *ids, const char *pool, const char *name,
	const uint8_t address[static 16]);

/* How many numbers of a kind are in use, and in quarantine. */
size_t gw_ids_used(const struct gw_ids *ids, enum gw_id_kind kind);
size_t gw_ids_quarantined(const struct gw_ids *ids, enum gw_id_kind kind);

/* For the state file: a JSON object; load replaces everything, -EINVAL when the shape is wrong. */
struct json_t *gw_ids_dump(const struct gw_ids *ids);
int gw_ids_load(struct gw_ids *ids, const struct json_t *json, bool keep_quarantine);
