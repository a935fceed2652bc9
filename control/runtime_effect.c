/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules: from what is known of a pool's backends to what each of them is. */
#include "control/runtime.h"
#include "control/runtime_table.h"

#include <stddef.h>

const char *gw_health_name(enum gw_health health)
{
	static const char *const names[] = {"unknown", "up", "down"};

	return names[health];
}

const char *gw_backend_state_name(enum gw_backend_state state)
{
	static const char *const names[] = {"free", "active", "drain", "down", "disabled"};

	return names[state];
}

const char *gw_reason_text(enum gw_reason reason)
{
	static const char *const texts[GW_REASON_COUNT] = {
		[GW_REASON_HEALTHY] = "passes its health check",
		[GW_REASON_UNCHECKED] = "its pool has no health check",
		[GW_REASON_PRESUMED] = "not checked yet, counts as healthy because its pool is new",
		[GW_REASON_WAITING] = "waits for its first successful health check",
		[GW_REASON_DOWN] = "fails its health check",
		[GW_REASON_WEIGHT_ZERO] = "has weight 0",
		[GW_REASON_FILE_DRAIN] = "drains: the configuration says so",
		[GW_REASON_FILE_DISABLED] = "disabled: the configuration says so",
		[GW_REASON_OVERRIDE_DRAIN] = "drains: said at run time",
		[GW_REASON_OVERRIDE_DISABLED] = "disabled: said at run time",
		[GW_REASON_REMOVED] = "drains: removed from the configuration",
		[GW_REASON_DRAIN_OVER] = "disabled: its drain_timeout has passed",
		[GW_REASON_HELD] = "held down for a while: healthy, but it went down too often",
		[GW_REASON_QUEUED] = "healthy, waits for its turn to enter (enter_limit)",
		[GW_REASON_SLOW_START] = "healthy, its weight is rising (slow_start)",
		[GW_REASON_PANIC] = "used because too few of its pool are healthy (panic_below)",
	};

	return texts[reason];
}

/* A backend that nobody applied: as the file states it. */
static struct gw_runtime_backend entry_of_file(const struct gw_config_backend *backend)
{
	return (struct gw_runtime_backend){
		.file_state = backend->state,
		.file_weight = backend->weight,
	};
}

static bool drain_over(const struct gw_runtime_backend *entry, int64_t now_ms)
{
	return entry->drain_since_ms && entry->drain_timeout_ms &&
	       entry->drain_since_ms + entry->drain_timeout_ms <= now_ms;
}

/* What the backend would be on its own, panic aside. */
static struct gw_effect effect_alone(const struct gw_runtime_backend *entry, int64_t now_ms)
{
	const struct gw_override *override = &entry->override;
	enum gw_config_backend_state wanted =
		override->has_state ? override->state : entry->file_state;
	struct gw_effect effect = {
		.state = GW_BACKEND_ACTIVE,
		.base_weight = override->has_weight ? override->weight : entry->file_weight,
		.health = entry->checked ? entry->health : GW_HEALTH_UP,
		.reason = entry->checked ? GW_REASON_HEALTHY : GW_REASON_UNCHECKED,
	};

	if (wanted == GW_CONFIG_DISABLED) {
		effect.state = GW_BACKEND_DISABLED;
		effect.reason =
			override->has_state ? GW_REASON_OVERRIDE_DISABLED : GW_REASON_FILE_DISABLED;
	} else if (wanted == GW_CONFIG_DRAIN && drain_over(entry, now_ms)) {
		effect.state = GW_BACKEND_DISABLED;
		effect.reason = GW_REASON_DRAIN_OVER;
	} else if (effect.health == GW_HEALTH_DOWN) {
		effect.state = GW_BACKEND_DOWN;
		effect.reason = GW_REASON_DOWN;
	} else if (entry->checked && runtime_held(entry, now_ms)) {
		effect.state = GW_BACKEND_DOWN;
		effect.reason = GW_REASON_HELD;
		effect.held_until_ms = entry->held_until_ms;
	} else if (wanted == GW_CONFIG_DRAIN) {
		effect.state = GW_BACKEND_DRAIN;
		effect.reason = entry->removed	      ? GW_REASON_REMOVED
				: override->has_state ? GW_REASON_OVERRIDE_DRAIN
						      : GW_REASON_FILE_DRAIN;
	} else if (effect.health == GW_HEALTH_UNKNOWN) {
		effect.reason = entry->presumed ? GW_REASON_PRESUMED : GW_REASON_WAITING;
	} else if (entry->queued) {
		effect.reason = GW_REASON_QUEUED;
	}
	effect.ramp = runtime_ramp(entry, now_ms);
	if (wanted == GW_CONFIG_DRAIN && entry->drain_since_ms && entry->drain_timeout_ms)
		effect.drain_until_ms = entry->drain_since_ms + entry->drain_timeout_ms;
	return effect;
}

/*
 * The entry, or for a part of a pool `room` with what was said of the backend in the pool itself,
 * where nothing was of the part.
 */
static const struct gw_runtime_backend *entry_said(const struct gw_runtime *runtime,
	const struct gw_runtime_backend *entry, struct gw_runtime_backend *room)
{
	const struct gw_runtime_backend *base =
		entry->base ? gw_runtime_find(runtime, entry->base, entry->name) : NULL;

	if (!base || !(base->override.has_state || base->override.has_weight))
		return entry;
	*room = *entry;
	if (!room->override.has_state && base->override.has_state) {
		room->override.has_state = true;
		room->override.state = base->override.state;
		room->drain_since_ms = base->drain_since_ms;
	}
	if (!room->override.has_weight && base->override.has_weight) {
		room->override.has_weight = true;
		room->override.weight = base->override.weight;
	}
	return room;
}

bool runtime_takes_part(
	const struct gw_runtime *runtime, const struct gw_runtime_backend *entry, int64_t now_ms)
{
	struct gw_runtime_backend room;
	struct gw_effect effect = effect_alone(entry_said(runtime, entry, &room), now_ms);

	return effect.state == GW_BACKEND_ACTIVE && effect.reason != GW_REASON_WAITING;
}

static bool entry_healthy(const struct gw_effect *effect, bool presumed)
{
	return effect->reason != GW_REASON_HELD &&
	       (effect->health == GW_HEALTH_UP ||
		       (effect->health == GW_HEALTH_UNKNOWN && presumed));
}

/* Settles membership once it is known whether the pool is in panic. */
static void effect_finish(struct gw_effect *effect, bool panic)
{
	bool eligible = effect->state == GW_BACKEND_ACTIVE && effect->reason != GW_REASON_WAITING &&
			effect->reason != GW_REASON_QUEUED;

	if (panic && effect->state != GW_BACKEND_DISABLED && !eligible &&
		effect->reason != GW_REASON_REMOVED) {
		effect->state = GW_BACKEND_ACTIVE;
		effect->reason = GW_REASON_PANIC;
		eligible = true;
	}
	if (panic || !eligible)
		effect->ramp = 100; /* no time for that */
	if (eligible && !effect->base_weight)
		effect->reason = GW_REASON_WEIGHT_ZERO;
	else if (effect->ramp < 100)
		effect->reason = GW_REASON_SLOW_START;
	effect->member = eligible && effect->base_weight > 0;
}

/* Weights in hundredths while one is rising, so that a weight of 1 can be less than 1. */
static uint32_t weights_scale(const struct gw_effect *effects, size_t count)
{
	uint64_t sum = 0;
	bool rising = false;

	for (size_t i = 0; i < count; i++) {
		if (!effects[i].member)
			continue;
		sum += effects[i].base_weight;
		rising |= effects[i].ramp < 100;
	}
	return rising && sum <= UINT32_MAX / 100 ? 100 : 1;
}

static uint32_t weight_scaled(const struct gw_effect *effect, uint32_t scale)
{
	uint64_t weight = (uint64_t)effect->base_weight * effect->ramp * scale / 100;

	if (!effect->member)
		return 0;
	return weight ? (uint32_t)weight : 1;
}

void gw_runtime_pool(const struct gw_runtime *runtime, const struct gw_config_pool *pool,
	int64_t now_ms, struct gw_effect *effects, struct gw_pool_effect *summary)
{
	struct gw_pool_effect sum = {0};

	for (size_t i = 0; i < pool->backend_count; i++) {
		const struct gw_config_backend *backend = &pool->backends[i];
		struct gw_runtime_backend of_file = entry_of_file(backend), room;
		const struct gw_runtime_backend *entry =
			runtime ? gw_runtime_find(runtime, pool->name, backend->name) : NULL;

		if (!entry)
			entry = &of_file;
		else
			entry = entry_said(runtime, entry, &room);
		effects[i] = effect_alone(entry, now_ms);
		if (effects[i].state == GW_BACKEND_DISABLED || entry->removed)
			continue;
		sum.not_disabled++;
		sum.healthy += entry_healthy(&effects[i], entry->presumed);
	}
	sum.panic = (uint64_t)sum.healthy * 100 < (uint64_t)pool->panic_below * sum.not_disabled;
	for (size_t i = 0; i < pool->backend_count; i++) {
		effect_finish(&effects[i], sum.panic);
		sum.members += effects[i].member;
	}
	sum.scale = weights_scale(effects, pool->backend_count);
	for (size_t i = 0; i < pool->backend_count; i++)
		effects[i].weight = weight_scaled(&effects[i], sum.scale);
	if (summary)
		*summary = sum;
}
