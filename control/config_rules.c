/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_rules.h"

#include "config_check.h"
#include "config_values.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FIELD(type, field)                                                                         \
	.offset = offsetof(struct type, field), .size = sizeof(((struct type *)0)->field)
#define MINUTE_MS    60000u
#define HOUR_MS	     3600000u
#define PER_CENT_MAX 100

static const struct config_key damping_keys[] = {
	{"after", config_read_number, FIELD(gw_config_damping, after), .min = 1, .max = 1000},
	{"window", config_read_duration, FIELD(gw_config_damping, window_ms), .min = 1000,
		.max = 24 * HOUR_MS},
	{"hold", config_read_duration, FIELD(gw_config_damping, hold_ms), .min = 100,
		.max = 24 * HOUR_MS},
	{"hold_max", config_read_duration, FIELD(gw_config_damping, hold_max_ms), .min = 100,
		.max = 24 * HOUR_MS},
};
const struct config_section config_damping = {damping_keys, COUNT(damping_keys)};

/* "10%", up to 99%: at 100% there would be nothing to rise. */
static CONFIG_READER(share_read)
{
	uint64_t value;
	const char *text = config_text(walk, node);
	size_t length = text ? strlen(text) : 0;
	char number[8] = "", quoted[CONFIG_QUOTE_MAX];

	if (!text)
		return false;
	if (length > 1 && length < sizeof(number) && text[length - 1] == '%')
		memcpy(number, text, length - 1);
	if (config_number_parse(number, false, 1, PER_CENT_MAX - 1, &value)) {
		config_bad(walk, node, "\"%s\" is not a share from 1%% to 99%%",
			config_quote(text, quoted));
		return false;
	}
	config_field_store(key, base, value);
	return true;
}

static const struct config_key slow_start_keys[] = {
	{"duration", config_read_duration, FIELD(gw_config_slow_start, duration_ms), .min = 1000,
		.max = HOUR_MS, .required = true},
	{"from", share_read, FIELD(gw_config_slow_start, from)},
	{"steps", config_read_number, FIELD(gw_config_slow_start, steps), .min = 1, .max = 20},
};
const struct config_section config_slow_start = {slow_start_keys, COUNT(slow_start_keys)};

static const struct config_key enter_limit_keys[] = {
	{"count", config_read_number, FIELD(gw_config_enter_limit, count), .min = 1, .max = 65535,
		.required = true},
	{"per", config_read_duration, FIELD(gw_config_enter_limit, per_ms), .min = 100,
		.max = HOUR_MS, .required = true},
};
const struct config_section config_enter_limit = {enter_limit_keys, COUNT(enter_limit_keys)};

static const struct config_key hooks_keys[] = {
	{"transition", config_read_path, FIELD(gw_config_hooks, program), .max = 4095,
		.required = true},
	{"timeout", config_read_duration, FIELD(gw_config_hooks, timeout_ms), .min = 100,
		.max = 10 * MINUTE_MS},
};
const struct config_section config_hooks = {hooks_keys, COUNT(hooks_keys)};

/* The highest of the bits says that it is a probe, the others which. */
static CONFIG_READER(bits_read)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];
	uint64_t bits, run;

	if (!text)
		return false;
	if (config_number_parse(text, true, 1, UINT32_MAX, &bits)) {
		config_bad(walk, node, "\"%s\" is not a number of 32 bits, such as 0xffff0000",
			config_quote(text, quoted));
		return false;
	}
	run = bits >> __builtin_ctzll(bits);
	if (run & (run + 1) || run < 3) {
		config_bad(walk, node, "%s is not one run of at least two bits",
			config_quote(text, quoted));
		return false;
	}
	config_field_store(key, base, bits);
	return true;
}

static const struct config_key probe_mark_keys[] = {
	{"bits", bits_read, FIELD(gw_config_probe_mark, bits)},
	{"table", config_read_number, FIELD(gw_config_probe_mark, table), .min = 1,
		.max = UINT32_MAX},
};
const struct config_section config_probe_mark = {probe_mark_keys, COUNT(probe_mark_keys)};

CONFIG_READER(config_read_off_rules)
{
	if (config_is_off(node)) {
		memset((char *)base + key->offset, 0, key->size);
		return true;
	}
	return config_read_section(walk, key, node, base);
}

void config_rules_defaults(struct gw_config_pool *pool)
{
	pool->damping = (struct gw_config_damping){
		.after = 3, .window_ms = MINUTE_MS, .hold_ms = 10000, .hold_max_ms = 5 * MINUTE_MS};
	pool->slow_start = (struct gw_config_slow_start){.from = 10, .steps = 5};
}

void config_rules_check(struct config_walk *walk, const struct gw_config_pool *pool)
{
	char path[CONFIG_PATH_MAX];

	if (pool->damping.hold_max_ms < pool->damping.hold_ms)
		config_bad_at(walk, &pool->place,
			config_pool_path(walk, pool, ".damping.hold_max", path),
			"%u ms is shorter than the first hold of %u ms", pool->damping.hold_max_ms,
			pool->damping.hold_ms);
}
