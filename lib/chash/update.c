/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Changing the members. A list of changes is played on drafts: the members of the current view, in
 * their order, followed by those the list adds. What is left at the end is sorted into a new view,
 * from which the algorithm builds its state; only then does the handle's pointer move. Whatever
 * goes wrong before leaves no trace.
 */
#include "chash/handle.h"
#include "chash/hash.h"
#include "chash/id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct draft {
	const char *id;
	const char *zone;
	uint32_t length, zone_length;
	uint32_t weight;
	bool gone;
};

struct plan {
	const struct gw_chash_view *view; /* the current one */
	struct draft *drafts;
	uint32_t count;
	struct chash_step *steps;
	size_t step_count;
	uint32_t *added; /* hash table of the drafts the list adds, by id; the latest wins */
	size_t mask;
	uint32_t *place;
	bool given_order; /* buckets go to new members in the order given, not by id */
};

static int plan_init(
	struct plan *plan, const struct gw_chash_view *view, size_t changes, bool given_order)
{
	size_t table = 4;

	while (table < changes * 2)
		table *= 2;
	*plan = (struct plan){.view = view, .mask = table - 1, .given_order = given_order};
	plan->drafts = malloc((view->count + changes + 1) * sizeof(*plan->drafts));
	plan->steps = malloc((changes + 1) * sizeof(*plan->steps));
	plan->place = malloc((view->count + changes + 1) * sizeof(*plan->place));
	plan->added = malloc(table * sizeof(*plan->added));
	if (!plan->drafts || !plan->steps || !plan->place || !plan->added)
		return GW_CHASH_ERR_MEMORY;
	memset(plan->added, 0xff, table * sizeof(*plan->added));
	for (uint32_t i = 0; i < view->count; i++) {
		const struct gw_chash_member *member = &view->members[i];

		plan->drafts[i] =
			(struct draft){member->id, member->zone, (uint32_t)strlen(member->id),
				(uint32_t)strlen(member->zone), member->weight, false};
	}
	plan->count = view->count;
	return 0;
}

static void plan_free(struct plan *plan)
{
	free(plan->drafts);
	free(plan->steps);
	free(plan->place);
	free(plan->added);
}

static uint32_t *added_slot(const struct plan *plan, const char *id, uint32_t length)
{
	size_t at = hash_xxh3(id, length, 0) & plan->mask;

	for (; plan->added[at] != GW_CHASH_NONE; at = (at + 1) & plan->mask) {
		const struct draft *draft = &plan->drafts[plan->added[at]];

		if (draft->length == length && !memcmp(draft->id, id, length))
			break;
	}
	return &plan->added[at];
}

/* The draft of this id that is not gone, or GW_CHASH_NONE. */
static uint32_t plan_find(const struct plan *plan, const char *id, uint32_t length)
{
	uint32_t found = *added_slot(plan, id, length);

	if (found != GW_CHASH_NONE)
		return plan->drafts[found].gone ? GW_CHASH_NONE : found;
	if (gw_chash_view_find(plan->view, id, &found) < 0 || plan->drafts[found].gone)
		return GW_CHASH_NONE;
	return found;
}

static void plan_step(struct plan *plan, uint32_t draft, uint32_t after, size_t change)
{
	plan->steps[plan->step_count++] =
		(struct chash_step){draft, plan->drafts[draft].weight, after, change};
	plan->drafts[draft].weight = after;
}

static int plan_add(
	struct plan *plan, const struct gw_chash_change *change, uint32_t length, size_t position)
{
	const char *zone = change->zone ? change->zone : "";
	size_t zone_length = strnlen(zone, GW_CHASH_ID_MAX + 1);
	uint32_t draft = plan->count;

	if (zone_length > GW_CHASH_ID_MAX)
		return GW_CHASH_ERR_ID;
	plan->drafts[draft] =
		(struct draft){change->id, zone, length, (uint32_t)zone_length, 0, false};
	*added_slot(plan, change->id, length) = draft;
	plan->count++;
	plan_step(plan, draft, (uint32_t)change->weight, position);
	return 0;
}

static int plan_change(struct plan *plan, const struct gw_chash_change *change, size_t position)
{
	uint32_t length, draft;
	int status = id_check(change->id, &length);

	if (status < 0)
		return status;
	if (change->verb != GW_CHASH_REMOVE && (change->weight < 0 || change->weight > UINT32_MAX))
		return GW_CHASH_ERR_WEIGHT;
	draft = plan_find(plan, change->id, length);
	if (change->verb == GW_CHASH_ADD)
		return draft == GW_CHASH_NONE ? plan_add(plan, change, length, position)
					      : GW_CHASH_ERR_DUPLICATE;
	if (change->verb != GW_CHASH_REMOVE && change->verb != GW_CHASH_WEIGH)
		return GW_CHASH_ERR_ARGUMENT;
	if (draft == GW_CHASH_NONE)
		return GW_CHASH_ERR_UNKNOWN;
	plan->drafts[draft].gone = change->verb == GW_CHASH_REMOVE;
	plan_step(plan, draft, plan->drafts[draft].gone ? 0 : (uint32_t)change->weight, position);
	return 0;
}

/* ---- from drafts to a view --------------------------------------------------------------- */

static void member_place(
	struct gw_chash_view *view, uint32_t position, const struct draft *draft, char **strings)
{
	struct gw_chash_member *member = &view->members[position];

	member->id = memcpy(*strings, draft->id, draft->length + 1);
	*strings += draft->length + 1;
	member->zone = memcpy(*strings, draft->zone, draft->zone_length + 1);
	*strings += draft->zone_length + 1;
	member->weight = draft->weight;
}

/* Merges the old members, sorted already, with the added ones, sorted here. */
static int members_place(struct plan *plan, struct gw_chash_view *view)
{
	uint32_t old = 0, fresh = 0, added = 0, position = 0;
	struct id_ref *refs = malloc((plan->count - plan->view->count + 1) * sizeof(*refs));
	char *strings = view->strings;

	if (!refs)
		return GW_CHASH_ERR_MEMORY;
	for (uint32_t i = 0; i < plan->count; i++) {
		plan->place[i] = GW_CHASH_NONE;
		if (i >= plan->view->count && !plan->drafts[i].gone)
			refs[added++] =
				(struct id_ref){plan->drafts[i].id, plan->drafts[i].length, i, 0};
	}
	id_sort(refs, added);
	while (position < view->count) {
		const struct draft *next = &plan->drafts[old];
		bool from_old = old < plan->view->count;

		if (from_old && next->gone) {
			old++;
			continue;
		}
		if (from_old && fresh < added)
			from_old = id_compare(next->id, next->length, refs[fresh].id,
					   refs[fresh].length) < 0;
		uint32_t draft = from_old ? old++ : refs[fresh++].index;

		plan->place[draft] = position;
		member_place(view, position++, &plan->drafts[draft], &strings);
	}
	free(refs);
	return 0;
}

static int plan_build(struct plan *plan, struct gw_chash_view **view, size_t *failed)
{
	struct chash_past past = {plan->view, plan->steps, plan->step_count, plan->place,
		plan->count, plan->given_order, *failed};
	size_t strings = 0;
	uint64_t sum = 0;
	uint32_t count = 0;
	struct gw_chash_view *built;
	int status;

	for (uint32_t i = 0; i < plan->count; i++) {
		if (plan->drafts[i].gone)
			continue;
		count++;
		sum += plan->drafts[i].weight;
		strings += plan->drafts[i].length + plan->drafts[i].zone_length + 2;
	}
	if (sum > UINT32_MAX)
		return GW_CHASH_ERR_WEIGHT_SUM;
	built = view_new(&plan->view->options, count, strings);
	if (!built)
		return GW_CHASH_ERR_MEMORY;
	built->version = plan->view->version + 1;
	status = members_place(plan, built);
	if (!status)
		status = view_summarise(built);
	if (!status)
		status = built->ops->build(built, &past);
	*failed = past.failed;
	if (status < 0)
		view_free(built);
	else
		*view = built;
	return status;
}

/* Under the lock. */
static int changes_apply(struct gw_chash *handle, const struct gw_chash_change *changes,
	size_t count, bool given_order, size_t *failed)
{
	struct gw_chash_view *view = NULL;
	struct plan plan;
	int status = plan_init(&plan, handle_current(handle), count, given_order);

	*failed = count;
	for (size_t i = 0; i < count && !status; i++) {
		status = plan_change(&plan, &changes[i], i);
		if (status < 0)
			*failed = i;
	}
	if (!status)
		status = plan_build(&plan, &view, failed);
	if (!status) {
		status = handle_publish(handle, view);
		if (status < 0)
			view_free(view);
	}
	plan_free(&plan);
	return status;
}

/* ---- what callers see -------------------------------------------------------------------- */

int gw_chash_create(const struct gw_chash_options *options, struct gw_chash **handle)
{
	struct chash_past past = {0};
	struct gw_chash_view *view;
	int status = handle ? chash_options_check(options) : GW_CHASH_ERR_ARGUMENT;

	if (status < 0)
		return status;
	view = view_new(options, 0, 0);
	if (!view)
		return GW_CHASH_ERR_MEMORY;
	status = view->ops->build(view, &past);
	if (!status)
		status = handle_new(view, handle);
	if (status < 0)
		view_free(view);
	return status;
}

static int handle_change(struct gw_chash *handle, const struct gw_chash_change *changes,
	size_t count, bool given_order, size_t *failed)
{
	size_t position = count;
	int status;

	if (!handle || (!changes && count) || count > GW_CHASH_BUCKETS_MAX)
		return GW_CHASH_ERR_ARGUMENT;
	pthread_mutex_lock(&handle->change);
	status = changes_apply(handle, changes, count, given_order, &position);
	pthread_mutex_unlock(&handle->change);
	if (status < 0 && failed)
		*failed = position;
	return status;
}

int gw_chash_update(struct gw_chash *handle, const struct gw_chash_change *changes, size_t count,
	size_t *failed)
{
	return handle_change(handle, changes, count, false, failed);
}

int gw_chash_add_node(struct gw_chash *handle, const char *id, int64_t weight, const char *zone)
{
	return gw_chash_update(
		handle, &(struct gw_chash_change){GW_CHASH_ADD, id, weight, zone}, 1, NULL);
}

int gw_chash_remove_node(struct gw_chash *handle, const char *id)
{
	return gw_chash_update(
		handle, &(struct gw_chash_change){GW_CHASH_REMOVE, id, 0, NULL}, 1, NULL);
}

int gw_chash_set_weight(struct gw_chash *handle, const char *id, int64_t weight)
{
	return gw_chash_update(
		handle, &(struct gw_chash_change){GW_CHASH_WEIGH, id, weight, NULL}, 1, NULL);
}

int gw_chash_add_buckets(struct gw_chash *handle, uint32_t count)
{
	struct gw_chash_change *changes;
	char(*names)[12];
	int status = GW_CHASH_ERR_MEMORY;

	if (!count || count > GW_CHASH_BUCKETS_MAX)
		return count ? GW_CHASH_ERR_BUCKETS : 0;
	changes = malloc(count * sizeof(*changes));
	names = malloc(count * sizeof(*names));
	for (uint32_t i = 0; changes && names && i < count; i++) {
		snprintf(names[i], sizeof(names[i]), "%u", i);
		changes[i] = (struct gw_chash_change){GW_CHASH_ADD, names[i], 1, NULL};
	}
	if (changes && names)
		status = handle_change(handle, changes, count, true, NULL);
	free(changes);
	free(names);
	return status;
}
