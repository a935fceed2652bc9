/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/state.h"

#include "control/builder.h"
#include "control/file_replace.h"

#include <jansson.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How far ahead of the truth the stored version is: more than are made between two writes. */
#define VERSION_AHEAD 100

struct table_note {
	char pool[GW_PART_MAX + 1];
	struct gw_digest digest;
	uint64_t version;
};

struct gw_state {
	char *dir; /* NULL: nothing is kept */
	int lock;  /* the folder, flocked */
	struct gw_ids *ids;
	struct gw_runtime *runtime;
	uint64_t version; /* the last one given out */
	struct table_note *tables;
	size_t table_count;
	struct gw_state_config config;
};

static int64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t gw_clock_wall_ms(void)
{
	return clock_ms(CLOCK_REALTIME);
}

int64_t gw_clock_boot_ms(void)
{
	return clock_ms(CLOCK_BOOTTIME);
}

/* One line of /proc that differs after each boot; "" when it cannot be read. */
static void boot_id_read(char text[static 40])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, 39);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
}

/* mkdir -p with mode 0700. */
static int folder_make(const char *dir)
{
	char path[PATH_MAX];
	size_t length = strlen(dir);

	if (!length || length >= sizeof(path))
		return length ? -ENAMETOOLONG : -ENOENT;
	memcpy(path, dir, length + 1);
	for (char *slash = path; slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(path, 0700) < 0 && errno != EEXIST)
			return -errno;
		if (slash)
			*slash = '/';
	}
	return 0;
}

static int hex_value(char digit)
{
	const char *digits = "0123456789abcdef";
	const char *found = digit ? strchr(digits, digit) : NULL;

	return found ? (int)(found - digits) : -1;
}

static bool digest_parse(const char *text, struct gw_digest *digest)
{
	if (strlen(text) != 2 * sizeof(digest->bytes))
		return false;
	for (size_t i = 0; i < sizeof(digest->bytes); i++) {
		int high = hex_value(text[2 * i]), low = hex_value(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		digest->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

static int tables_load(const json_t *array, struct gw_state *state)
{
	size_t count = json_array_size(array);
	struct table_note *tables;

	if (!json_is_array(array))
		return -EINVAL;
	tables = calloc(count ? count : 1, sizeof(*tables));
	if (!tables)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const char *pool, *digest;
		json_int_t version;

		if (json_unpack(json_array_get(array, i), "{s:s,s:s,s:I}", "pool", &pool, "digest",
			    &digest, "version", &version) < 0 ||
			version < 1 || strlen(pool) > GW_PART_MAX ||
			!digest_parse(digest, &tables[i].digest)) {
			free(tables);
			return -EINVAL;
		}
		strcpy(tables[i].pool, pool);
		tables[i].version = (uint64_t)version;
	}
	free(state->tables);
	state->tables = tables;
	state->table_count = count;
	return 0;
}

/* Files of earlier programs lack it. */
static int config_load(const json_t *object, struct gw_state_config *config)
{
	json_int_t version, former = 0, until = 0;
	const char *digest = "", *who = "";
	int held = 0;

	if (!object)
		return 0;
	if (json_unpack((json_t *)object, "{s:I,s?b,s?s,s?I,s?I,s?s}", "version", &version, "held",
		    &held, "digest", &digest, "former", &former, "until", &until, "who",
		    &who) < 0 ||
		version < 0 || former < 0 || until < 0 || strlen(digest) > 32)
		return -EINVAL;
	*config = (struct gw_state_config){.version = (uint64_t)version,
		.held = held,
		.former = (uint64_t)former,
		.until_ms = until};
	strcpy(config->digest, digest);
	snprintf(config->who, sizeof(config->who), "%s", who);
	return 0;
}

static json_t *config_dump(const struct gw_state_config *config)
{
	return json_pack("{s:I,s:b,s:s,s:I,s:I,s:s}", "version", (json_int_t)config->version,
		"held", config->held, "digest", config->digest, "former",
		(json_int_t)config->former, "until", (json_int_t)config->until_ms, "who",
		config->who);
}

/* 0, -ENOMEM, or -EINVAL with the reason in `why`. */
static int text_load(struct gw_state *state, json_t *root, char *why, size_t size)
{
	char boot_id[40];
	const char *file_boot_id;
	json_int_t version;
	json_t *ids, *runtime, *tables;
	int format, status;

	snprintf(why, size, "it lacks what a state file has");
	if (json_unpack(root, "{s:i}", "format", &format) < 0)
		return -EINVAL;
	if (format != GW_STATE_FORMAT) {
		snprintf(why, size, "its format is %d, this program reads %d", format,
			GW_STATE_FORMAT);
		return -EINVAL;
	}
	if (json_unpack(root, "{s:s,s:I,s:o,s:o,s:o}", "boot_id", &file_boot_id, "version",
		    &version, "ids", &ids, "runtime", &runtime, "tables", &tables) < 0 ||
		version < 0)
		return -EINVAL;
	boot_id_read(boot_id);
	snprintf(why, size, "its ids contradict themselves");
	status = gw_ids_load(state->ids, ids, !strcmp(boot_id, file_boot_id));
	if (status < 0)
		return status;
	snprintf(why, size, "its runtime list contradicts itself");
	status = gw_runtime_load(state->runtime, runtime);
	if (status < 0)
		return status;
	snprintf(why, size, "its list of tables contradicts itself");
	status = tables_load(tables, state);
	if (status < 0)
		return status;
	snprintf(why, size, "what it says of the configuration contradicts itself");
	status = config_load(json_object_get(root, "config"), &state->config);
	if (status < 0)
		return status;
	state->version = (uint64_t)version;
	return 0;
}

/* Half of a bad file may have been taken: back to nothing. */
static int state_reset(struct gw_state *state)
{
	gw_ids_free(state->ids);
	gw_runtime_free(state->runtime);
	free(state->tables);
	state->tables = NULL;
	state->table_count = 0;
	state->version = 0;
	state->config = (struct gw_state_config){0};
	state->ids = gw_ids_new();
	state->runtime = gw_runtime_new();
	return state->ids && state->runtime ? 0 : -ENOMEM;
}

static int file_put_aside(const char *path, const char *why, char warning[static GW_STATE_WARNING])
{
	char aside[PATH_MAX];

	snprintf(aside, sizeof(aside), "%s.corrupt-%lld", path, (long long)time(NULL));
	if (rename(path, aside) < 0)
		return -errno;
	snprintf(warning, GW_STATE_WARNING,
		"%.150s cannot be used: %.120s. It is now %.150s; ids, health, overrides and "
		"drains "
		"start anew, so tracked flows may move once",
		path, why, aside);
	return 0;
}

static int file_load(struct gw_state *state, char warning[static GW_STATE_WARNING])
{
	char path[PATH_MAX], why[JSON_ERROR_TEXT_LENGTH + 64];
	json_error_t error;
	json_t *root;
	FILE *file;
	int status;

	if (snprintf(path, sizeof(path), "%s/" GW_STATE_FILE, state->dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	file = fopen(path, "re");
	if (!file)
		return errno == ENOENT ? 0 : -errno;
	root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
	status = ferror(file) ? -EIO : 0;
	fclose(file);
	if (status < 0) {
		json_decref(root);
		return status;
	}
	if (!root) {
		snprintf(why, sizeof(why), "line %d, column %d: %s", error.line, error.column,
			error.text);
		return file_put_aside(path, why, warning);
	}
	status = text_load(state, root, why, sizeof(why));
	json_decref(root);
	if (status != -EINVAL)
		return status;
	status = state_reset(state);
	return status < 0 ? status : file_put_aside(path, why, warning);
}

static int folder_open(struct gw_state *state, const char *dir)
{
	int status = folder_make(dir);

	if (status < 0)
		return status;
	state->dir = strdup(dir);
	if (!state->dir)
		return -ENOMEM;
	state->lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (state->lock < 0)
		return -errno;
	if (flock(state->lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return 0;
}

int gw_state_open(const char *dir, struct gw_state **out, char warning[static GW_STATE_WARNING])
{
	struct gw_state *state = calloc(1, sizeof(*state));
	char text[GW_STATE_WARNING] = "";
	int status;

	if (!state)
		return -ENOMEM;
	state->lock = -1;
	status = state_reset(state);
	if (!status && dir)
		status = folder_open(state, dir);
	if (!status && dir)
		status = file_load(state, text);
	if (status < 0) {
		gw_state_free(state);
		return status;
	}
	memcpy(warning, text, sizeof(text));
	*out = state;
	return 0;
}

void gw_state_free(struct gw_state *state)
{
	if (!state)
		return;
	if (state->lock >= 0)
		close(state->lock);
	gw_ids_free(state->ids);
	gw_runtime_free(state->runtime);
	free(state->tables);
	free(state->dir);
	free(state);
}

struct gw_ids *gw_state_ids(struct gw_state *state)
{
	return state->ids;
}

struct gw_runtime *gw_state_runtime(struct gw_state *state)
{
	return state->runtime;
}

const char *gw_state_dir(const struct gw_state *state)
{
	return state->dir;
}

struct gw_state_config *gw_state_config(struct gw_state *state)
{
	return &state->config;
}

void gw_state_return_version(struct gw_state *state, uint64_t version)
{
	if (state->version == version)
		state->version--;
}

uint64_t gw_state_next_version(struct gw_state *state)
{
	return ++state->version;
}

void gw_state_raise_version(struct gw_state *state, uint64_t in_force)
{
	if (state->version < in_force)
		state->version = in_force;
}

int gw_state_keep_tables(struct gw_state *state, const struct gw_build *build)
{
	struct table_note *tables =
		calloc(build->pool_count ? build->pool_count : 1, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	free(state->tables);
	state->tables = tables;
	state->table_count = 0;
	for (size_t i = 0; i < build->pool_count; i++) {
		const struct gw_build_pool *pool = &build->pools[i];
		struct table_note *note = &tables[state->table_count];

		if (!pool->member_count)
			continue;
		snprintf(note->pool, sizeof(note->pool), "%s", pool->name);
		note->digest = pool->digest;
		note->version = pool->table_version;
		state->table_count++;
	}
	return 0;
}

uint64_t gw_state_table_version(
	const struct gw_state *state, const char *pool, const struct gw_digest *digest)
{
	for (size_t i = 0; i < state->table_count; i++)
		if (!strcmp(state->tables[i].pool, pool) &&
			!memcmp(&state->tables[i].digest, digest, sizeof(*digest)))
			return state->tables[i].version;
	return 0;
}

static json_t *tables_dump(const struct gw_state *state)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < state->table_count; i++) {
		char digest[33];

		if (json_array_append_new(array,
			    json_pack("{s:s,s:s,s:I}", "pool", state->tables[i].pool, "digest",
				    gw_digest_format(&state->tables[i].digest, digest), "version",
				    (json_int_t)state->tables[i].version)) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

char *gw_state_text(struct gw_state *state)
{
	char boot_id[40], *text;
	json_t *root;

	boot_id_read(boot_id);
	/* json_pack takes the objects over, and fails when one of them is NULL. */
	root = json_pack("{s:i,s:s,s:I,s:o,s:o,s:o,s:o}", "format", GW_STATE_FORMAT, "boot_id",
		boot_id, "version", (json_int_t)(state->version + VERSION_AHEAD), "ids",
		gw_ids_dump(state->ids), "runtime", gw_runtime_dump(state->runtime), "tables",
		tables_dump(state), "config", config_dump(&state->config));
	text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
	json_decref(root);
	return text;
}

int gw_state_write(const char *dir, const char *text)
{
	char path[PATH_MAX];

	if (!dir)
		return 0;
	if (snprintf(path, sizeof(path), "%s/" GW_STATE_FILE, dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return gw_file_replace(path, text);
}

int gw_state_save(struct gw_state *state)
{
	char *text;
	int status;

	if (!state->dir)
		return 0;
	text = gw_state_text(state);
	status = text ? gw_state_write(state->dir, text) : -ENOMEM;
	free(text);
	return status;
}
