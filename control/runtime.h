/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The effective state of every backend: what the file says, what the checks say, what people said
 * at run time, and what the clock says about drains, put together by pure rules.
 *
 * Identity is (pool name, backend name). Applying a configuration keeps what is known of backends
 * that are in both, forgets those that are gone, and ends an override when the file's own value for
 * that backend changed. Evaluation (gw_runtime_pool) reads only what was applied and the clock
 * given, so the same inputs give the same answer: plan, lookup and the daemon agree.
 *
 * Unknown health: the backends of a pool that is new count as healthy until a check says otherwise
 * (a cold start serves at once); one that joins a pool already known waits for its first success.
 * A health checker therefore lets its first result decide and uses rise and fall from then on.
 *
 * A part of a pool (config_expand.h) has its own health; what people said of the backend in the
 * pool itself counts for its parts too, unless they said otherwise of the part.
 *
 * Coming back: three rules decide when a backend whose health is good enters, and how heavy. They
 * only admit whole members and quantise weights, so a table stays a pure function of its members.
 * - Damping: one that goes down again and again, never up for `window` in between, is free to do so
 *   `after` times; from then on each time holds it down for longer, up to a bound.
 * - enter_limit: no more than `count` members enter within `per`; others wait their turn. Leaving
 *   is never delayed.
 * - slow_start: the weight rises in equal steps. While a member is at it the weights of all the
 *   pool's members are in hundredths (gw_pool_effect.scale), which changes no table by itself.
 * gw_runtime_advance applies them at a moment; a health that changes back before is as if nothing
 * had been.
 *
 * Panic: when the healthy are less than panic_below of those not disabled, every backend that is
 * not disabled takes part.
 *
 * Times are wall clock, milliseconds since 1970: they are shown to people and survive a reboot. One
 * thread at a time.
 */
#pragma once

#include "abi/objects.h"
#include "control/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gw_health {
	GW_HEALTH_UNKNOWN, /* no check has answered yet */
	GW_HEALTH_UP,
	GW_HEALTH_DOWN,
};

#define GW_RUNTIME_WHO	   64
#define GW_RUNTIME_WHY	   128
#define GW_RUNTIME_FAILURE 160

/* What someone said at run time; state and weight are independent of each other. */
struct gw_override {
	bool has_state;
	bool has_weight;
	enum gw_config_backend_state state;
	uint32_t weight;
	/* The file's values when it was said: it ends when they change. */
	enum gw_config_backend_state file_state;
	uint32_t file_weight;
	int64_t since_ms;
	int64_t until_ms;	  /* ends by itself then; 0: never */
	char who[GW_RUNTIME_WHO]; /* "" when not told */
	char why[GW_RUNTIME_WHY];
};

/* All that is known of one backend. Read only outside runtime.c. */
struct gw_runtime_backend {
	const char *pool;
	const char *base; /* pool that this one is a part of (config_expand.h); NULL: none */
	const char *name;
	uint8_t address[16]; /* health is this address's: another one starts as unknown */
	enum gw_config_backend_state file_state;
	uint32_t file_weight;
	uint32_t drain_timeout_ms;	  /* the pool's; 0: a drain never ends by time */
	struct gw_config_damping damping; /* these three are the pool's */
	struct gw_config_slow_start slow_start;
	struct gw_config_enter_limit enter_limit;
	bool removed;  /* the file has it no longer (gw_config_keep_leavers) */
	bool checked;  /* false: the pool has no health check, always healthy */
	bool presumed; /* unknown counts as healthy */
	enum gw_health health;
	int64_t health_since_ms; /* 0: never known */
	int64_t drain_since_ms;	 /* 0: not draining */
	int64_t since_ms;	 /* health, file state or override last changed */
	int64_t last_failure_ms; /* 0: none */
	char last_failure[GW_RUNTIME_FAILURE];
	uint32_t flips;	       /* times it went down without staying up in between */
	int64_t held_until_ms; /* damping; 0: not held */
	bool fresh;	       /* of a new pool: enters at once and with its full weight */
	bool entered;	       /* it takes part, as far as the rules above go */
	bool queued;	       /* it would, but enter_limit lets it wait */
	int64_t entered_ms;    /* last; 0: never by these rules */
	struct gw_override override;
};

/* Why a backend's effective state is what it is. */
enum gw_reason {
	GW_REASON_HEALTHY,
	GW_REASON_UNCHECKED,
	GW_REASON_PRESUMED, /* not checked yet, its pool is new */
	GW_REASON_WAITING,  /* not checked yet, joins a running pool: not a member */
	GW_REASON_DOWN,
	GW_REASON_WEIGHT_ZERO,
	GW_REASON_FILE_DRAIN,
	GW_REASON_FILE_DISABLED,
	GW_REASON_OVERRIDE_DRAIN,
	GW_REASON_OVERRIDE_DISABLED,
	GW_REASON_REMOVED,    /* drains: the configuration has it no longer */
	GW_REASON_DRAIN_OVER, /* drain_timeout passed: disabled */
	GW_REASON_HELD,	      /* healthy, but held down for flipping too often */
	GW_REASON_QUEUED,     /* healthy, waits for its turn to enter: not a member */
	GW_REASON_SLOW_START, /* healthy, its weight is rising */
	GW_REASON_PANIC,      /* a member only because too few are healthy */
	GW_REASON_COUNT
};

/* The answer for one backend. */
struct gw_effect {
	enum gw_backend_state state; /* never FREE */
	bool member;		     /* in the pool's table */
	uint32_t weight;       /* in the table: effective times the pool's scale; 0 unless member */
	uint32_t base_weight;  /* override's or file's, member or not */
	enum gw_health health; /* UP when unchecked */
	enum gw_reason reason;
	int64_t drain_until_ms; /* when a drain becomes disabled; 0: no deadline */
	int64_t held_until_ms;	/* with GW_REASON_HELD */
	uint8_t ramp;		/* per cent of base_weight that slow start allows: 100 when over */
};

struct gw_pool_effect {
	uint32_t healthy;
	uint32_t not_disabled;
	uint32_t members;
	uint32_t scale; /* of the members' weights: 1, or 100 while one is in slow start */
	bool panic;
};

struct gw_runtime;

struct gw_runtime *gw_runtime_new(void); /* NULL without memory */
void gw_runtime_free(struct gw_runtime *runtime);
struct gw_runtime *gw_runtime_clone(const struct gw_runtime *runtime); /* NULL without memory */

/*
 * Takes over the backends of a configuration; nothing of it is referred to afterwards. Each
 * override that the file ended is told to `ended` (may be NULL) before it is forgotten. Returns 0
 * or -ENOMEM, then nothing changed.
 */
int gw_runtime_apply(struct gw_runtime *runtime, const struct gw_config *config, int64_t now_ms,
	void (*ended)(void *owner, const struct gw_runtime_backend *backend), void *owner);

/* NULL when there is no such backend. Valid until the next apply. */
const struct gw_runtime_backend *gw_runtime_find(
	const struct gw_runtime *runtime, const char *pool, const char *name);
size_t gw_runtime_count(const struct gw_runtime *runtime);
/* i-th in order of pool and name. */
const struct gw_runtime_backend *gw_runtime_at(const struct gw_runtime *runtime, size_t i);

/*
 * What follows returns 1 when something changed (rebuild and save), 0 when all was so already,
 * -ENOENT for an unknown backend.
 */

/* `detail` (may be NULL) is kept as the last failure when health is DOWN. Counts flips. */
int gw_runtime_set_health(struct gw_runtime *runtime, const char *pool, const char *name,
	enum gw_health health, const char *detail, int64_t now_ms);
/* Counts a failed probe that did not change the state: only last_failure changes. */
int gw_runtime_note_failure(struct gw_runtime *runtime, const char *pool, const char *name,
	const char *detail, int64_t now_ms);

/*
 * Backends that were in use and that `config` lacks join it as removed ones, which drain until
 * their pool's drain_timeout (GW_REMOVED_DRAIN_MS where that is off) is over; those with nothing to
 * drain do not. To be called before anything else sees the configuration. Works after a restart
 * too: what the state file knows and the file does not has left meanwhile. Returns how many joined,
 * or -ENOMEM, and then `config` may only be freed.
 */
#define GW_REMOVED_DRAIN_MS (5 * 60 * 1000u)
int gw_config_keep_leavers(
	struct gw_config *config, const struct gw_runtime *runtime, int64_t now_ms);
/* Some removed backend's drain is over. */
bool gw_runtime_leavers_over(const struct gw_runtime *runtime, int64_t now_ms);

/* drain, enable (ACTIVE), disable. A value equal to the file's own ends the override. */
int gw_runtime_override_state(struct gw_runtime *runtime, const char *pool, const char *name,
	enum gw_config_backend_state state, const char *who, const char *why, int64_t now_ms);
int gw_runtime_override_weight(struct gw_runtime *runtime, const char *pool, const char *name,
	uint32_t weight, const char *who, const char *why, int64_t now_ms);
/* The override that stands ends by itself at this time; 0: it does not. */
int gw_runtime_override_until(
	struct gw_runtime *runtime, const char *pool, const char *name, int64_t until_ms);
/* Ends those whose time is over, each told to `ended` (may be NULL) before. Returns how many. */
size_t gw_runtime_expire(struct gw_runtime *runtime, int64_t now_ms,
	void (*ended)(void *owner, const struct gw_runtime_backend *backend), void *owner);
int gw_runtime_override_clear(
	struct gw_runtime *runtime, const char *pool, const char *name, int64_t now_ms);

/*
 * The effective state of the pool's backends at `now_ms`: effects[i] is that of
 * pool->backends[i]. `runtime` NULL: as the file states them, all healthy. A backend that was not
 * applied counts the same. `summary` may be NULL.
 */
void gw_runtime_pool(const struct gw_runtime *runtime, const struct gw_config_pool *pool,
	int64_t now_ms, struct gw_effect *effects, struct gw_pool_effect *summary);

/*
 * Lets those in that may enter at this moment, in the order in which they became healthy, and
 * forgets that those who may not take part ever did. Call it before what is published is built.
 * Returns how many entered.
 */
size_t gw_runtime_advance(struct gw_runtime *runtime, int64_t now_ms);

/* When the clock alone changes some effect next: a drain or a hold ends, a weight rises, the next
 * may enter; 0: never. */
int64_t gw_runtime_next_deadline(const struct gw_runtime *runtime, int64_t now_ms);

/* "up", "down", "unknown"; "active", "drain", "down", "disabled". */
const char *gw_health_name(enum gw_health health);
const char *gw_backend_state_name(enum gw_backend_state state);
/* One line for people: "failed its health check". */
const char *gw_reason_text(enum gw_reason reason);

/* For the state file: a JSON array; load replaces everything, -EINVAL when the shape is wrong. */
struct json_t *gw_runtime_dump(const struct gw_runtime *runtime);
int gw_runtime_load(struct gw_runtime *runtime, const struct json_t *json);
