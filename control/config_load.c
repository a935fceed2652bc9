/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From files to a model: parse the main file and those it includes, walk all of them by the tables,
 * then check what only the whole can show (config_check.c). Lists (pools, services) of several
 * files are joined; any other key may stand in one file only.
 */
#include "config_load.h"

#include "abi/flow_word.h"
#include "config_arena.h"
#include "config_check.h"
#include "config_expand.h"
#include "config_schema.h"
#include "config_texts.h"
#include "config_values.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#define SOURCES_MAX 1000u

CONFIG_READER(config_read_version)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];

	if (!text)
		return false;
	if (strcmp(text, "1")) {
		config_bad(walk, node, "\"%s\" is not a version that this program reads: 1",
			config_quote(text, quoted));
		return false;
	}
	return true;
}

static bool source_known(const struct config_walk *walk, const char *name)
{
	for (size_t i = 0; i < walk->sources.count; i++) {
		if (!strcmp(walk->sources.list[i]->name, name))
			return true;
	}
	return false;
}

/* Adds an empty source; the name is copied. NULL without memory. */
static struct config_source *source_add(struct config_walk *walk, const char *name)
{
	struct config_sources *sources = &walk->sources;
	struct config_source *source = config_alloc(walk, 1, sizeof(*source));

	if (!sources->list)
		sources->list = config_alloc(walk, SOURCES_MAX, sizeof(*sources->list));
	if (!source || !sources->list)
		return NULL;
	source->name = gw_arena_strndup(walk->config->arena, name, strlen(name));
	if (!source->name) {
		walk->status = -ENOMEM;
		return NULL;
	}
	sources->list[sources->count++] = source;
	return source;
}

static void source_read(
	struct config_walk *walk, struct config_source *source, const char *text, size_t len)
{
	int error = config_source_parse(source, text, len, walk->errors);

	if (error == -EINVAL)
		walk->sources.incomplete = true;
	else if (error)
		walk->status = error;
}

static void include_read(struct config_walk *walk, const yaml_node_t *node, const char *name)
{
	struct config_source *source;
	const char *text;
	size_t len;
	int error;

	if (walk->sources.count == SOURCES_MAX) {
		config_bad(walk, node, "more than %u files", SOURCES_MAX);
		walk->status = -E2BIG;
		return;
	}
	if (source_known(walk, name)) {
		config_bad(walk, node, "%s is included twice", name);
		return;
	}
	source = source_add(walk, name);
	if (!source)
		return;
	error = config_text_get(walk, name, GW_CONFIG_TEXT_INCLUDE, &text, &len);
	if (error) {
		walk->sources.incomplete = true;
		config_bad(walk, node, "cannot read %s: %s", name, config_file_error(error));
		return;
	}
	source_read(walk, source, text, len);
}

/* A folder that is not there holds no files; one that cannot be read may. */
static int folder_error(const char *path, int error)
{
	return error != ENOENT;
}

/* The same among the texts given. */
static bool include_given(struct config_walk *walk, const yaml_node_t *node, const char *pattern)
{
	for (size_t i = 0; i < walk->given_count && !walk->status; i++)
		if (walk->given[i].kind == GW_CONFIG_TEXT_INCLUDE &&
			!fnmatch(pattern, walk->given[i].name, FNM_PATHNAME | FNM_PERIOD))
			include_read(walk, node, walk->given[i].name);
	return true;
}

static bool include_element(struct config_walk *walk, const yaml_node_t *node)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];
	char *pattern;
	glob_t found;
	int error;

	if (!text)
		return false;
	pattern = config_path_resolve(walk, text);
	if (!pattern)
		return false;
	if (walk->given)
		return include_given(walk, node, pattern);
	error = glob(pattern, 0, folder_error, &found);
	if (error == GLOB_NOSPACE) {
		walk->status = -ENOMEM;
	} else if (error && (error != GLOB_NOMATCH || !strpbrk(pattern, "*?["))) {
		/* a pattern that matches nothing is an empty folder, a name is a mistake */
		walk->sources.incomplete = true;
		config_bad(walk, node, "\"%s\": %s", config_quote(text, quoted),
			error == GLOB_NOMATCH ? "no such file" : "the folder cannot be read");
	}
	for (size_t i = 0; !error && i < found.gl_pathc && !walk->status; i++)
		include_read(walk, node, found.gl_pathv[i]);
	globfree(&found);
	return !error;
}

CONFIG_READER(config_read_include)
{
	bool is_list = node->type == YAML_SEQUENCE_NODE;
	bool good = true;

	if (walk->source != walk->sources.list[0]) {
		config_bad(walk, node, "an included file cannot include others");
		return false;
	}
	if (!config_files_allowed(walk, node))
		return false;
	if (!is_list)
		return include_element(walk, node);
	for (yaml_node_item_t *item = node->data.sequence.items.start;
		item < node->data.sequence.items.top && !walk->status; item++)
		good &= include_element(
			walk, yaml_document_get_node(&walk->source->document, *item));
	return good;
}

/* The number in the file's text; what the text is stays unsaid, it is a secret. */
static bool seed_parse(char *text, size_t len, uint64_t *seed)
{
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	text[len] = '\0';
	return strlen(text) == len && !config_number_parse(text, true, 0, UINT64_MAX, seed);
}

CONFIG_READER(config_read_seed_file)
{
	struct gw_config *config = base;
	char *path = config_path_read(walk, node), *text;
	uint64_t seed;
	size_t len;
	int error;

	if (!path)
		return false;
	error = config_file_read(path, &text, &len);
	if (error) {
		config_bad(walk, node, "cannot read %s: %s", path, config_file_error(error));
		return false;
	}
	if (seed_parse(text, len, &seed)) {
		config->hash_seed = seed;
		config->hash_seed_file = path;
	} else {
		config_bad(walk, node,
			"%s does not hold one number from 0 to 18446744073709551615, decimal or "
			"0x hex",
			path);
	}
	explicit_bzero(text, len);
	free(text);
	return config->hash_seed_file;
}

/* The first file that has the key, NULL for none. */
static struct config_source *key_source(struct config_walk *walk, const char *key)
{
	for (size_t i = 0; i < walk->sources.count; i++) {
		struct config_source *source = walk->sources.list[i];

		walk->source = source;
		if (source->root && config_find(walk, source->root, key))
			return source;
	}
	return NULL;
}

/* One key in all files. */
static void root_key_read(struct config_walk *walk, const struct config_key *key)
{
	struct config_source *first = key_source(walk, key->name);
	bool joined = key->read == config_read_sections || key->read == config_read_version ||
		      key->read == config_read_include; /* which has its own word */

	for (size_t i = 0; i < walk->sources.count && first && !walk->status; i++) {
		struct config_source *source = walk->sources.list[i];
		yaml_node_t *node;

		walk->source = source;
		node = source->root ? config_find(walk, source->root, key->name) : NULL;
		if (node && source != first && !joined)
			config_bad_key(
				walk, key->name, node, "is given in %s already", first->name);
		else if (node)
			config_key_read(walk, key, source->root, walk->config);
	}
}

static void root_read(struct config_walk *walk)
{
	struct config_source *main_source = walk->sources.list[0];
	yaml_node_t *node;

	for (size_t i = 0; i < config_root.count && !walk->status; i++)
		root_key_read(walk, &config_root.keys[i]);
	for (size_t i = 0; i < walk->sources.count && !walk->status; i++) {
		walk->source = walk->sources.list[i];
		if (walk->source->root)
			config_keys_check(walk, &config_root, walk->source->root);
	}
	walk->source = main_source;
	if (main_source->root && !config_find(walk, main_source->root, "version"))
		config_bad_key(walk, "version", main_source->root, "is missing: version: 1");
	if (key_source(walk, "hash_seed") && key_source(walk, "hash_seed_file")) {
		node = config_find(walk, walk->source->root, "hash_seed_file");
		config_bad_key(walk, "hash_seed_file", node, "excludes hash_seed: remove one");
	}
}

static int files_list(struct config_walk *walk)
{
	struct gw_config *config = walk->config;

	config->files = config_alloc(walk, walk->sources.count, sizeof(*config->files));
	if (!config->files)
		return -ENOMEM;
	for (size_t i = 0; i < walk->sources.count; i++)
		config->files[i] = walk->sources.list[i]->name;
	config->file_count = walk->sources.count;
	return 0;
}

/* What is to be loaded. */
struct load {
	const char *name;
	const char *text; /* NULL: it cannot be read, for the reason read_error */
	size_t len;
	int read_error;
	unsigned int flags;
	const struct gw_config_text *given; /* NULL: other files are read */
	size_t given_count;
};

static int parts_make(
	struct gw_config *config, const struct gw_place *file, struct gw_config_errors *errors)
{
	int error = gw_config_expand(config);

	if (error != -E2BIG)
		return error;
	if (config_error_add(errors, file, "",
		    "health checks via tunnel need a pool for each service address, and these are "
		    "more than there can be: %u pools, %u services, %u backends",
		    GW_MAX_POOLS, GW_MAX_SERVICES, GW_FLOW_BACKEND_MAX))
		return -ENOMEM;
	return -EINVAL;
}

static int load(const struct load *from, struct gw_config *config, struct gw_config_errors *errors)
{
	struct config_walk walk = {.config = config,
		.errors = errors,
		.flags = from->flags,
		.given = from->given,
		.given_count = from->given_count};
	struct gw_place place = {0};

	walk.source = source_add(&walk, from->name);
	if (!walk.source)
		return -ENOMEM;
	place.file = walk.source->name;
	if (!from->text && config_error_add(errors, &place, "", "cannot be read: %s",
				   config_file_error(from->read_error)))
		return -ENOMEM;
	if (from->text &&
		config_text_keep(&walk, from->name, GW_CONFIG_TEXT_MAIN, from->text, from->len))
		return -ENOMEM;
	if (from->text)
		source_read(&walk, walk.source, from->text, from->len);
	if (walk.source->root && !walk.status) {
		root_read(&walk);
		if (!walk.status)
			config_check(&walk);
	}
	for (size_t i = 0; i < walk.sources.count; i++)
		config_source_free(walk.sources.list[i]);
	if (walk.status == -ENOMEM || files_list(&walk))
		return -ENOMEM;
	config_errors_sort(errors, config->files, config->file_count);
	if (errors->count)
		return -EINVAL;
	return from->flags & GW_CONFIG_PARTS ? parts_make(config, &place, errors) : 0;
}

static int load_new(
	const struct load *from, struct gw_config **out, struct gw_config_errors *errors)
{
	struct gw_arena *arena = gw_arena_new();
	struct gw_config *config = arena ? gw_arena_alloc(arena, 1, sizeof(*config)) : NULL;
	int error = -ENOMEM;

	if (config) {
		config->arena = arena;
		config_defaults_set(config);
		error = load(from, config, errors);
	}
	if (error)
		gw_arena_free(arena);
	else
		*out = config;
	return error;
}

int gw_config_load_string(const char *name, const char *text, size_t len, unsigned int flags,
	struct gw_config **out, struct gw_config_errors *errors)
{
	struct load from = {.name = name, .text = text, .len = len, .flags = flags};

	if (len > CONFIG_BYTES_MAX) {
		from.text = NULL;
		from.read_error = -EFBIG;
	}
	return load_new(&from, out, errors);
}

int gw_config_load_texts(const struct gw_config_text *texts, size_t count, unsigned int flags,
	struct gw_config **out, struct gw_config_errors *errors)
{
	struct load from = {.name = texts[0].name,
		.text = texts[0].text,
		.len = texts[0].length,
		.flags = flags,
		.given = texts,
		.given_count = count};

	return load_new(&from, out, errors);
}

int gw_config_load(const char *path, unsigned int flags, struct gw_config **out,
	struct gw_config_errors *errors)
{
	struct load from = {.name = path, .flags = flags};
	char *text = NULL;
	int error;

	from.read_error = config_file_read(path, &text, &from.len);
	if (from.read_error == -ENOMEM)
		return -ENOMEM;
	from.text = text;
	error = load_new(&from, out, errors);
	free(text);
	return error;
}
