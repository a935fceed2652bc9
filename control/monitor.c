/* SPDX-License-Identifier: BSD-2-Clause */
/* Watches: what is known of each backend, and what a new configuration makes of them. */
#include "control/monitor.h"

#include "abi/encap.h"
#include "control/monitor_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int watch_compare(const void *a, const void *b)
{
	return strcmp((*(struct watch *const *)a)->id, (*(struct watch *const *)b)->id);
}

static int watch_compare_id(const void *id, const void *element)
{
	return strcmp(id, (*(struct watch *const *)element)->id);
}

static struct watch *watch_find(const struct gw_monitor *monitor, const char *id)
{
	struct watch **found = monitor->count ? bsearch(id, monitor->watches, monitor->count,
							sizeof(*monitor->watches), watch_compare_id)
					      : NULL;

	return found ? *found : NULL;
}

static struct watch *watch_new(struct gw_monitor *monitor, const char *id)
{
	struct watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->id = strdup(id);
	if (!watch->id) {
		free(watch);
		return NULL;
	}
	watch->monitor = monitor;
	return watch;
}

static void watch_free(struct watch *watch)
{
	free(watch->id);
	free(watch);
}

static struct gw_health_rules watch_rules(const struct watch *watch)
{
	const struct gw_monitor_events *events = &watch->monitor->events;

	return (struct gw_health_rules){
		.rise = watch->pool->check.rise,
		.fall = watch->pool->check.fall,
		.presumed =
			watch->track.health == GW_HEALTH_UNKNOWN &&
			events->presumed(events->owner, watch->pool->name, watch->backend->name),
	};
}

void watch_take(struct watch *watch, bool success, const char *text)
{
	const struct gw_monitor_events *events = &watch->monitor->events;
	const char *pool = watch->pool->name, *name = watch->backend->name;
	struct gw_health_rules rules = watch_rules(watch);
	struct gw_health_change change;

	if (!success)
		events->failed(events->owner, pool, name, text);
	if (gw_health_feed(&watch->track, &rules, success, text, &change))
		events->changed(events->owner, pool, name, &change);
}

bool watch_in_transition(const struct watch *watch)
{
	const struct gw_health_track *track = &watch->track;

	if (track->health == GW_HEALTH_UNKNOWN)
		return true;
	return track->streak && track->streak_of_success != (track->health == GW_HEALTH_UP);
}

static void address_changed(struct watch *watch)
{
	const struct gw_monitor_events *events = &watch->monitor->events;
	struct gw_health_change change = {
		.from = watch->track.health,
		.to = GW_HEALTH_UNKNOWN,
		.cause = "its address changed",
	};

	watch->track = (struct gw_health_track){.health = GW_HEALTH_UNKNOWN};
	if (change.from != GW_HEALTH_UNKNOWN)
		events->changed(events->owner, watch->pool->name, watch->backend->name, &change);
}

/* A change of configuration. */

/* What a watch is to be. */
struct plan {
	struct watch *watch;
	const struct gw_config_pool *pool;
	const struct gw_config_backend *backend;
	struct target_way way;
	struct target *target; /* NULL: not checked */
};

/* All that a change needs, made before anything is changed. */
struct exchange {
	struct plan *plans; /* one a backend; those with one address side by side */
	size_t count;
	struct watch **fresh; /* watches made for it */
	size_t fresh_count;
	struct target **targets; /* made for it */
	size_t target_count;
};

static void exchange_free(struct exchange *exchange)
{
	free(exchange->plans);
	free(exchange->fresh);
	free(exchange->targets);
}

static void exchange_undo(struct exchange *exchange)
{
	for (size_t i = 0; i < exchange->fresh_count; i++)
		watch_free(exchange->fresh[i]);
	for (size_t i = 0; i < exchange->target_count; i++)
		target_free(exchange->targets[i]);
	exchange_free(exchange);
}

/* Brings plans whose probe may be the same beside each other. */
static int plan_compare(const void *a, const void *b)
{
	const struct plan *left = a, *right = b;
	int order = memcmp(&left->way, &right->way, sizeof(left->way));

	if (!order)
		order = (int)left->pool->check.port - (int)right->pool->check.port;
	if (!order)
		order = (int)left->pool->check.type - (int)right->pool->check.type;
	return order ? order : strcmp(left->watch->id, right->watch->id);
}

/* Through the tunnel: from the node's own address to a service address, by the pool's encap. */
static void plan_way(const struct gw_config *config, struct plan *plan)
{
	const struct gw_config_node *node = &config->node;
	const struct gw_config_pool *pool = plan->pool;
	struct target_way *way = &plan->way;
	struct gw_backend *outer = &way->outer;
	bool ipv4;

	if (pool->check.via != GW_CONFIG_VIA_TUNNEL) {
		memcpy(way->address, plan->backend->address, 16);
		return;
	}
	ipv4 = gw_address_is_ipv4((const struct gw_address *)pool->probe_address);
	memcpy(way->address, pool->probe_address, 16);
	memcpy(way->source, ipv4 ? node->source_ipv4 : node->source_ipv6, 16);
	ipv4 = gw_address_is_ipv4((const struct gw_address *)plan->backend->address);
	outer->encap = (uint8_t)pool->encap;
	outer->family = ipv4 ? GW_IPV4 : GW_IPV6;
	outer->overhead = (uint8_t)gw_encap_overhead_of(outer->encap, outer->family);
	outer->flags = pool->gue_checksum ? GW_BACKEND_GUE_CHECKSUM : 0;
	outer->gue_port = GW_HTONS(pool->gue_port);
	memcpy(outer->outer_source.bytes, ipv4 ? node->source_ipv4 : node->source_ipv6, 16);
	memcpy(outer->outer_destination.bytes, plan->backend->address, 16);
}

/* A pool that no service uses has no address to be asked at. */
static bool plan_checked(const struct plan *plan)
{
	const struct gw_config_check *check = &plan->pool->check;

	return check->type != GW_CONFIG_CHECK_NONE &&
	       (check->via != GW_CONFIG_VIA_TUNNEL || plan->pool->has_probe_address);
}

static int plans_make(
	struct gw_monitor *monitor, const struct gw_config *config, struct exchange *exchange)
{
	size_t room = 0;

	for (size_t p = 0; p < config->pool_count; p++)
		room += config->pools[p].backend_count;
	exchange->plans = calloc(room + 1, sizeof(*exchange->plans));
	exchange->fresh = calloc(room + 1, sizeof(*exchange->fresh));
	exchange->targets = calloc(room + 1, sizeof(*exchange->targets));
	if (!exchange->plans || !exchange->fresh || !exchange->targets)
		return -ENOMEM;
	for (size_t p = 0; p < config->pool_count; p++) {
		const struct gw_config_pool *pool = &config->pools[p];

		for (size_t b = 0; b < pool->backend_count; b++) {
			struct plan *plan = &exchange->plans[exchange->count];

			plan->pool = pool;
			plan->backend = &pool->backends[b];
			plan_way(config, plan);
			plan->watch = watch_find(monitor, plan->backend->id);
			if (!plan->watch) {
				plan->watch = watch_new(monitor, plan->backend->id);
				if (!plan->watch)
					return -ENOMEM;
				exchange->fresh[exchange->fresh_count++] = plan->watch;
			}
			exchange->count++;
		}
	}
	return 0;
}

/* Of the plans before this one, which are sorted, the one whose probe would be the same. */
static struct target *target_shared(const struct exchange *exchange, size_t index)
{
	const struct plan *plan = &exchange->plans[index];

	for (size_t i = index; i-- > 0;) {
		const struct plan *other = &exchange->plans[i];

		if (memcmp(&other->way, &plan->way, sizeof(plan->way)) ||
			other->pool->check.port != plan->pool->check.port)
			return NULL;
		if (other->target && target_equal(&other->way, &other->pool->check, &plan->way,
					     &plan->pool->check))
			return other->target;
	}
	return NULL;
}

static int targets_choose(struct gw_monitor *monitor, struct exchange *exchange)
{
	for (size_t i = 0; i < exchange->count; i++) {
		struct plan *plan = &exchange->plans[i];
		const struct gw_config_check *check = &plan->pool->check;
		struct target *former = plan->watch->target;

		if (!plan_checked(plan))
			continue;
		plan->target = target_shared(exchange, i);
		if (!plan->target && former &&
			target_equal(&former->way, former->check, &plan->way, check))
			plan->target = former;
		if (plan->target)
			continue;
		plan->target = target_new(monitor);
		if (!plan->target)
			return -ENOMEM;
		exchange->targets[exchange->target_count++] = plan->target;
	}
	return 0;
}

/* A watch takes over what the configuration says of it; the target is linked later. */
static void watch_adopt(const struct plan *plan)
{
	struct watch *watch = plan->watch;
	const struct gw_monitor_events *events = &watch->monitor->events;
	bool moved = watch->pool && memcmp(watch->address, plan->backend->address, 16);

	watch->pool = plan->pool;
	watch->backend = plan->backend;
	memcpy(watch->address, plan->backend->address, 16);
	watch->track.health = events->known(events->owner, plan->pool->name, plan->backend->name);
	if (moved)
		address_changed(watch);
	if (plan->target != watch->target)
		watch->track.streak = 0;
}

/* Old targets stand still with what was left of their rhythm in `left`; nobody is linked. */
struct rest {
	struct target *target;
	uint64_t left;
};

static size_t targets_stop(struct gw_monitor *monitor, struct rest *rests)
{
	size_t count = 0;

	for (size_t i = 0; i < monitor->count; i++) {
		struct target *target = monitor->watches[i]->target;

		if (!target || target->watches != monitor->watches[i])
			continue; /* only the first of those that share it */
		rests[count++] = (struct rest){target, target_stop(target)};
	}
	for (size_t i = 0; i < count; i++)
		rests[i].target->watches = NULL;
	return count;
}

static void watches_link(struct exchange *exchange)
{
	for (size_t i = exchange->count; i-- > 0;) {
		struct plan *plan = &exchange->plans[i];
		struct watch *watch = plan->watch;

		watch->target = plan->target;
		watch->next_of_target = NULL;
		if (!plan->target)
			continue;
		watch->next_of_target = plan->target->watches;
		plan->target->watches = watch;
		plan->target->way = plan->way;
		plan->target->check = &plan->pool->check;
	}
}

static bool target_known(const struct target *target)
{
	for (const struct watch *watch = target->watches; watch; watch = watch->next_of_target)
		if (watch->track.health != GW_HEALTH_UNKNOWN)
			return true;
	return false;
}

static void targets_start(struct exchange *exchange, struct rest *rests, size_t rest_count)
{
	for (size_t i = 0; i < rest_count; i++) {
		if (rests[i].target->watches)
			target_start(rests[i].target, true, rests[i].left);
		else
			target_free(rests[i].target);
	}
	for (size_t i = 0; i < exchange->target_count; i++)
		target_start(exchange->targets[i], target_known(exchange->targets[i]), UINT64_MAX);
}

/* The watches of this configuration, sorted; those no longer in it are freed. */
static void watches_replace(
	struct gw_monitor *monitor, struct exchange *exchange, struct watch **all)
{
	/* backend serves as a mark: who is not of the new configuration has none. */
	for (size_t i = 0; i < monitor->count; i++)
		monitor->watches[i]->backend = NULL;
	for (size_t i = 0; i < exchange->count; i++) {
		all[i] = exchange->plans[i].watch;
		all[i]->backend = exchange->plans[i].backend;
	}
	for (size_t i = 0; i < monitor->count; i++)
		if (!monitor->watches[i]->backend)
			watch_free(monitor->watches[i]);
	qsort(all, exchange->count, sizeof(*all), watch_compare);
	free(monitor->watches);
	monitor->watches = all;
	monitor->count = exchange->count;
}

int gw_monitor_configure(struct gw_monitor *monitor, const struct gw_config *config)
{
	struct exchange exchange = {0};
	struct watch **all = NULL;
	struct rest *rests = calloc(monitor->count + 1, sizeof(*rests));
	size_t rest_count;
	int ret = rests ? plans_make(monitor, config, &exchange) : -ENOMEM;

	if (!ret) {
		qsort(exchange.plans, exchange.count, sizeof(*exchange.plans), plan_compare);
		all = calloc(exchange.count + 1, sizeof(*all));
		ret = all ? targets_choose(monitor, &exchange) : -ENOMEM;
	}
	if (ret) {
		free(rests);
		free(all);
		exchange_undo(&exchange);
		return ret;
	}
	gw_check_tunnel_configure(monitor->tunnel, &config->probe_mark);
	rest_count = targets_stop(monitor, rests);
	for (size_t i = 0; i < exchange.count; i++)
		watch_adopt(&exchange.plans[i]);
	watches_link(&exchange);
	watches_replace(monitor, &exchange, all);
	targets_start(&exchange, rests, rest_count);
	free(rests);
	exchange_free(&exchange);
	return 0;
}

int gw_monitor_new(uv_loop_t *loop, const struct gw_monitor_events *events, struct gw_monitor **out)
{
	struct gw_monitor *monitor = calloc(1, sizeof(*monitor));
	int ret;

	if (!monitor)
		return -ENOMEM;
	monitor->loop = loop;
	monitor->events = *events;
	monitor->random = uv_hrtime() | 1;
	ret = gw_checker_new(loop, &monitor->checker);
	if (!ret)
		ret = gw_check_tunnel_new(loop, &monitor->tunnel);
	if (ret) {
		gw_checker_free(monitor->checker);
		free(monitor);
		return ret;
	}
	*out = monitor;
	return 0;
}

void gw_monitor_free(struct gw_monitor *monitor)
{
	if (!monitor)
		return;
	for (size_t i = 0; i < monitor->count; i++) {
		struct target *target = monitor->watches[i]->target;

		if (target && target->watches == monitor->watches[i])
			target_free(target);
	}
	for (size_t i = 0; i < monitor->count; i++)
		watch_free(monitor->watches[i]);
	free(monitor->watches);
	gw_checker_free(monitor->checker);
	gw_check_tunnel_free(monitor->tunnel);
	free(monitor);
}

bool gw_monitor_view(const struct gw_monitor *monitor, const char *pool, const char *name,
	struct gw_monitor_view *view)
{
	char id[GW_PART_MAX + GW_NAME_MAX + 2];
	const struct watch *watch;
	const struct target *target;

	snprintf(id, sizeof(id), "%s/%s", pool, name);
	watch = watch_find(monitor, id);
	target = watch ? watch->target : NULL;
	if (!target)
		return false;
	*view = (struct gw_monitor_view){.check = target->check,
		.under_way = target->probe != NULL,
		.due_in_ms = target->probe ? 0 : uv_timer_get_due_in(&target->timer),
		.fast = target->fast,
		.track = watch->track,
		.rules = watch_rules(watch),
		.durations = &watch->durations};
	memcpy(view->address, target->way.address, 16);
	for (const struct watch *each = target->watches; each; each = each->next_of_target)
		view->shared_by++;
	for (; view->answer_count < GW_ANSWERS_KEPT && view->answer_count < watch->answer_count;
		view->answer_count++)
		view->answers[view->answer_count] =
			&watch->answers[(watch->answer_count - 1 - view->answer_count) %
					GW_ANSWERS_KEPT];
	return true;
}
