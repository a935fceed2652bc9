/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_yaml.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the first reading of the events has seen so far. */
struct scan {
	const struct config_source *source;
	struct gw_config_errors *errors;
	unsigned int nodes, anchors, aliases, documents, depth;
	char *open[CONFIG_DEPTH_MAX]; /* anchors of the collections around, NULL without one */
	int status;
};

int config_file_read(const char *path, char **text, size_t *len)
{
	struct stat status;
	ssize_t got = 0;
	size_t have = 0;
	char *buffer = NULL;
	int error = 0;
	/* O_NONBLOCK: the open of a FIFO must not hang the daemon */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		error = -errno;
	else if (!S_ISREG(status.st_mode))
		error = S_ISDIR(status.st_mode) ? -EISDIR : -ENOTSUP;
	else if ((unsigned long long)status.st_size > CONFIG_BYTES_MAX)
		error = -EFBIG;
	else if (!(buffer = malloc(CONFIG_BYTES_MAX + 1)))
		error = -ENOMEM;
	while (!error && (got = read(fd, buffer + have, CONFIG_BYTES_MAX + 1 - have)) > 0) {
		have += (size_t)got;
		if (have > CONFIG_BYTES_MAX)
			error = -EFBIG;
	}
	if (!error && got < 0)
		error = -errno;
	close(fd);
	if (error) {
		free(buffer);
		return error;
	}
	*text = buffer;
	*len = have;
	return 0;
}

const char *config_file_error(int error)
{
	switch (error) {
	case -EFBIG:
		return "larger than 8 MiB";
	case -ENOTSUP:
		return "not a regular file";
	default:
		return strerror(-error);
	}
}

struct gw_place config_mark_place(const struct config_source *source, const yaml_mark_t *mark)
{
	struct gw_place place = {
		.file = source->name,
		.line = (uint32_t)mark->line + 1,
		.column = (uint32_t)mark->column + 1,
	};

	return place;
}

static void scan_error(struct scan *scan, const yaml_mark_t *mark, const char *message)
{
	struct gw_place place = config_mark_place(scan->source, mark);

	if (config_error_add(scan->errors, &place, "", "%s", message))
		scan->status = -ENOMEM;
	else if (!scan->status)
		scan->status = -EINVAL;
}

/* Where a byte of the text lies: the reader's errors come with an offset only. */
static yaml_mark_t offset_mark(const char *text, size_t len, size_t offset)
{
	yaml_mark_t mark = {.index = offset};

	for (size_t i = 0; i < offset && i < len; i++) {
		if (text[i] == '\n') {
			mark.line++;
			mark.column = 0;
		} else if (((unsigned char)text[i] & 0xc0) != 0x80) {
			mark.column++;
		}
	}
	return mark;
}

static void parser_error(
	struct scan *scan, const yaml_parser_t *parser, const char *text, size_t len)
{
	yaml_mark_t mark = parser->problem_mark;
	const char *problem = parser->problem ? parser->problem : "not YAML";
	char message[256];

	if (parser->error == YAML_MEMORY_ERROR) {
		scan->status = -ENOMEM;
		return;
	}
	if (parser->error == YAML_READER_ERROR) {
		mark = offset_mark(text, len, parser->problem_offset);
		snprintf(message, sizeof(message), "not text in UTF-8: %s", problem);
	} else if (parser->context) {
		snprintf(message, sizeof(message), "YAML syntax: %s, %s", parser->context, problem);
	} else {
		snprintf(message, sizeof(message), "YAML syntax: %s", problem);
	}
	scan_error(scan, &mark, message);
}

static void scan_alias(struct scan *scan, const yaml_event_t *event)
{
	if (++scan->aliases > CONFIG_ALIASES_MAX)
		scan_error(scan, &event->start_mark, "more than 1000 aliases (*name)");
	for (unsigned int i = 0; i < scan->depth; i++) {
		if (scan->open[i] && !strcmp(scan->open[i], (const char *)event->data.alias.anchor))
			scan_error(scan, &event->start_mark, "an alias inside what it stands for");
	}
}

/* A scalar or the beginning of a collection. */
static void scan_node(struct scan *scan, const yaml_event_t *event, const yaml_char_t *anchor,
	const yaml_char_t *tag)
{
	if (++scan->nodes > CONFIG_NODES_MAX)
		scan_error(scan, &event->start_mark, "more than 1000000 values");
	if (anchor && ++scan->anchors > CONFIG_ALIASES_MAX)
		scan_error(scan, &event->start_mark, "more than 1000 anchors (&name)");
	if (tag)
		scan_error(scan, &event->start_mark, "tags (!name) have no use here: remove it");
}

static void scan_open(struct scan *scan, const yaml_event_t *event, const yaml_char_t *anchor,
	const yaml_char_t *tag)
{
	char *name = NULL;

	scan_node(scan, event, anchor, tag);
	if (scan->depth == CONFIG_DEPTH_MAX) {
		scan_error(scan, &event->start_mark, "nested deeper than 16 levels");
		scan->status = scan->status == -ENOMEM ? -ENOMEM : -E2BIG;
		return;
	}
	if (anchor && !(name = strdup((const char *)anchor)))
		scan->status = -ENOMEM;
	scan->open[scan->depth++] = name;
}

static void scan_event(struct scan *scan, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (++scan->documents == 2)
			scan_error(scan, &event->start_mark,
				"a second document: a file holds one, without a further '---'");
		break;
	case YAML_ALIAS_EVENT:
		scan_alias(scan, event);
		break;
	case YAML_SCALAR_EVENT:
		scan_node(scan, event, event->data.scalar.anchor, event->data.scalar.tag);
		break;
	case YAML_SEQUENCE_START_EVENT:
		scan_open(scan, event, event->data.sequence_start.anchor,
			event->data.sequence_start.tag);
		break;
	case YAML_MAPPING_START_EVENT:
		scan_open(scan, event, event->data.mapping_start.anchor,
			event->data.mapping_start.tag);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		free(scan->open[--scan->depth]);
		break;
	default:
		break;
	}
}

/* Bounds that are passed once are passed for good: reading stops there. */
static bool scan_over(const struct scan *scan)
{
	return scan->status == -ENOMEM || scan->status == -E2BIG ||
	       scan->nodes > CONFIG_NODES_MAX || scan->anchors > CONFIG_ALIASES_MAX ||
	       scan->aliases > CONFIG_ALIASES_MAX || scan->documents > 1;
}

static void parser_start(yaml_parser_t *parser, const char *text, size_t len)
{
	yaml_parser_set_input_string(parser, (const unsigned char *)text, len);
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
}

/* The first reading: syntax and bounds. */
static int source_scan(const struct config_source *source, const char *text, size_t len,
	struct gw_config_errors *errors)
{
	struct scan scan = {.source = source, .errors = errors};
	yaml_parser_t parser;
	bool end = false;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	parser_start(&parser, text, len);
	while (!end && !scan_over(&scan)) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			parser_error(&scan, &parser, text, len);
			break;
		}
		scan_event(&scan, &event);
		end = event.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&event);
	}
	while (scan.depth)
		free(scan.open[--scan.depth]);
	yaml_parser_delete(&parser);
	return scan.status == -E2BIG ? -EINVAL : scan.status;
}

/* The second reading: the tree. */
static int source_build(
	struct config_source *source, const char *text, size_t len, struct gw_config_errors *errors)
{
	struct scan scan = {.source = source, .errors = errors};
	yaml_parser_t parser;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	parser_start(&parser, text, len);
	if (yaml_parser_load(&parser, &source->document))
		source->loaded = true;
	else
		parser_error(&scan, &parser, text, len);
	yaml_parser_delete(&parser);
	return scan.status;
}

int config_source_parse(
	struct config_source *source, const char *text, size_t len, struct gw_config_errors *errors)
{
	struct gw_place start = {.file = source->name, .line = 1, .column = 1};
	yaml_node_t *root;
	int error;

	/* Told the encoding, libyaml takes the mark that some editors put in front for a character.
	 */
	if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		len -= 3;
	}
	error = source_scan(source, text, len, errors);
	if (!error)
		error = source_build(source, text, len, errors);
	if (error)
		return error;
	root = yaml_document_get_root_node(&source->document);
	if (!root) {
		error = config_error_add(errors, &start, "", "the file is empty");
		return error ? error : -EINVAL;
	}
	if (root->type != YAML_MAPPING_NODE &&
		!(source->list && root->type == YAML_SEQUENCE_NODE)) {
		start = config_mark_place(source, &root->start_mark);
		error = config_error_add(errors, &start, "",
			source->list ? "a list of backends is expected, such as '- {name: b1, "
				       "address: 192.0.2.1}'"
				     : "a configuration is keys with values, such as 'version: 1'");
		return error ? error : -EINVAL;
	}
	source->root = root;
	return 0;
}

void config_source_free(struct config_source *source)
{
	if (source->loaded)
		yaml_document_delete(&source->document);
	source->loaded = false;
	source->root = NULL;
}
