/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_texts.h"

#include "config_arena.h"
#include "config_values.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 8u

int config_text_keep(struct config_walk *walk, const char *name, enum gw_config_text_kind kind,
	const char *text, size_t len)
{
	struct gw_config *config = walk->config;
	struct gw_config_text *list = config->texts;
	struct gw_config_text kept = {.kind = kind, .length = len};

	/* Room doubles: a power of two that is full asks for the next. */
	if (!list || (config->text_count >= FIRST_ROOM &&
			     !(config->text_count & (config->text_count - 1)))) {
		size_t room = list ? 2 * config->text_count : FIRST_ROOM;

		list = config_alloc(walk, room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		if (config->text_count)
			memcpy(list, config->texts, config->text_count * sizeof(*list));
		config->texts = list;
	}
	kept.name = gw_arena_strndup(config->arena, name, strlen(name));
	kept.text = gw_arena_strndup(config->arena, text, len);
	if (!kept.name || !kept.text) {
		walk->status = -ENOMEM;
		return -ENOMEM;
	}
	list[config->text_count++] = kept;
	return 0;
}

static const struct gw_config_text *text_find(
	const struct gw_config_text *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

/* A members file may stand in several pools: it is kept once. */
static int text_take(struct config_walk *walk, const char *name, enum gw_config_text_kind kind,
	const char *text, size_t len)
{
	if (text_find(walk->config->texts, walk->config->text_count, name))
		return 0;
	return config_text_keep(walk, name, kind, text, len);
}

int config_text_get(struct config_walk *walk, const char *name, enum gw_config_text_kind kind,
	const char **text, size_t *len)
{
	const struct gw_config_text *found;
	char *read = NULL;
	int ret;

	if (walk->given) {
		found = text_find(walk->given, walk->given_count, name);
		if (!found)
			return -ENOENT;
		ret = text_take(walk, name, kind, found->text, found->length);
	} else {
		size_t length;

		ret = config_file_read(name, &read, &length);
		if (!ret)
			ret = text_take(walk, name, kind, read, length);
		free(read);
	}
	if (ret)
		return ret;
	found = text_find(walk->config->texts, walk->config->text_count, name);
	*text = found->text;
	*len = found->length;
	return 0;
}

char *config_path_resolve(struct config_walk *walk, const char *path)
{
	const char *name = walk->source->name;
	const char *slash = strrchr(name, '/');
	char *full;

	if (*path == '/' || !slash)
		full = gw_arena_strndup(walk->config->arena, path, strlen(path));
	else
		full = gw_arena_printf(
			walk->config->arena, "%.*s%s", (int)(slash + 1 - name), name, path);
	if (!full)
		walk->status = -ENOMEM;
	return full;
}

bool config_files_allowed(struct config_walk *walk, yaml_node_t *node)
{
	if (walk->flags & GW_CONFIG_NO_FILES)
		config_bad(walk, node, "other files cannot be used here");
	return !(walk->flags & GW_CONFIG_NO_FILES);
}

char *config_path_read(struct config_walk *walk, yaml_node_t *node)
{
	const char *name = config_text(walk, node);

	return name && config_files_allowed(walk, node) ? config_path_resolve(walk, name) : NULL;
}
