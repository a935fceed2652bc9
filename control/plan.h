/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a change will move, from two builds, before anything does; and the numbers of a table.
 *
 * A flow moves when it had a backend and has another one (or none) afterwards; backends are told
 * apart by address, since that is where packets go. Tables of equal size are compared slot by slot.
 * With different sizes (coprime), another seed or another affinity the two slots of a flow are
 * independent, so the share that stays is the sum over backends of share before x share after. The
 * ideal is the least that any table could move: the sum over backends of what their weight's share
 * loses.
 */
#pragma once

#include "control/builder.h"

#include <jansson.h>

/* {"services":[{"service","change","pool","moved_share","ideal_share","per_backend":[{"name",
 * "address","slots_before","slots_after","share_before","share_after"}]}]}, services of either
 * build by name. NULL without memory. */
json_t *gw_plan_json(const struct gw_build *before, const struct gw_build *after);

/* {"pool","size","digest","table_version","backends":[{"name","slots","share"}]}, and "slots" with
 * full: for each slot the position in "backends". NULL without memory. */
json_t *gw_table_json(const struct gw_build *build, const struct gw_build_pool *pool, bool full);

/* Two tables of a pool: {"pool","size_before","size_after","digest_before","digest_after",
 * "moved_share","ideal_share","per_backend":[…]}. NULL without memory. */
json_t *gw_table_diff_json(const struct gw_build_pool *before, const struct gw_build_pool *after);
