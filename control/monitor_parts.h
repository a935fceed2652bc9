/* SPDX-License-Identifier: BSD-2-Clause */
/* What monitor.c (watches) and monitor_target.c (targets) share. Internal. */
#pragma once

#include "control/check_tunnel.h"
#include "control/monitor.h"

struct watch;

/* Who is asked and how the packets get there. Compared byte by byte: no padding but zeroes. */
struct target_way {
	uint8_t address[16];	 /* the backend's, or through the tunnel a service address */
	uint8_t source[16];	 /* what follows: only through the tunnel */
	struct gw_backend outer; /* as gw_check_tunnel_take wants it */
};

/* One distinct probe. */
struct target {
	struct gw_monitor *monitor;
	struct target_way way;
	const struct gw_config_check *check; /* of the configuration in use */
	struct watch *watches;		     /* linked by next_of_target; NULL: to be freed */
	uint32_t mark;	/* of its sockets; 0: not through the tunnel, or that failed */
	uint64_t phase; /* of 2^32: where in the interval */
	uv_timer_t timer;
	struct gw_probe *probe; /* NULL: none under way */
	uint64_t probe_started; /* of the loop's clock, milliseconds */
	uint64_t probe_started_ns;
	bool fast;
};

/* One backend of one pool. */
struct watch {
	struct gw_monitor *monitor;
	char *id;
	uint8_t address[16]; /* the backend's */
	struct gw_health_track track;
	const struct gw_config_pool *pool;	 /* of the configuration in use, */
	const struct gw_config_backend *backend; /* both NULL while it is exchanged */
	struct target *target;			 /* NULL: not checked */
	struct watch *next_of_target;
	struct gw_durations durations;
	struct gw_probe_answer answers[GW_ANSWERS_KEPT]; /* a ring */
	uint64_t answer_count;
};

struct gw_monitor {
	uv_loop_t *loop;
	struct gw_checker *checker;
	struct gw_check_tunnel *tunnel;
	struct gw_monitor_events events;
	struct watch **watches; /* sorted by id */
	size_t count;
	uint64_t phases_given;
	uint64_t random;
	bool start_failed; /* said once, until a probe starts again */
};

/* Whether one probe answers for both. */
bool target_equal(const struct target_way *way_a, const struct gw_config_check *check_a,
	const struct target_way *way_b, const struct gw_config_check *check_b);

/* NULL without memory. It is asked only from target_start on. */
struct target *target_new(struct gw_monitor *monitor);
void target_free(struct target *target);

/* Takes up the rhythm: `known`, at the target's phase; else soon. resume_ms: what was left of an
 * older rhythm, UINT64_MAX: none. */
void target_start(struct target *target, bool known, uint64_t resume_ms);

/* Gives up the probe under way; what is left till the next one, as resume_ms above. */
uint64_t target_stop(struct target *target);

/* monitor.c: one more result for a watch. */
void watch_take(struct watch *watch, bool success, const char *text);
/* Whether its last result contradicts what it is, or it was never judged. */
bool watch_in_transition(const struct watch *watch);
