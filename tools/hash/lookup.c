/* SPDX-License-Identifier: BSD-2-Clause */
/* `lookup`: the owner of each key, or its preference list. */
#include "hash.h"

#include <jansson.h>

#include <stdio.h>
#include <string.h>

static const struct gw_chash_traits *traits_of(const struct args *args)
{
	return gw_chash_traits(args->options.algorithm);
}

static int check(const struct args *args)
{
	if (!args->key_count) {
		complain("lookup needs a key: --key, --key-u64 or --keys-from");
		return EXIT_USAGE;
	}
	if (args->spread_zone && !args->n) {
		complain("--spread zone orders a preference list: give its length with --n");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < args->key_count; i++)
		if (!args->keys[i].text && !traits_of(args)->integer_keys) {
			complain("--key-u64 %llu: %s is not defined on integers, give --key",
				(unsigned long long)args->keys[i].number, traits_of(args)->name);
			return EXIT_USAGE;
		}
	return EXIT_DONE;
}

static json_t *preference(
	const struct gw_chash_view *view, uint64_t value, const struct args *args, int *error)
{
	uint32_t count = gw_chash_view_count(view);
	uint32_t n = args->n < count ? args->n : count;
	uint32_t *members = grow(NULL, 0, sizeof(*members) * (n ? n : 1));
	uint32_t found = 0;
	json_t *list = json_array();

	*error = gw_chash_get_nodes_u64(view, value, n, args->spread_zone, members, &found);
	for (uint32_t i = 0; !*error && i < found; i++)
		json_array_append_new(
			list, json_string(gw_chash_view_members(view)[members[i]].id));
	free(members);
	return list;
}

static void print(const json_t *line, bool json)
{
	const json_t *members = json_object_get(line, "members");
	const json_t *key = json_object_get(line, "key");
	const json_t *bucket = json_object_get(line, "bucket");

	if (json) {
		json_dumpf(line, stdout, JSON_COMPACT);
		putchar('\n');
		return;
	}
	if (json_is_string(key))
		fputs(json_string_value(key), stdout);
	else
		json_dumpf(key, stdout, JSON_ENCODE_ANY);
	if (json_is_integer(bucket))
		printf(" bucket %lld", (long long)json_integer_value(bucket));
	for (size_t i = 0; i < json_array_size(members); i++)
		printf(" %s", json_string_value(json_array_get(members, i)));
	if (!members)
		printf(" %s", json_string_value(json_object_get(line, "member")));
	putchar('\n');
}

static json_t *key_json(const struct key *key)
{
	char text[24];

	if (key->text)
		return json_string(key->text);
	if (key->number <= INT64_MAX)
		return json_integer((json_int_t)key->number);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)key->number);
	return json_string(text);
}

static int look_up(const struct args *args, const struct gw_chash_view *view, const struct key *key)
{
	uint64_t value =
		key->text ? gw_chash_view_hash(view, key->text, strlen(key->text)) : key->number;
	uint32_t member, bucket;
	json_t *line;
	int error = gw_chash_get_node_u64(view, value, &member);

	if (error) {
		complain("%s", gw_chash_strerror(error));
		return EXIT_FAILED;
	}
	line = json_pack("{s:o,s:n,s:s}", "key", key_json(key), "bucket", "member",
		gw_chash_view_members(view)[member].id);
	if (!line) {
		complain("the key or its member is not UTF-8 text");
		return EXIT_FAILED;
	}
	if (!gw_chash_get_bucket_u64(view, value, &bucket))
		json_object_set_new(line, "bucket", json_integer(bucket));
	if (args->n)
		json_object_set_new(line, "members", preference(view, value, args, &error));
	if (error)
		complain("--n %u: %s", args->n, gw_chash_strerror(error));
	else
		print(line, args->json);
	json_decref(line);
	return error ? EXIT_FAILED : EXIT_DONE;
}

int lookup_run(const struct args *args)
{
	struct gw_chash *handle;
	struct gw_chash_view *view;
	int status = check(args);

	if (!status)
		status = args_build(args, &handle);
	if (status)
		return status;
	view = gw_chash_snapshot(handle);
	for (size_t i = 0; !status && i < args->key_count; i++)
		status = look_up(args, view, &args->keys[i]);
	gw_chash_view_unref(view);
	gw_chash_destroy(handle);
	return status;
}
