/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_walk.h"

#include "config_arena.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#define DISTANCE_MAX 64 /* longer words are compared by their beginning */

char *config_step_path(const struct config_step *step, char text[static CONFIG_PATH_MAX])
{
	const struct config_step *steps[CONFIG_DEPTH_MAX * 2];
	size_t depth = 0, at = 0;

	for (; step && depth < CONFIG_DEPTH_MAX * 2; step = step->up)
		steps[depth++] = step;
	text[0] = '\0';
	while (depth-- && at < CONFIG_PATH_MAX) {
		char *to = text + at;
		size_t room = CONFIG_PATH_MAX - at;

		step = steps[depth];
		if (step->key)
			at += (size_t)snprintf(to, room, "%s%s", at ? "." : "", step->key);
		else if (step->name)
			at += (size_t)snprintf(to, room, "[%s]", step->name);
		else
			at += (size_t)snprintf(to, room, "[%zu]", step->index);
	}
	return text;
}

static void bad_add(struct config_walk *walk, const struct config_step *step,
	const yaml_node_t *node, const char *format, va_list args)
{
	struct gw_place place = config_mark_place(walk->source, &node->start_mark);
	char path[CONFIG_PATH_MAX];

	if (config_errors_full(walk->errors))
		walk->errors->omitted++; /* a message that nobody sees is not made */
	else if (config_error_addv(
			 walk->errors, &place, config_step_path(step, path), format, args))
		walk->status = -ENOMEM;
}

void config_bad(struct config_walk *walk, const yaml_node_t *node, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bad_add(walk, walk->step, node, format, args);
	va_end(args);
}

void config_bad_key(
	struct config_walk *walk, const char *key, const yaml_node_t *node, const char *format, ...)
{
	struct config_step step = {.up = walk->step, .key = key};
	va_list args;

	va_start(args, format);
	bad_add(walk, &step, node, format, args);
	va_end(args);
}

void *config_alloc(struct config_walk *walk, size_t count, size_t size)
{
	void *at = gw_arena_alloc(walk->config->arena, count, size);

	if (!at)
		walk->status = -ENOMEM;
	return at;
}

static unsigned int min3(unsigned int a, unsigned int b, unsigned int c)
{
	unsigned int least = a < b ? a : b;

	return least < c ? least : c;
}

unsigned int config_distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned int row[DISTANCE_MAX + 1];

	if (a_len > DISTANCE_MAX)
		a_len = DISTANCE_MAX;
	if (b_len > DISTANCE_MAX)
		b_len = DISTANCE_MAX;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned int above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[b_len];
}

/* Counts a node; false when it is one too many. */
static bool visit(struct config_walk *walk, const yaml_node_t *node)
{
	if (walk->status)
		return false;
	if (++walk->visits <= CONFIG_VISITS_MAX)
		return true;
	config_bad(walk, node, "aliases make more than %u values of this file", CONFIG_VISITS_MAX);
	if (!walk->status)
		walk->status = -E2BIG;
	return false;
}

static bool node_is_word(const yaml_node_t *node, const char *word)
{
	return node->type == YAML_SCALAR_NODE && node->data.scalar.length == strlen(word) &&
	       !memcmp(node->data.scalar.value, word, node->data.scalar.length);
}

static yaml_node_t *node_get(const struct config_walk *walk, int index)
{
	return yaml_document_get_node(&walk->source->document, index);
}

yaml_node_t *config_find(const struct config_walk *walk, yaml_node_t *mapping, const char *key)
{
	for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
		pair < mapping->data.mapping.pairs.top; pair++) {
		if (node_is_word(node_get(walk, pair->key), key))
			return node_get(walk, pair->value);
	}
	return NULL;
}

static const struct config_key *section_key(
	const struct config_section *section, const yaml_node_t *node)
{
	for (size_t i = 0; i < section->count; i++) {
		if (node_is_word(node, section->keys[i].name))
			return &section->keys[i];
	}
	return NULL;
}

static const char *nearest_key(const struct config_section *section, const yaml_node_t *node)
{
	const char *nearest = NULL;
	unsigned int best = 0;

	for (size_t i = 0; i < section->count; i++) {
		const struct config_key *key = &section->keys[i];
		unsigned int distance;

		if (key->refused)
			continue;
		distance = config_distance((const char *)node->data.scalar.value,
			node->data.scalar.length, key->name, strlen(key->name));
		if (!nearest || distance < best) {
			nearest = key->name;
			best = distance;
		}
	}
	return nearest;
}

static void key_unknown(
	struct config_walk *walk, const struct config_section *section, const yaml_node_t *node)
{
	char quoted[CONFIG_QUOTE_MAX];

	if (config_errors_full(walk->errors)) {
		walk->errors->omitted++;
		return;
	}
	if (node->type != YAML_SCALAR_NODE) {
		config_bad(walk, node, "a key is a word, not a list or a mapping");
		return;
	}
	config_quote_bytes((const char *)node->data.scalar.value, node->data.scalar.length, quoted);
	if (!strcmp(quoted, "<<"))
		config_bad_key(walk, quoted, node,
			"merge keys are not supported: use an alias as a value");
	else
		config_bad_key(walk, quoted, node,
			"unknown key \"%s\"; the nearest valid key is \"%s\"", quoted,
			nearest_key(section, node));
}

void config_keys_check(
	struct config_walk *walk, const struct config_section *section, yaml_node_t *mapping)
{
	uint64_t seen = 0;
	unsigned long lines[64] = {0};

	for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
		pair < mapping->data.mapping.pairs.top; pair++) {
		yaml_node_t *node = node_get(walk, pair->key);
		const struct config_key *key = section_key(section, node);
		size_t index;

		if (!visit(walk, node))
			return;
		if (!key) {
			key_unknown(walk, section, node);
			continue;
		}
		index = (size_t)(key - section->keys);
		if (seen & 1ull << index) {
			struct config_step step = {.up = walk->step, .key = key->name};

			walk->step = &step;
			config_bad(
				walk, node, "duplicate key, first given in line %lu", lines[index]);
			walk->step = step.up;
		} else {
			lines[index] = node->start_mark.line + 1;
		}
		seen |= 1ull << index;
	}
}

bool config_key_read(
	struct config_walk *walk, const struct config_key *key, yaml_node_t *mapping, void *base)
{
	struct config_step step = {.up = walk->step, .key = key->name};
	yaml_node_t *node = config_find(walk, mapping, key->name);

	if (!node)
		return false;
	walk->step = &step;
	if (key->refused) {
		config_bad(walk, node, "%s", key->refused);
	} else if (visit(walk, node) && key->read(walk, key, node, base) && key->place_offset) {
		struct gw_place place = config_mark_place(walk->source, &node->start_mark);

		memcpy((char *)base + key->place_offset, &place, sizeof(place));
	}
	walk->step = step.up;
	return true;
}

void config_section_read(struct config_walk *walk, const struct config_section *section,
	yaml_node_t *node, void *base)
{
	if (node->type != YAML_MAPPING_NODE) {
		config_bad(walk, node, "must be keys with values, such as {%s: ...}",
			section->keys[0].name);
		return;
	}
	if (section->place_offset) {
		struct gw_place place = config_mark_place(walk->source, &node->start_mark);

		memcpy((char *)base + section->place_offset, &place, sizeof(place));
	}
	config_keys_check(walk, section, node);
	for (size_t i = 0; i < section->count && !walk->status; i++) {
		const struct config_key *key = &section->keys[i];

		if (!config_key_read(walk, key, node, base) && key->required)
			config_bad_key(walk, key->name, node, "is missing");
	}
	if (section->finish && !walk->status)
		section->finish(walk, node, base);
}

void config_field_store(const struct config_key *key, void *base, uint64_t value)
{
	/* little-endian: the low bytes come first, whatever the field's width */
	static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "low bytes first");
	memcpy((char *)base + key->offset, &value, key->size);
}

CONFIG_READER(config_read_section)
{
	size_t errors = walk->errors->count;

	config_section_read(walk, key->section, node, (char *)base + key->offset);
	return walk->errors->count == errors;
}

/* What the element is called in messages: its name if it has one. */
static void element_label(const struct config_walk *walk, yaml_node_t *node,
	char quoted[static CONFIG_QUOTE_MAX], struct config_step *step)
{
	yaml_node_t *name = NULL;

	if (node->type == YAML_MAPPING_NODE)
		name = config_find(walk, node, "name");
	if (!name || name->type != YAML_SCALAR_NODE || !name->data.scalar.length)
		return;
	step->name = config_quote_bytes(
		(const char *)name->data.scalar.value, name->data.scalar.length, quoted);
}

static void list_get(const struct config_key *key, const void *base, void **items, size_t *count)
{
	memcpy(items, (const char *)base + key->offset, sizeof(*items));
	memcpy(count, (const char *)base + key->count_offset, sizeof(*count));
}

static void list_set(const struct config_key *key, void *base, void *items, size_t count)
{
	memcpy((char *)base + key->offset, &items, sizeof(items));
	memcpy((char *)base + key->count_offset, &count, sizeof(count));
}

CONFIG_READER(config_read_sections)
{
	const struct config_section *section = key->section;
	const yaml_node_item_t *first;
	size_t count, more;
	void *old, *items;

	if (node->type != YAML_SEQUENCE_NODE) {
		config_bad(walk, node, "must be a list of {%s: ...}", section->keys[0].name);
		return false;
	}
	first = node->data.sequence.items.start;
	more = (size_t)(node->data.sequence.items.top - first);
	list_get(key, base, &old, &count);
	items = config_alloc(walk, count + more, section->size);
	if (!items)
		return false;
	if (count)
		memcpy(items, old, count * section->size);
	for (size_t i = 0; i < more; i++) {
		yaml_node_t *element = node_get(walk, first[i]);
		void *item = (char *)items + (count + i) * section->size;
		char quoted[CONFIG_QUOTE_MAX];
		struct config_step step = {.up = walk->step, .index = i};

		if (!visit(walk, element))
			return false;
		element_label(walk, element, quoted, &step);
		walk->step = &step;
		if (section->init)
			section->init(walk, item);
		config_section_read(walk, section, element, item);
		walk->step = step.up;
	}
	list_set(key, base, items, count + more);
	return true;
}

CONFIG_READER(config_read_scalars)
{
	bool is_list = node->type == YAML_SEQUENCE_NODE;
	const yaml_node_item_t *first = is_list ? node->data.sequence.items.start : NULL;
	size_t given = is_list ? (size_t)(node->data.sequence.items.top - first) : 1;
	size_t count = 0;
	char *items;

	if (node->type == YAML_MAPPING_NODE) {
		config_bad(walk, node, "must be a list of values, not keys with values");
		return false;
	}
	if (given < key->min) {
		config_bad(walk, node, "is empty: at least one value is needed");
		return false;
	}
	items = config_alloc(walk, given, key->size);
	if (!items)
		return false;
	for (size_t i = 0; i < given; i++) {
		yaml_node_t *element = is_list ? node_get(walk, first[i]) : node;
		struct config_step step = {.up = walk->step, .index = i};

		if (!visit(walk, element))
			return false;
		if (is_list)
			walk->step = &step;
		if (key->element(walk, element, items + count * key->size))
			count++;
		walk->step = step.up;
	}
	list_set(key, base, items, count);
	return count == given;
}
