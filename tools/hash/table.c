/* SPDX-License-Identifier: BSD-2-Clause */
/* `table`: what an algorithm precomputes from its members, in full. */
#include "hash.h"

#include <jansson.h>

#include <stdio.h>

static json_t *member_names(const struct gw_chash_view *view)
{
	json_t *names = json_array();

	for (uint32_t i = 0; i < gw_chash_view_count(view); i++)
		json_array_append_new(names, json_string(gw_chash_view_members(view)[i].id));
	return names;
}

static void print_slots(const struct gw_chash_view *view, const struct gw_chash_slots *slots)
{
	const struct gw_chash_member *members = gw_chash_view_members(view);
	uint32_t count = gw_chash_view_count(view);
	uint32_t *held = grow(NULL, 0, sizeof(*held) * (count ? count : 1));

	for (uint32_t i = 0; i < count; i++)
		held[i] = 0;
	for (uint32_t i = 0; i < slots->size; i++)
		held[slot_at(slots, i)]++;
	printf("%-32s %10s %10s %8s\n", "member", "weight", "slots", "share");
	for (uint32_t i = 0; i < count; i++)
		printf("%-32s %10u %10u %7.3f%%\n", members[i].id, members[i].weight, held[i],
			100.0 * held[i] / slots->size);
	free(held);
	if (slots->size > 200)
		return;
	fputs("slots", stdout);
	for (uint32_t i = 0; i < slots->size; i++)
		printf(" %u", slot_at(slots, i));
	putchar('\n');
}

static void print_points(const struct gw_chash_view *view, const struct gw_chash_points *points)
{
	for (size_t i = 0; i < points->count; i++)
		printf("%20llu %s\n", (unsigned long long)points->point[i].hash,
			gw_chash_view_members(view)[points->point[i].member].id);
}

/* By hand: a hash may be above 2^63-1, which jansson's integers do not hold. */
static void print_points_json(const struct gw_chash_points *points)
{
	for (size_t i = 0; i < points->count; i++)
		printf("%s[%llu,%u]", i ? "," : "", (unsigned long long)points->point[i].hash,
			points->point[i].member);
}

static int print_json(const struct args *args, const struct gw_chash_view *view,
	const struct gw_chash_slots *slots, const struct gw_chash_points *points)
{
	json_t *members = member_names(view);

	if (json_array_size(members) < gw_chash_view_count(view)) {
		json_decref(members);
		complain("a member's key is not UTF-8 text");
		return EXIT_FAILED;
	}
	printf("{\"algorithm\":\"%s\",\"size\":%llu,\"members\":",
		gw_chash_traits(args->options.algorithm)->name,
		(unsigned long long)(slots ? slots->size : points->count));
	json_dumpf(members, stdout, JSON_COMPACT);
	json_decref(members);
	fputs(slots ? ",\"slots\":[" : ",\"points\":[", stdout);
	for (uint32_t i = 0; slots && i < slots->size; i++)
		printf("%s%u", i ? "," : "", slot_at(slots, i));
	if (!slots)
		print_points_json(points);
	fputs("]}\n", stdout);
	return EXIT_DONE;
}

static int show(const struct args *args, const struct gw_chash_view *view)
{
	struct gw_chash_slots slots;
	struct gw_chash_points points;
	int has_slots = gw_chash_view_slots(view, &slots);
	int has_points = has_slots ? gw_chash_view_points(view, &points) : -1;
	int error = has_slots == GW_CHASH_ERR_UNSUPPORTED ? has_points : has_slots;

	if (error) {
		complain("%s: %s", gw_chash_traits(args->options.algorithm)->name,
			error == GW_CHASH_ERR_UNSUPPORTED ? "keeps neither slots nor points"
							  : gw_chash_strerror(error));
		return EXIT_FAILED;
	}
	if (args->json)
		return print_json(args, view, has_slots ? NULL : &slots, &points);
	if (!has_slots)
		print_slots(view, &slots);
	else
		print_points(view, &points);
	return EXIT_DONE;
}

int table_run(const struct args *args)
{
	struct gw_chash *handle;
	struct gw_chash_view *view;
	int status = args_build(args, &handle);
	uint32_t member;
	int error;

	if (status)
		return status;
	view = gw_chash_snapshot(handle);
	error = gw_chash_get_node_u64(view, 0, &member);
	if (error) {
		complain("%s", gw_chash_strerror(error));
		status = EXIT_FAILED;
	} else {
		status = show(args, view);
	}
	gw_chash_view_unref(view);
	gw_chash_destroy(handle);
	return status;
}
