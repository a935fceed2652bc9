/* SPDX-License-Identifier: BSD-2-Clause */
/* `lookup`: the owner of each key, or its preference list. */
#include "hash.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
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

/* The key by hand: one above 2^63-1 does not fit jansson's integers. */
static void print_json(const struct key *key, const json_t *line)
{
	json_t *text = key->text ? json_string(key->text) : NULL;
	char *rest = json_dumps(line, JSON_COMPACT);

	fputs("{\"key\":", stdout);
	if (text)
		json_dumpf(text, stdout, JSON_ENCODE_ANY);
	else
		printf("%llu", (unsigned long long)key->number);
	printf(",%s\n", rest ? rest + 1 : "}");
	free(rest);
	json_decref(text);
}

static void print(const struct key *key, const json_t *line)
{
	const json_t *members = json_object_get(line, "members");
	const json_t *bucket = json_object_get(line, "bucket");

	if (key->text)
		fputs(key->text, stdout);
	else
		printf("%llu", (unsigned long long)key->number);
	if (json_is_integer(bucket))
		printf(" bucket %lld", (long long)json_integer_value(bucket));
	for (size_t i = 0; i < json_array_size(members); i++)
		printf(" %s", json_string_value(json_array_get(members, i)));
	if (!members)
		printf(" %s", json_string_value(json_object_get(line, "member")));
	putchar('\n');
}

/* Whether JSON can say it. */
static bool is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string;
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
	line = json_pack("{s:n,s:s}", "bucket", "member", gw_chash_view_members(view)[member].id);
	if (!line || (key->text && !is_utf8(key->text))) {
		json_decref(line);
		complain("the key or its member is not UTF-8 text");
		return EXIT_FAILED;
	}
	if (!gw_chash_get_bucket_u64(view, value, &bucket))
		json_object_set_new(line, "bucket", json_integer(bucket));
	if (args->n)
		json_object_set_new(line, "members", preference(view, value, args, &error));
	if (error)
		complain("--n %u: %s", args->n, gw_chash_strerror(error));
	else if (args->json)
		print_json(key, line);
	else
		print(key, line);
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
