/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/node.h"

#include "control/events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHO_MAX 64
#define WHY_MAX 256

struct gw_node {
	char path[PATH_MAX];
	bool drained;
	bool leaving;
	int64_t since_ms;
	char who[WHO_MAX];
	char why[WHY_MAX];
};

static void text_copy(char *to, size_t size, const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	snprintf(to, size, "%s", text ? text : "");
}

static void file_read(struct gw_node *node, char warning[static GW_NODE_WARNING])
{
	json_error_t error;
	json_t *file;

	if (access(node->path, F_OK) && errno == ENOENT)
		return;
	file = json_load_file(node->path, JSON_REJECT_DUPLICATES, &error);
	node->drained = !file || json_is_true(json_object_get(file, "drained"));
	if (!file) {
		snprintf(warning, GW_NODE_WARNING,
			"cannot read %.128s: %.80s; the node counts as drained: `guideway node "
			"undrain`",
			node->path, error.text);
		return;
	}
	text_copy(node->who, sizeof(node->who), file, "who");
	text_copy(node->why, sizeof(node->why), file, "why");
	node->since_ms = json_integer_value(json_object_get(file, "since_ms"));
	json_decref(file);
}

int gw_node_open(const char *state_dir, struct gw_node **out, char warning[static GW_NODE_WARNING])
{
	struct gw_node *node = calloc(1, sizeof(*node));

	if (!node)
		return -ENOMEM;
	warning[0] = 0;
	if ((size_t)snprintf(node->path, sizeof(node->path), "%s/node.json", state_dir) >=
		sizeof(node->path)) {
		free(node);
		return -ENAMETOOLONG;
	}
	file_read(node, warning);
	*out = node;
	return 0;
}

void gw_node_free(struct gw_node *node)
{
	free(node);
}

static int file_replace(const char *path, const char *text)
{
	char temporary[PATH_MAX + 4];
	size_t length = strlen(text);
	int fd, error = 0;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (write(fd, text, length) != (ssize_t)length)
		error = errno ? -errno : -ENOSPC;
	else if (fsync(fd))
		error = -errno;
	close(fd);
	if (!error && rename(temporary, path))
		error = -errno;
	if (error)
		unlink(temporary);
	return error;
}

static int file_write(const struct gw_node *node)
{
	json_t *object = json_pack("{s:b, s:s, s:s, s:I}", "drained", node->drained, "who",
		node->who, "why", node->why, "since_ms", (json_int_t)node->since_ms);
	char *text = object ? json_dumps(object, JSON_INDENT(1)) : NULL;
	int error = text ? file_replace(node->path, text) : -ENOMEM;

	free(text);
	json_decref(object);
	return error;
}

int gw_node_drain(struct gw_node *node, bool drain, const char *who, const char *why,
	int64_t now_ms, bool *changed)
{
	struct gw_node wanted = *node;
	int error;

	*changed = false;
	if (node->drained == drain)
		return 0;
	wanted.drained = drain;
	wanted.since_ms = now_ms;
	snprintf(wanted.who, sizeof(wanted.who), "%s", who);
	snprintf(wanted.why, sizeof(wanted.why), "%s", why);
	error = file_write(&wanted);
	if (error)
		return error;
	*node = wanted;
	*changed = true;
	return 0;
}

void gw_node_leave(struct gw_node *node)
{
	node->leaving = true;
}

bool gw_node_announces(const struct gw_node *node)
{
	return !node->drained && !node->leaving;
}

static json_t *text_json(const char *text)
{
	json_t *string = text[0] ? json_string(text) : NULL;

	return string ? string : json_null();
}

json_t *gw_node_json(const struct gw_node *node)
{
	char since[32];

	return json_pack("{s:s, s:b, s:o, s:o, s:o}", "state",
		node->leaving	? "leaving"
		: node->drained ? "drained"
				: "serving",
		"announces", gw_node_announces(node), "who", text_json(node->who), "why",
		text_json(node->why), "since",
		node->since_ms ? json_string(gw_time_format(node->since_ms, since)) : json_null());
}
