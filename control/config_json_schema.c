/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of config_schema.c once more, as a JSON Schema (draft 7): which keys there are, where,
 * and what form their values have. What only the whole file shows (names that must exist, overlaps)
 * is `guideway config check`'s.
 *
 * YAML's plain `off`, `true` and `80` reach a validator as text, boolean or number, as its parser
 * likes: the schema takes each form that this program's own reader takes.
 */
#include "config.h"
#include "config_address.h"
#include "config_load.h"
#include "config_rules.h"
#include "config_schema.h"
#include "config_values.h"

#include <string.h>

#define DURATION "[0-9]+(ms|s|m|h)"

static json_t *pattern(const char *expression)
{
	return json_pack("{s:s, s:s}", "type", "string", "pattern", expression);
}

/* Any one value: for what has a form of its own that is not told here. */
static json_t *scalar(void)
{
	return json_pack("{s:[s, s, s]}", "type", "string", "number", "boolean");
}

static json_t *any_of(json_t *first, json_t *second)
{
	return json_pack("{s:[o, o]}", "anyOf", first, second);
}

/* `off` is a boolean to parsers of YAML 1.1. */
static json_t *or_off(json_t *schema)
{
	return any_of(schema, json_pack("{s:[s, b]}", "enum", "off", 0));
}

static json_t *number_schema(uint64_t min, uint64_t max)
{
	json_t *schema = json_pack("{s:s, s:I}", "type", "integer", "minimum", (json_int_t)min);

	if (max && max <= INT64_MAX)
		json_object_set_new(schema, "maximum", json_integer((json_int_t)max));
	return schema;
}

/* Plain true, on, yes and the like are booleans to some parsers, text to others. */
static void word_boolean_add(json_t *list, const char *word)
{
	static const char *const yes[] = {"true", "on", "yes"}, *const no[] = {
									"false", "off", "no"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (!strcmp(word, yes[i]))
			json_array_append_new(list, json_true());
		if (!strcmp(word, no[i]))
			json_array_append_new(list, json_false());
	}
}

static json_t *words_schema(const struct config_words *words)
{
	json_t *list = json_array();

	for (size_t i = 0; i < words->count; i++) {
		const char *name = words->list[i].name;

		if (words->list[i].refused)
			continue;
		json_array_append_new(list, json_string(name));
		word_boolean_add(list, name);
	}
	return json_pack("{s:o}", "enum", list);
}

static json_t *text_schema(const struct config_key *key)
{
	json_t *schema = scalar();

	if (!key->max)
		return schema;
	json_object_set_new(schema, "maxLength", json_integer((json_int_t)key->max));
	json_object_set_new(schema, "minLength", json_integer((json_int_t)key->min));
	return schema;
}

static json_t *range_or_number(uint64_t min, uint64_t max, const char *expression)
{
	return any_of(number_schema(min, max), pattern(expression));
}

static json_t *element_schema(const struct config_key *key)
{
	if (key->element == config_element_ports)
		return range_or_number(1, UINT16_MAX, "^([0-9]+(-[0-9]+)?|any)$");
	if (key->element == config_element_status)
		return range_or_number(100, 999, "^[0-9]{3}(-[0-9]{3})?$");
	if (key->element == config_element_vip)
		return pattern("^[0-9a-fA-F.:]+(/[0-9]+)?$");
	return scalar();
}

static json_t *section_schema(const struct config_section *section);

/* One value stands for a list of one. */
static json_t *list_schema(json_t *element, const struct config_key *key)
{
	json_t *list = json_pack("{s:s, s:O}", "type", "array", "items", element);

	if (key->min)
		json_object_set_new(list, "minItems", json_integer((json_int_t)key->min));
	return any_of(list, element);
}

struct form {
	CONFIG_READER((*read));
	const char *pattern;
};

static const struct form forms[] = {
	{config_read_duration, "^" DURATION "$"},
	{config_read_cpus, "^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$"},
	{config_read_name, "^[A-Za-z0-9][A-Za-z0-9._-]*$"},
	{config_read_url_path, "^/\\S*$"},
	{config_read_path, "^/"},
	{config_read_host, "^[0-9a-fA-F.:]+$"},
	{config_read_source, "^[0-9a-fA-F.:]+$"},
	{config_read_source_prefix, "^[0-9a-fA-F.:]+/[0-9]+$"},
	{config_read_listen, ":[0-9]+$"},
	{config_read_interface, "^[^/\\s]+$"},
	{config_read_pci, "^([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]$"},
};

/* A name that is all digits is a number to the parser, and a name to us. */
static bool may_be_number(const struct config_key *key)
{
	return key->read == config_read_name || key->read == config_read_cpus;
}

static json_t *form_schema(const struct config_key *key)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (key->read == forms[i].read)
			return may_be_number(key) ? any_of(pattern(forms[i].pattern),
							    json_pack("{s:s}", "type", "integer"))
						  : pattern(forms[i].pattern);
	return scalar();
}

static json_t *key_schema(const struct config_key *key)
{
	if (key->read == config_read_section)
		return section_schema(key->section);
	if (key->read == config_read_off_rules)
		return or_off(section_schema(key->section));
	if (key->read == config_read_sections)
		return json_pack(
			"{s:s, s:o}", "type", "array", "items", section_schema(key->section));
	if (key->read == config_read_scalars)
		return list_schema(element_schema(key), key);
	if (key->read == config_read_include)
		return list_schema(json_pack("{s:s}", "type", "string"), key);
	if (key->read == config_read_version)
		return json_pack("{s:[i, s]}", "enum", 1, "1");
	if (key->read == config_read_number)
		return number_schema(key->min, key->max);
	if (key->read == config_read_table_size)
		return number_schema(1, 0);
	if (key->read == config_read_seed)
		return any_of(number_schema(0, 0), pattern("^([0-9]+|0x[0-9a-fA-F]+)$"));
	if (key->read == config_read_word)
		return words_schema(key->words);
	if (key->read == config_read_off_duration)
		return or_off(pattern("^(" DURATION "|off)$"));
	if (key->read == config_read_off_percent)
		return or_off(pattern("^([0-9]+%|off)$"));
	if (key->read == config_read_text)
		return text_schema(key);
	return form_schema(key);
}

static json_t *section_schema(const struct config_section *section)
{
	json_t *properties = json_object(), *required = json_array();

	for (size_t i = 0; i < section->count; i++) {
		const struct config_key *key = &section->keys[i];

		if (key->refused)
			continue;
		json_object_set_new(properties, key->name, key_schema(key));
		if (key->required)
			json_array_append_new(required, json_string(key->name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
		"required", required, "additionalProperties", 0);
}

json_t *gw_config_json_schema(void)
{
	json_t *schema = section_schema(&config_root);

	if (!schema)
		return NULL;
	json_object_set_new(
		schema, "$schema", json_string("http://json-schema.org/draft-07/schema#"));
	json_object_set_new(schema, "title", json_string("guideway.yaml(5), version " GW_VERSION));
	return schema;
}
