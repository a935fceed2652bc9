/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a person should know of a change besides the slots that move (plan.h): backends that come,
 * change or go, what is unwise about the new configuration, and what it needs beside a reload.
 */
#pragma once

#include "control/plan.h"

/*
 * Adds to a plan's object: "backends":[{"pool","name","change","keys":[…]}] with change "added",
 * "removed" or "changed"; "warnings", "moves" (what --accept-moves is needed for) and "restarts":
 * lines each. `build` is what `after` would be built into. Returns 0 or -ENOMEM.
 */
int gw_plan_notes(json_t *plan, const struct gw_config *before, const struct gw_config *after,
	const struct gw_build *build);
