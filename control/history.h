/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The last versions that were published: when, why, who asked, and what each table was made of.
 *
 * A table is a pure function of (members, weights, size), so its slots are not kept: a pool's note
 * holds its members, and versions between which a pool did not change share it. Two versions can
 * then be compared as a plan compares two builds, by making the tables that differ once more.
 *
 * At most GW_HISTORY_VERSIONS, and at most GW_HISTORY_BYTES: the oldest go first, the newest always
 * stays. One thread at a time.
 */
#pragma once

#include "control/builder.h"

#include <jansson.h>

#include <stdint.h>

#define GW_HISTORY_VERSIONS 100u
#define GW_HISTORY_BYTES    ((size_t)64 << 20)
#define GW_CAUSE_TEXT	    200

/* Why something is published. Several causes become one version: the first is told, others counted.
 */
struct gw_cause {
	char text[GW_CAUSE_TEXT]; /* "web/b2 down: http 503, 3 of 3" */
	char who[GW_RUNTIME_WHO]; /* "": nobody, it came about */
	unsigned int more;
};

/* Adds one to those that wait; `who` NULL: nobody. */
void gw_cause_add(struct gw_cause *cause, const char *who, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct gw_history;

struct gw_history *gw_history_new(void);	  /* NULL without memory */
void gw_history_free(struct gw_history *history); /* NULL is fine */

/* The build is published. `config`: version of the configuration that it was made from. Returns 0
 * or -ENOMEM, and then this version is missing. */
int gw_history_add(struct gw_history *history, const struct gw_build *build, uint64_t config,
	const struct gw_cause *cause, int64_t now_ms);
/* The newest version's configuration, where it has its number only now: at the first publication it
 * is kept afterwards. */
void gw_history_made_from(struct gw_history *history, uint64_t config);

/* It decides packets since then; a version that is not kept is ignored. */
void gw_history_in_force(struct gw_history *history, uint64_t version, int64_t now_ms);

/* Newest first: [{"version","config","published","in_force","cause","who","services","pools",
 * "changed":[names of pools with another table than in the version before]}]. NULL without memory.
 */
json_t *gw_history_json(const struct gw_history *history);

/*
 * What changed from one version to the other, as gw_plan_json with "from" and "to" in front.
 * Returns NULL with -ENOENT in *status when one of them is not kept (*missing says which), or
 * -ENOMEM.
 */
json_t *gw_history_diff(const struct gw_history *history, uint64_t from, uint64_t to, int *status,
	uint64_t *missing);

/* The oldest version kept; 0: none. */
uint64_t gw_history_oldest(const struct gw_history *history);
