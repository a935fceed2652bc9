/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/config_store.h"

#include "control/file_replace.h"

#include <jansson.h>
#include <xxhash.h>

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "configs"

static const char *const kinds[] = {"main", "include", "members"};

static json_t *text_dump(const struct gw_config_text *text)
{
	return json_pack("{s:s, s:s, s:o}", "name", text->name, "kind", kinds[text->kind], "text",
		json_stringn(text->text, text->length));
}

static json_t *texts_dump(const struct gw_config *config)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < config->text_count; i++) {
		if (json_array_append_new(list, text_dump(&config->texts[i])) < 0) {
			json_decref(list);
			return NULL;
		}
	}
	return json_pack("{s:i, s:o}", "format", 1, "files", list);
}

static int path_make(const char *dir, uint64_t version, char path[static PATH_MAX])
{
	int length = snprintf(path, PATH_MAX, "%s/" FOLDER "/%020" PRIu64 ".json", dir, version);

	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int version_order(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

/* "00000000000000000007.json" is 7; 0 for any other name. */
static uint64_t version_of(const char *name)
{
	char *end;
	uint64_t version = strtoull(name, &end, 10);

	return end == name + 20 && !strcmp(end, ".json") ? version : 0;
}

uint64_t *gw_config_store_list(const char *dir, size_t *count)
{
	char path[PATH_MAX];
	uint64_t *list = malloc(sizeof(*list)), *more;
	struct dirent *entry;
	DIR *folder;

	*count = 0;
	snprintf(path, sizeof(path), "%s/" FOLDER, dir);
	folder = list ? opendir(path) : NULL;
	while (folder && list && (entry = readdir(folder))) {
		if (!version_of(entry->d_name))
			continue;
		more = realloc(list, (*count + 2) * sizeof(*list));
		if (!more) {
			free(list);
			list = NULL;
			break;
		}
		list = more;
		list[(*count)++] = version_of(entry->d_name);
	}
	if (folder)
		closedir(folder);
	if (list)
		qsort(list, *count, sizeof(*list), version_order);
	return list;
}

static void old_remove(const char *dir)
{
	char path[PATH_MAX];
	size_t count;
	uint64_t *list = gw_config_store_list(dir, &count);

	for (size_t i = 0; list && i + GW_CONFIG_STORE_KEPT < count; i++)
		if (!path_make(dir, list[i], path))
			unlink(path);
	free(list);
}

int gw_config_store_write(const char *dir, uint64_t version, const struct gw_config *config)
{
	char path[PATH_MAX];
	json_t *json;
	char *text;
	int status;

	if (!dir)
		return 0;
	snprintf(path, sizeof(path), "%s/" FOLDER, dir);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	status = path_make(dir, version, path);
	if (status < 0)
		return status;
	json = texts_dump(config);
	text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
	json_decref(json);
	if (!text)
		return -ENOMEM;
	status = gw_file_replace(path, text);
	free(text);
	if (!status)
		old_remove(dir);
	return status;
}

static bool kind_load(const char *word, enum gw_config_text_kind *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(word, kinds[i])) {
			*kind = (enum gw_config_text_kind)i;
			return true;
		}
	}
	return false;
}

static int bundle_load(struct gw_config_bundle *bundle)
{
	const json_t *files = json_object_get(bundle->json, "files");
	size_t count = json_array_size(files);

	if (!count)
		return -EINVAL;
	bundle->texts = calloc(count, sizeof(*bundle->texts));
	if (!bundle->texts)
		return -ENOMEM;
	bundle->count = count;
	for (size_t i = 0; i < count; i++) {
		struct gw_config_text *text = &bundle->texts[i];
		const char *kind;

		if (json_unpack(json_array_get(files, i), "{s:s, s:s, s:s%}", "name", &text->name,
			    "kind", &kind, "text", &text->text, &text->length) < 0 ||
			!kind_load(kind, &text->kind))
			return -EINVAL;
	}
	return bundle->texts[0].kind == GW_CONFIG_TEXT_MAIN ? 0 : -EINVAL;
}

int gw_config_store_read(const char *dir, uint64_t version, struct gw_config_bundle *bundle)
{
	struct gw_config_bundle read = {0};
	char path[PATH_MAX];
	size_t count = 0;
	uint64_t *list = dir ? gw_config_store_list(dir, &count) : NULL;
	int status;

	for (size_t i = 0; i < count; i++)
		if (list[i] <= version)
			read.version = list[i];
	free(list);
	if (!read.version)
		return -ENOENT;
	status = path_make(dir, read.version, path);
	if (status < 0)
		return status;
	read.json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	status = read.json ? bundle_load(&read) : -EINVAL;
	if (status < 0)
		gw_config_bundle_clear(&read);
	else
		*bundle = read;
	return status;
}

void gw_config_bundle_clear(struct gw_config_bundle *bundle)
{
	free(bundle->texts);
	json_decref(bundle->json);
	*bundle = (struct gw_config_bundle){0};
}

bool gw_config_texts_equal(const struct gw_config_text *a, size_t a_count,
	const struct gw_config_text *b, size_t b_count)
{
	if (a_count != b_count)
		return false;
	for (size_t i = 0; i < a_count; i++)
		if (a[i].kind != b[i].kind || strcmp(a[i].name, b[i].name) ||
			a[i].length != b[i].length || memcmp(a[i].text, b[i].text, a[i].length))
			return false;
	return true;
}

char *gw_config_texts_digest(const struct gw_config *config, char text[static 33])
{
	XXH3_state_t *state = XXH3_createState();
	XXH128_canonical_t canonical;

	text[0] = '\0';
	if (!state)
		return text;
	XXH3_128bits_reset(state);
	for (size_t i = 0; i < config->text_count; i++) {
		const struct gw_config_text *next = &config->texts[i];

		if (next->kind == GW_CONFIG_TEXT_MEMBERS)
			continue;
		XXH3_128bits_update(state, next->name, strlen(next->name) + 1);
		XXH3_128bits_update(state, next->text, next->length + 1);
	}
	XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
	XXH3_freeState(state);
	for (size_t i = 0; i < sizeof(canonical.digest); i++)
		snprintf(text + 2 * i, 3, "%02x", canonical.digest[i]);
	return text;
}
