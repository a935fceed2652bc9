/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Members files are watched by their folders, since they are replaced by renaming another file over
 * them, and looked at every few seconds besides, for file systems and symbolic links that tell
 * nothing. What they say now is put in the place of what they said, all else staying as it is in
 * use: what somebody edits in the main file meanwhile waits for a reload. Where several changed and
 * they are not good together, each is tried alone. One that is gone, empty or wrong changes
 * nothing.
 */
#include "base/log.h"
#include "control/config_yaml.h"
#include "control/daemon.h"

#include <xxhash.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_MS 50
#define LOOK_MS	  5000

/* One folder. Freed by its handle's close. */
struct folder {
	uv_fs_event_t handle;
	struct gw_members_watch *watch;
	struct folder *next;
	char path[];
};

struct gw_members_watch {
	uv_timer_t settle;
	uv_timer_t look;
	struct gw_daemon *daemon;
	struct folder *folders;
	unsigned int closing; /* timers still to be closed */
	bool complained;      /* the note in daemon->load is ours */
	uint64_t seen;	      /* hash of what the files held when they were last tried */
};

static void settle_ran_out(uv_timer_t *timer)
{
	struct gw_members_watch *watch = timer->data;

	gw_daemon_members_look(watch->daemon);
}

static void folder_changed(uv_fs_event_t *handle, const char *name, int events, int status)
{
	struct folder *folder = handle->data;

	uv_timer_start(&folder->watch->settle, settle_ran_out, SETTLE_MS, 0);
}

static void folder_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void folders_clear(struct gw_members_watch *watch)
{
	while (watch->folders) {
		struct folder *folder = watch->folders;

		watch->folders = folder->next;
		uv_close((uv_handle_t *)&folder->handle, folder_closed);
	}
}

static int folder_add(struct gw_members_watch *watch, const char *file)
{
	const char *slash = strrchr(file, '/');
	size_t length = slash ? (size_t)(slash - file) : 0;
	struct folder *folder = calloc(1, sizeof(*folder) + length + 2);
	int ret;

	if (!folder)
		return -ENOMEM;
	if (length)
		memcpy(folder->path, file, length);
	else
		strcpy(folder->path, slash ? "/" : ".");
	for (struct folder *known = watch->folders; known; known = known->next) {
		if (!strcmp(known->path, folder->path)) {
			free(folder);
			return 0;
		}
	}
	folder->watch = watch;
	folder->handle.data = folder;
	ret = uv_fs_event_init(watch->daemon->loop, &folder->handle);
	if (ret) {
		free(folder);
		return ret;
	}
	/* One that cannot be watched is looked at all the same. */
	uv_fs_event_start(&folder->handle, folder_changed, folder->path, 0);
	folder->next = watch->folders;
	watch->folders = folder;
	return 0;
}

static struct gw_members_watch *watch_new(struct gw_daemon *daemon)
{
	struct gw_members_watch *watch = calloc(1, sizeof(*watch));

	if (!watch)
		return NULL;
	watch->daemon = daemon;
	uv_timer_init(daemon->loop, &watch->settle);
	uv_timer_init(daemon->loop, &watch->look);
	watch->settle.data = watch;
	watch->look.data = watch;
	return watch;
}

int gw_daemon_members_watch(struct gw_daemon *daemon)
{
	const struct gw_config *config = daemon->config;
	int ret = 0;

	if (!daemon->members)
		daemon->members = watch_new(daemon);
	if (!daemon->members)
		return -ENOMEM;
	folders_clear(daemon->members);
	uv_timer_stop(&daemon->members->look);
	for (size_t i = 0; i < config->text_count && !ret; i++) {
		if (config->texts[i].kind != GW_CONFIG_TEXT_MEMBERS)
			continue;
		ret = folder_add(daemon->members, config->texts[i].name);
		uv_timer_start(&daemon->members->look, settle_ran_out, LOOK_MS, LOOK_MS);
	}
	return ret;
}

static void timer_closed(uv_handle_t *handle)
{
	struct gw_members_watch *watch = handle->data;

	if (!--watch->closing)
		free(watch);
}

void gw_daemon_members_close(struct gw_daemon *daemon)
{
	struct gw_members_watch *watch = daemon->members;

	if (!watch)
		return;
	daemon->members = NULL;
	folders_clear(watch);
	watch->closing = 2;
	uv_close((uv_handle_t *)&watch->settle, timer_closed);
	uv_close((uv_handle_t *)&watch->look, timer_closed);
}

/* What the files hold now beside what is in use. */
struct members_now {
	struct gw_config_text *texts; /* all of the configuration's, some replaced */
	char **read;		      /* malloced, by position; NULL: as in use */
	size_t count;
	size_t changed;
	uint64_t hash; /* of all that was read */
	json_t *errors;
};

static void now_clear(struct members_now *now)
{
	for (size_t i = 0; now->read && i < now->count; i++)
		free(now->read[i]);
	free(now->read);
	free(now->texts);
	json_decref(now->errors);
}

static void file_look(struct members_now *now, size_t i)
{
	struct gw_config_text *text = &now->texts[i];
	char *read = NULL;
	size_t length = 0;
	int error = config_file_read(text->name, &read, &length);

	now->hash = XXH3_64bits_withSeed(
		error ? (const void *)&error : read, error ? sizeof(error) : length, now->hash);
	if (error)
		json_array_append_new(now->errors,
			json_sprintf("%s: cannot be read: %s; its backends stay as they are",
				text->name, config_file_error(error)));
	if (error || (length == text->length && !memcmp(read, text->text, length))) {
		free(read);
		return;
	}
	now->read[i] = read;
	text->text = read;
	text->length = length;
	now->changed++;
}

static int now_read(const struct gw_config *config, struct members_now *now)
{
	*now = (struct members_now){.count = config->text_count, .errors = json_array()};
	now->texts = calloc(now->count, sizeof(*now->texts));
	now->read = calloc(now->count, sizeof(*now->read));
	if (!now->texts || !now->read || !now->errors)
		return -ENOMEM;
	memcpy(now->texts, config->texts, now->count * sizeof(*now->texts));
	for (size_t i = 0; i < now->count; i++)
		if (now->texts[i].kind == GW_CONFIG_TEXT_MEMBERS)
			file_look(now, i);
	return 0;
}

static int texts_take(struct gw_daemon *daemon, const struct gw_config_text *texts, size_t count,
	const char *name)
{
	char why[320];
	const struct gw_daemon_wish wish = {.why = why};
	struct gw_config *config;
	int ret = gw_daemon_texts_load(daemon, texts, count, &config);

	snprintf(why, sizeof(why), "members file %s", name);
	if (!ret)
		return gw_daemon_take(daemon, config, GW_ORIGIN_MEMBERS, &wish, NULL);
	gw_events_warn(daemon->events, "reload", name, "", "refused",
		"errors: %zu; the members in use stay", json_array_size(daemon->load.errors));
	return ret;
}

static const char *changed_name(const struct members_now *now)
{
	for (size_t i = 0; i < now->count; i++)
		if (now->read[i])
			return now->texts[i].name;
	return "";
}

/* One file's new text among the others as they are in use, which change as files are taken. */
static void alone_take(struct gw_daemon *daemon, struct members_now *now, size_t i)
{
	struct gw_config_text *texts = calloc(now->count, sizeof(*texts));
	json_t *errors;

	if (!texts)
		return;
	memcpy(texts, daemon->config->texts, now->count * sizeof(*texts));
	texts[i].text = now->texts[i].text;
	texts[i].length = now->texts[i].length;
	if (texts_take(daemon, texts, now->count, now->texts[i].name)) {
		errors = daemon->load.errors;
		json_array_extend(now->errors, errors);
	}
	free(texts);
}

static void now_take(struct gw_daemon *daemon, struct members_now *now)
{
	if (!now->changed)
		return;
	if (!texts_take(daemon, now->texts, now->count, changed_name(now)))
		return;
	if (now->changed == 1) {
		json_array_extend(now->errors, daemon->load.errors);
		return;
	}
	for (size_t i = 0; i < now->count; i++)
		if (now->read[i])
			alone_take(daemon, now, i);
}

void gw_daemon_members_skip(struct gw_daemon *daemon)
{
	struct members_now now;

	if (daemon->members && !now_read(daemon->config, &now))
		daemon->members->seen = now.hash;
	if (daemon->members)
		now_clear(&now);
}

void gw_daemon_members_look(struct gw_daemon *daemon)
{
	struct gw_members_watch *watch = daemon->members;
	struct members_now now;

	if (!watch || daemon->stopping)
		return;
	if (now_read(daemon->config, &now) || now.hash == watch->seen) {
		now_clear(&now);
		return;
	}
	watch->seen = now.hash;
	for (size_t i = 0; i < json_array_size(now.errors); i++)
		gw_events_warn(daemon->events, "reload", daemon->options.config, "", "refused",
			"%s", json_string_value(json_array_get(now.errors, i)));
	now_take(daemon, &now);
	if (json_array_size(now.errors))
		gw_daemon_load_note(daemon, json_incref(now.errors));
	else if (watch->complained && !now.changed)
		gw_daemon_load_note(daemon, NULL); /* good again, and as it was */
	watch->complained = json_array_size(now.errors) > 0;
	now_clear(&now);
}
