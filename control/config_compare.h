/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two configurations side by side: what differs key by key, which differences move tracked flows of
 * everybody at once, and which only a restart can follow.
 */
#pragma once

#include "config.h"

/*
 * [{"path":"pools[web].backends[b1].weight","before":1,"after":3}], by the dumped models: "before"
 * is missing where something came, "after" where it went. Elements of lists are matched by name.
 * NULL without memory.
 */
json_t *gw_config_differences(const struct gw_config *before, const struct gw_config *after);

/*
 * Lines about what gives most flows another slot, and so another backend once they are not tracked:
 * table_size, hash_seed, affinity. An empty array: nothing. NULL without memory.
 */
json_t *gw_config_moves(const struct gw_config *before, const struct gw_config *after);

/* Lines about what keeps its old value until some program is restarted; the same. */
json_t *gw_config_restarts(const struct gw_config *before, const struct gw_config *after);
