/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NAME_SIZE 24

double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* splitmix64 (Steele, Lea, Flood 2014): one 64-bit state, every seed is a good one. */
uint64_t sim_random(struct sim *sim, uint64_t below)
{
	uint64_t z = sim->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	z ^= z >> 31;
	return (uint64_t)((unsigned __int128)z * below >> 64);
}

static void node_name(char name[NAME_SIZE], uint32_t number)
{
	snprintf(name, NAME_SIZE, "node-%u", number);
}

static uint32_t node_number(const char *name)
{
	return (uint32_t)strtoul(name + strlen("node-"), NULL, 10);
}

int sim_add(struct sim *sim, uint32_t first, uint32_t count)
{
	struct gw_chash_change *changes = grow(NULL, 0, sizeof(*changes) * (count ? count : 1));
	char(*names)[NAME_SIZE] = grow(NULL, 0, sizeof(*names) * (count ? count : 1));
	int error;

	for (uint32_t i = 0; i < count; i++) {
		node_name(names[i], first + i);
		changes[i] =
			(struct gw_chash_change){.verb = GW_CHASH_ADD, .id = names[i], .weight = 1};
	}
	error = gw_chash_update(sim->handle, changes, count, NULL);
	free(names);
	free(changes);
	return error;
}

int sim_remove(struct sim *sim, uint32_t number)
{
	char name[NAME_SIZE];

	node_name(name, number);
	return gw_chash_remove_node(sim->handle, name);
}

int sim_weigh(struct sim *sim, uint32_t number, uint32_t weight)
{
	char name[NAME_SIZE];

	node_name(name, number);
	return gw_chash_set_weight(sim->handle, name, weight);
}

bool sim_has(const struct sim *sim, uint32_t number)
{
	struct gw_chash_view *view = gw_chash_snapshot(sim->handle);
	char name[NAME_SIZE];
	uint32_t member;
	bool found;

	node_name(name, number);
	found = !gw_chash_view_find(view, name, &member);
	gw_chash_view_unref(view);
	return found;
}

uint32_t sim_count(const struct sim *sim)
{
	struct gw_chash_view *view = gw_chash_snapshot(sim->handle);
	uint32_t count = gw_chash_view_count(view);

	gw_chash_view_unref(view);
	return count;
}

uint32_t sim_victim(struct sim *sim)
{
	uint32_t number = sim->room - 1;

	if (sim->traits->end_only) {
		while (number && !sim_has(sim, number))
			number--;
		return number;
	}
	do
		number = (uint32_t)sim_random(sim, sim->room);
	while (!sim_has(sim, number));
	return number;
}

static void make_keys(struct sim *sim)
{
	struct gw_chash_view *view = gw_chash_snapshot(sim->handle);

	sim->values = grow(NULL, 0, sizeof(*sim->values) * sim->keys);
	for (uint64_t i = 0; i < sim->keys; i++) {
		char key[NAME_SIZE];
		int length = snprintf(key, sizeof(key), "key-%llu", (unsigned long long)i);

		sim->values[i] = gw_chash_view_hash(view, key, (size_t)length);
	}
	gw_chash_view_unref(view);
}

int sim_open(struct sim *sim, const struct args *args, enum gw_chash_algorithm algorithm,
	uint32_t members, uint32_t room, uint64_t keys)
{
	int error;

	*sim = (struct sim){
		.args = args,
		.traits = gw_chash_traits(algorithm),
		.members = members,
		.room = room,
		.keys = keys,
		.random = args->seed,
	};
	gw_chash_options_init(&sim->options, algorithm);
	if (args->hash_given)
		sim->options.hash = args->options.hash;
	if (args->vnodes_given)
		sim->options.vnodes = args->options.vnodes;
	/* ketama has no seed; the scenario's own chance still follows it. */
	sim->options.seed = algorithm == GW_CHASH_KETAMA ? 0 : args->seed;
	sim->options.size = args->options.size;
	sim->options.probes = args->options.probes;
	/* Room for every member and one weight more: what a scenario can ask for. */
	sim->options.capacity = args->capacity_given ? args->options.capacity : 2 * room + 2;
	error = gw_chash_create(&sim->options, &sim->handle);
	if (!error)
		error = sim_add(sim, 0, members);
	if (!error)
		make_keys(sim);
	else
		sim_close(sim);
	return error;
}

void sim_close(struct sim *sim)
{
	gw_chash_destroy(sim->handle);
	free(sim->values);
	*sim = (struct sim){0};
}

int placement_take(const struct sim *sim, struct placement *placement)
{
	struct gw_chash_view *view = gw_chash_snapshot(sim->handle);
	const struct gw_chash_member *members = gw_chash_view_members(view);
	uint32_t count = gw_chash_view_count(view);
	uint32_t *numbers = grow(NULL, 0, sizeof(*numbers) * (count ? count : 1));
	struct placement made = {.keys = sim->keys, .room = sim->room};
	int error;

	made.owner = grow(NULL, 0, sizeof(*made.owner) * sim->keys);
	made.loads = grow(NULL, 0, sizeof(*made.loads) * sim->room);
	memset(made.loads, 0, sizeof(*made.loads) * sim->room);
	for (uint32_t i = 0; i < count; i++)
		numbers[i] = node_number(members[i].id);
	error = gw_chash_get_node_bulk(view, sim->values, sim->keys, made.owner);
	for (uint64_t i = 0; !error && i < sim->keys; i++) {
		made.owner[i] = numbers[made.owner[i]];
		made.loads[made.owner[i]]++;
	}
	free(numbers);
	gw_chash_view_unref(view);
	if (error)
		placement_free(&made);
	else
		*placement = made;
	return error;
}

uint64_t placement_moved(const struct placement *before, const struct placement *after)
{
	uint64_t moved = 0;

	for (uint64_t i = 0; i < before->keys; i++)
		moved += before->owner[i] != after->owner[i];
	return moved;
}

void placement_free(struct placement *placement)
{
	free(placement->owner);
	free(placement->loads);
	*placement = (struct placement){0};
}

void load_spread(const uint64_t *loads, const bool *present, uint32_t room, uint64_t *busiest,
	uint64_t *quietest, double *stddev)
{
	double sum = 0, squares = 0;
	uint32_t count = 0;

	*busiest = 0;
	*quietest = UINT64_MAX;
	for (uint32_t i = 0; i < room; i++) {
		if (present && !present[i])
			continue;
		*busiest = loads[i] > *busiest ? loads[i] : *busiest;
		*quietest = loads[i] < *quietest ? loads[i] : *quietest;
		sum += (double)loads[i];
		squares += (double)loads[i] * (double)loads[i];
		count++;
	}
	if (!count)
		*quietest = 0;
	*stddev = count ? sqrt(fmax(0, squares / count - sum / count * (sum / count))) : 0;
}

void outcome_take(struct outcome *outcome, const struct sim *sim, const struct placement *before,
	const struct placement *after)
{
	struct gw_chash_view *view = gw_chash_snapshot(sim->handle);

	outcome->members_before = sim->members;
	outcome->members_after = gw_chash_view_count(view);
	outcome->keys = sim->keys;
	if (before)
		outcome->moved = placement_moved(before, after);
	outcome->room = after->room;
	outcome->loads = grow(NULL, 0, sizeof(*outcome->loads) * after->room);
	memcpy(outcome->loads, after->loads, sizeof(*outcome->loads) * after->room);
	outcome->present = grow(NULL, 0, sizeof(*outcome->present) * after->room);
	memset(outcome->present, 0, sizeof(*outcome->present) * after->room);
	for (uint32_t i = 0; i < outcome->members_after; i++)
		outcome->present[node_number(gw_chash_view_members(view)[i].id)] = true;
	outcome->memory = gw_chash_view_memory(view);
	gw_chash_view_unref(view);
}

json_t *outcome_json(const struct outcome *outcome)
{
	json_t *loads = json_object();
	uint64_t busiest, quietest;
	double stddev;
	json_t *out;

	load_spread(outcome->loads, outcome->present, outcome->room, &busiest, &quietest, &stddev);
	for (uint32_t i = 0; i < outcome->room; i++) {
		char name[NAME_SIZE];

		node_name(name, i);
		if (outcome->present[i])
			json_object_set_new(
				loads, name, json_integer((json_int_t)outcome->loads[i]));
	}
	out = json_pack("{s:s,s:s,s:I,s:I,s:I,s:I,s:f,s:f,s:I,s:I,s:f,s:o,s:I,s:f}", "algorithm",
		outcome->algorithm, "scenario", outcome->scenario, "members_before",
		(json_int_t)outcome->members_before, "members_after",
		(json_int_t)outcome->members_after, "keys", (json_int_t)outcome->keys, "moved",
		(json_int_t)outcome->moved, "ideal", outcome->ideal, "excess",
		(double)outcome->moved - outcome->ideal, "busiest", (json_int_t)busiest, "quietest",
		(json_int_t)quietest, "stddev", stddev, "loads", loads, "memory_bytes",
		(json_int_t)outcome->memory, "seconds", outcome->seconds);
	if (outcome->extra)
		json_object_update(out, outcome->extra);
	return out;
}

void json_print(const json_t *value)
{
	json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
	putchar('\n');
}

int draw_chart(const struct chart *chart, const char *path)
{
	int status = chart_write(chart, path);

	if (!status)
		return EXIT_DONE;
	complain("--svg: cannot write '%s': %s", path, strerror(-status));
	return EXIT_FAILED;
}

int list_finish(const struct args *args, json_t *list, struct chart *chart, int status)
{
	if (!status && args->json)
		json_print(list);
	if (!status && args->svg)
		status = draw_chart(chart, args->svg);
	json_decref(list);
	chart_free(chart);
	return status;
}

static void print_extra(const json_t *extra)
{
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)extra, name, value) {
		if (json_is_object(value) || (json_is_array(value) && json_array_size(value) > 12))
			continue;
		printf("%-16s ", name);
		json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
		putchar('\n');
	}
}

void outcome_print(const struct outcome *outcome)
{
	double average =
		outcome->members_after ? (double)outcome->keys / outcome->members_after : 0;
	uint64_t busiest, quietest;
	double stddev, keys = (double)outcome->keys;

	load_spread(outcome->loads, outcome->present, outcome->room, &busiest, &quietest, &stddev);
	printf("%s, %s: %u -> %u members, %llu keys\n", outcome->algorithm, outcome->scenario,
		outcome->members_before, outcome->members_after, (unsigned long long)outcome->keys);
	printf("%-16s %llu (%.3f%%)\n", "moved", (unsigned long long)outcome->moved,
		100 * (double)outcome->moved / keys);
	printf("%-16s %.1f (%.3f%%)\n", "ideal", outcome->ideal, 100 * outcome->ideal / keys);
	printf("%-16s %.1f (%.3f%%)\n", "excess", (double)outcome->moved - outcome->ideal,
		100 * ((double)outcome->moved - outcome->ideal) / keys);
	printf("%-16s %llu (%.3f of average)\n", "busiest", (unsigned long long)busiest,
		average > 0 ? (double)busiest / average : 0);
	printf("%-16s %llu (%.3f of average)\n", "quietest", (unsigned long long)quietest,
		average > 0 ? (double)quietest / average : 0);
	printf("%-16s %.1f (%.3f of average)\n", "stddev", stddev,
		average > 0 ? stddev / average : 0);
	printf("%-16s %.1f KiB\n", "memory", (double)outcome->memory / 1024);
	printf("%-16s %.3f ms\n", "change took", outcome->seconds * 1000);
	if (outcome->extra)
		print_extra(outcome->extra);
}

void outcome_free(struct outcome *outcome)
{
	free(outcome->loads);
	free(outcome->present);
	json_decref(outcome->extra);
	chart_free(&outcome->chart);
	*outcome = (struct outcome){0};
}
