/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A members file that is missing, empty or wrong is an error like any other, so that the
 * configuration in use goes on: an incomplete source never takes backends away. Errors that only
 * members files are to blame for are counted, for a start may then fall back on what was known.
 */
#include "config_members.h"

#include "config_texts.h"
#include "config_values.h"

#include <errno.h>
#include <string.h>

/* The document's root is a list of backends, or a mapping with that list. */
static void backends_read(struct config_walk *walk, yaml_node_t *root, void *pool)
{
	const struct config_key *backends = &config_members_section.keys[0];
	struct gw_config_pool *into = pool;

	if (root->type == YAML_SEQUENCE_NODE)
		backends->read(walk, backends, root, pool);
	else
		config_section_read(walk, &config_members_section, root, pool);
	if (!into->backend_count && !walk->status)
		config_bad(walk, root,
			"names no backend, and an empty list never empties a pool: to take all "
			"backends away, write \"backends: []\" in the pool instead");
}

static bool source_read(
	struct config_walk *walk, const char *path, const char *text, size_t len, void *pool)
{
	struct config_source source = {.name = path, .list = true}, *outer = walk->source;
	const struct config_step *step = walk->step;
	size_t errors = walk->errors->count;
	int ret = config_source_parse(&source, text, len, walk->errors);

	if (ret && ret != -EINVAL)
		walk->status = ret;
	walk->source = &source;
	if (!ret)
		backends_read(walk, source.root, pool);
	walk->source = outer;
	walk->step = step;
	config_source_free(&source);
	return walk->errors->count == errors && !walk->status;
}

CONFIG_READER(config_read_members_file)
{
	struct gw_config_pool *pool = base;
	size_t len, errors = walk->errors->count;
	char *path = config_path_read(walk, node);
	const char *text;
	int error;

	if (!path)
		return false;
	pool->members_file = path;
	error = config_text_get(walk, path, GW_CONFIG_TEXT_MEMBERS, &text, &len);
	if (error == -ENOMEM) {
		walk->status = error;
		return false;
	}
	if (error)
		config_bad(walk, node, "cannot read %s: %s", path, config_file_error(error));
	else
		source_read(walk, path, text, len, pool);
	if (walk->errors->count > errors)
		walk->sources.incomplete = true;
	walk->errors->members += walk->errors->count - errors;
	return walk->errors->count == errors;
}
