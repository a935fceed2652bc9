/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_values.h"

#include "config_arena.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct unit {
	const char *name;
	uint64_t ms;
};

static const struct unit units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}};

const char *config_text(struct config_walk *walk, const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;
	size_t len = node->data.scalar.length;

	if (node->type != YAML_SCALAR_NODE) {
		config_bad(walk, node, "must be a single value, not a %s",
			node->type == YAML_SEQUENCE_NODE ? "list" : "mapping");
		return NULL;
	}
	if (node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		(!len || !strcmp(text, "~") || !strcmp(text, "null"))) {
		config_bad(walk, node, "has no value");
		return NULL;
	}
	if (strlen(text) != len) {
		config_bad(walk, node, "has a NUL character in it");
		return NULL;
	}
	return text;
}

/* Digits of the base up to the end of text; false when something else is there. */
static bool digits_all(const char *text, bool hex)
{
	if (!*text)
		return false;
	for (; *text; text++) {
		if (hex ? !isxdigit((unsigned char)*text) : !isdigit((unsigned char)*text))
			return false;
	}
	return true;
}

int config_number_parse(const char *text, bool hex, uint64_t min, uint64_t max, uint64_t *value)
{
	bool is_hex = hex && text[0] == '0' && text[1] == 'x';
	uint64_t sum = 0;

	if (text[0] == '-' && digits_all(text + 1, false))
		return -ERANGE;
	if (!digits_all(is_hex ? text + 2 : text, is_hex))
		return -EINVAL;
	if (!is_hex && text[0] == '0' && text[1])
		return -EINVAL; /* octal to some, decimal to others */
	for (text += is_hex ? 2 : 0; *text; text++) {
		unsigned int digit =
			(unsigned int)(isdigit((unsigned char)*text)
					       ? *text - '0'
					       : tolower((unsigned char)*text) - 'a' + 10);

		if (__builtin_mul_overflow(sum, is_hex ? 16u : 10u, &sum) ||
			__builtin_add_overflow(sum, digit, &sum))
			return -ERANGE;
	}
	if (sum < min || sum > max)
		return -ERANGE;
	*value = sum;
	return 0;
}

bool config_number(struct config_walk *walk, const yaml_node_t *node, uint64_t min, uint64_t max,
	uint64_t *value)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];
	int error;

	if (!text)
		return false;
	error = config_number_parse(text, false, min, max, value);
	if (error == -ERANGE)
		config_bad(walk, node, "\"%s\" is out of range: %llu to %llu",
			config_quote(text, quoted), (unsigned long long)min,
			(unsigned long long)max);
	else if (error)
		config_bad(walk, node, "\"%s\" is not a whole number from %llu to %llu",
			config_quote(text, quoted), (unsigned long long)min,
			(unsigned long long)max);
	return !error;
}

bool config_range(struct config_walk *walk, const yaml_node_t *node, uint64_t min, uint64_t max,
	struct gw_config_range *range)
{
	const char *text = config_text(walk, node);
	char low[8], quoted[CONFIG_QUOTE_MAX];
	const char *dash;
	uint64_t from, to;
	int error;

	if (!text)
		return false;
	dash = strchr(text + (*text == '-'), '-');
	if (!dash) {
		error = config_number_parse(text, false, min, max, &from);
		to = from;
	} else if ((size_t)(dash - text) >= sizeof(low)) {
		error = -EINVAL;
	} else {
		snprintf(low, sizeof(low), "%.*s", (int)(dash - text), text);
		error = config_number_parse(low, false, min, max, &from);
		if (!error)
			error = config_number_parse(dash + 1, false, min, max, &to);
	}
	if (error) {
		config_bad(walk, node,
			error == -ERANGE ? "\"%s\" is out of range: %llu to %llu"
					 : "\"%s\" is neither a number nor a range such as "
					   "%llu-%llu",
			config_quote(text, quoted), (unsigned long long)min,
			(unsigned long long)max);
		return false;
	}
	if (from > to) {
		config_bad(walk, node, "\"%s\" runs backwards", config_quote(text, quoted));
		return false;
	}
	range->low = (uint16_t)from;
	range->high = (uint16_t)to;
	return true;
}

CONFIG_READER(config_read_number)
{
	uint64_t value;

	if (!config_number(walk, node, key->min, key->max, &value))
		return false;
	config_field_store(key, base, value);
	return true;
}

CONFIG_READER(config_read_seed)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];
	uint64_t value;

	if (!text)
		return false;
	if (config_number_parse(text, true, 0, UINT64_MAX, &value)) {
		config_bad(walk, node,
			"\"%s\" is not a number from 0 to 18446744073709551615, decimal or 0x hex",
			config_quote(text, quoted));
		return false;
	}
	config_field_store(key, base, value);
	return true;
}

/* "90s" and the like; -EINVAL without digits, -EDOM without a known unit, -ERANGE. */
static int duration_parse(const char *text, uint64_t *ms)
{
	size_t digits = strspn(text, "0123456789");
	char number[24];
	uint64_t value;

	if (text[0] == '-' && isdigit((unsigned char)text[1]))
		return -ERANGE;
	if (!digits)
		return -EINVAL;
	if (digits >= sizeof(number))
		return -ERANGE;
	snprintf(number, sizeof(number), "%.*s", (int)digits, text);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		int error;

		if (strcmp(text + digits, units[i].name))
			continue;
		error = config_number_parse(number, false, 0, UINT64_MAX, &value);
		if (error)
			return error;
		return __builtin_mul_overflow(value, units[i].ms, ms) ? -ERANGE : 0;
	}
	return -EDOM;
}

/* In the largest unit that is exact: what a person would write. */
static const char *duration_format(uint64_t ms, char text[static 32])
{
	size_t i = sizeof(units) / sizeof(units[0]) - 1;

	while (i && (!ms || ms % units[i].ms))
		i--;
	snprintf(text, 32, "%llu%s", (unsigned long long)(ms / units[i].ms), units[i].name);
	return text;
}

CONFIG_READER(config_read_duration)
{
	uint32_t unit = key->unit_ms ? key->unit_ms : 1;
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX], least[32], most[32];
	uint64_t ms = 0;
	int error;

	if (!text)
		return false;
	error = duration_parse(text, &ms);
	config_quote(text, quoted);
	if (!error && (ms < key->min || ms > key->max))
		error = -ERANGE;
	if (error == -ERANGE)
		config_bad(walk, node, "\"%s\" is out of range: %s to %s", quoted,
			duration_format(key->min, least), duration_format(key->max, most));
	else if (error == -EDOM)
		config_bad(walk, node,
			"\"%s\" is no duration: write a whole number and its unit, "
			"ms, s, m or h, such as 10s",
			quoted);
	else if (error)
		config_bad(walk, node, "\"%s\" is no duration such as 10s", quoted);
	else if (ms % unit)
		config_bad(walk, node, "\"%s\" is not in whole seconds", quoted);
	else
		config_field_store(key, base, ms / unit);
	return !error && !(ms % unit);
}

/* The word "off", which YAML 1.1 would call a boolean, means 0. */
bool config_is_off(const yaml_node_t *node)
{
	return node->type == YAML_SCALAR_NODE &&
	       !strcmp((const char *)node->data.scalar.value, "off");
}

CONFIG_READER(config_read_off_duration)
{
	if (!config_is_off(node))
		return config_read_duration(walk, key, node, base);
	config_field_store(key, base, 0);
	return true;
}

CONFIG_READER(config_read_off_percent)
{
	const char *text;
	char number[8] = "", quoted[CONFIG_QUOTE_MAX];
	uint64_t value = 0;
	size_t len;

	if (config_is_off(node)) {
		config_field_store(key, base, 0);
		return true;
	}
	text = config_text(walk, node);
	if (!text)
		return false;
	len = strlen(text);
	if (len && len <= sizeof(number) && text[len - 1] == '%')
		snprintf(number, sizeof(number), "%.*s", (int)len - 1, text);
	if (config_number_parse(number, false, 1, 100, &value)) {
		config_bad(walk, node,
			"\"%s\" is neither off nor a percentage from 1%% to 100%%, with its sign",
			config_quote(text, quoted));
		return false;
	}
	config_field_store(key, base, value);
	return true;
}

/* "ipip, gue, gre" of those that may be used. */
static void words_list(const struct config_words *words, char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < words->count && at < size; i++) {
		if (!words->list[i].refused)
			at += (size_t)snprintf(
				text + at, size - at, "%s%s", at ? ", " : "", words->list[i].name);
	}
}

CONFIG_READER(config_read_word)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX], list[160];

	if (!text)
		return false;
	config_quote(text, quoted);
	for (size_t i = 0; i < key->words->count; i++) {
		const struct config_word *word = &key->words->list[i];

		if (strcmp(text, word->name))
			continue;
		if (word->refused)
			config_bad(walk, node, "\"%s\" %s", quoted, word->refused);
		else
			config_field_store(key, base, word->value);
		return !word->refused;
	}
	words_list(key->words, list, sizeof(list));
	config_bad(walk, node, "\"%s\" is not one of: %s", quoted, list);
	return false;
}

bool config_name_valid(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > GW_NAME_MAX || !isalnum((unsigned char)name[0]))
		return false;
	for (; *name; name++) {
		if (!isalnum((unsigned char)*name) && !strchr("._-", *name))
			return false;
	}
	return true;
}

/* Stores a copy of the text in a const char * field. */
static bool text_store(
	struct config_walk *walk, const struct config_key *key, void *base, const char *text)
{
	char *copy = gw_arena_strndup(walk->config->arena, text, strlen(text));

	if (!copy)
		walk->status = -ENOMEM;
	else
		memcpy((char *)base + key->offset, &copy, sizeof(copy));
	return copy;
}

CONFIG_READER(config_read_name)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];

	if (!text)
		return false;
	if (!config_name_valid(text)) {
		config_bad(walk, node,
			"\"%s\" is no name: 1 to %u letters, digits, '.', '_' or '-', beginning "
			"with a letter or digit",
			config_quote(text, quoted), GW_NAME_MAX);
		return false;
	}
	return text_store(walk, key, base, text);
}

CONFIG_READER(config_read_text)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];
	size_t len;

	if (!text)
		return false;
	len = strlen(text);
	if (len < key->min || len > key->max) {
		config_bad(walk, node, "\"%s\" has %zu bytes; %llu to %llu are possible",
			config_quote(text, quoted), len, (unsigned long long)key->min,
			(unsigned long long)key->max);
		return false;
	}
	for (size_t i = 0; i < len; i++) {
		if (text[i] > 0x20 && text[i] < 0x7f)
			continue;
		config_bad(walk, node,
			"\"%s\" holds a blank or another character that is not printable ASCII",
			config_quote(text, quoted));
		return false;
	}
	return text_store(walk, key, base, text);
}

CONFIG_READER(config_read_url_path)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];

	if (text && text[0] != '/') {
		config_bad(
			walk, node, "\"%s\" does not begin with '/'", config_quote(text, quoted));
		return false;
	}
	return text && config_read_text(walk, key, node, base);
}

CONFIG_READER(config_read_path)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];

	if (!text)
		return false;
	if (text[0] != '/') {
		config_bad(
			walk, node, "\"%s\" is not an absolute path", config_quote(text, quoted));
		return false;
	}
	if (strlen(text) > key->max) {
		config_bad(walk, node, "\"%s\" is longer than %llu bytes",
			config_quote(text, quoted), (unsigned long long)key->max);
		return false;
	}
	return text_store(walk, key, base, text);
}
