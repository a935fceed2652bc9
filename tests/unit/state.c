/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/state.h"

#include "control/state_writer.h"
#include "control_fixture.h"
#include "loop_run.h"

#include <jansson.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct gw_state *open_state(const char *folder, char warning[static GW_STATE_WARNING])
{
	struct gw_state *state = NULL;

	CU_ASSERT_EQUAL(gw_state_open(folder, &state, warning), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(state);
	return state;
}

static void path_of(const char *folder, char *path, size_t size)
{
	snprintf(path, size, "%s/" GW_STATE_FILE, folder);
}

static void write_file(const char *folder, const char *text)
{
	char path[256];
	FILE *file;

	path_of(folder, path, sizeof(path));
	file = fopen(path, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

/* Files of the folder whose name holds `part`. */
static int count_files(const char *folder, const char *part)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int count = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.' && strstr(entry->d_name, part) != NULL;
	closedir(dir);
	return count;
}

static void what_was_saved_comes_back(void)
{
	struct gw_config *config = fixture_config(FIXTURE_WEB);
	char *folder = fixture_folder(), warning[GW_STATE_WARNING];
	struct gw_state *state = open_state(folder, warning);
	uint64_t version = 0;
	uint32_t id;

	CU_ASSERT_STRING_EQUAL(warning, "");
	CU_ASSERT_EQUAL(gw_ids_assign(gw_state_ids(state), config, 1000, NULL), 0);
	CU_ASSERT_EQUAL(gw_runtime_apply(gw_state_runtime(state), config, 1000, NULL, NULL), 0);
	gw_runtime_override_state(
		gw_state_runtime(state), "web", "b1", GW_CONFIG_DRAIN, "ann", "new kernel", 2000);
	id = gw_ids_backend(gw_state_ids(state), "web", "b3", config->pools[0].backends[2].address);
	for (int i = 0; i < 5; i++)
		version = gw_state_next_version(state);
	CU_ASSERT_EQUAL(version, 5);
	CU_ASSERT_EQUAL(gw_state_save(state), 0);
	gw_state_free(state);

	state = open_state(folder, warning);
	CU_ASSERT_STRING_EQUAL(warning, "");
	CU_ASSERT_EQUAL(gw_ids_backend(gw_state_ids(state), "web", "b3",
				config->pools[0].backends[2].address),
		id);
	CU_ASSERT_TRUE(gw_runtime_find(gw_state_runtime(state), "web", "b1")->override.has_state);
	CU_ASSERT_STRING_EQUAL(
		gw_runtime_find(gw_state_runtime(state), "web", "b1")->override.why, "new kernel");
	CU_ASSERT_TRUE(gw_state_next_version(state) > version);
	gw_state_free(state);
	gw_config_free(config);
	fixture_folder_remove(folder);
}

/* Versions given out after the last write must not be given out again. */
static void versions_rise_though_the_last_ones_were_not_saved(void)
{
	char *folder = fixture_folder(), warning[GW_STATE_WARNING];
	struct gw_state *state = open_state(folder, warning);
	uint64_t last = 0;

	gw_state_next_version(state);
	CU_ASSERT_EQUAL(gw_state_save(state), 0);
	for (int i = 0; i < 50; i++)
		last = gw_state_next_version(state);
	gw_state_free(state); /* as kill -9 would leave it */
	state = open_state(folder, warning);
	CU_ASSERT_TRUE(gw_state_next_version(state) > last);
	gw_state_raise_version(state, 5000);
	CU_ASSERT_EQUAL(gw_state_next_version(state), 5001);
	gw_state_raise_version(state, 10);
	CU_ASSERT_EQUAL(gw_state_next_version(state), 5002);
	gw_state_free(state);
	fixture_folder_remove(folder);
}

static void check_put_aside(const char *text, const char *reason)
{
	char *folder = fixture_folder(), warning[GW_STATE_WARNING];
	struct gw_state *state;

	write_file(folder, text);
	state = open_state(folder, warning);
	CU_ASSERT_PTR_NOT_NULL(strstr(warning, reason));
	if (!strstr(warning, reason))
		fprintf(stderr, "got: %s\n", warning);
	CU_ASSERT_EQUAL(count_files(folder, ".corrupt-"), 1);
	CU_ASSERT_EQUAL(gw_state_next_version(state), 1);
	CU_ASSERT_EQUAL(gw_state_save(state), 0);
	gw_state_free(state);
	state = open_state(folder, warning);
	CU_ASSERT_STRING_EQUAL(warning, "");
	gw_state_free(state);
	fixture_folder_remove(folder);
}

static void unusable_file_is_put_aside_with_a_warning_that_names_it(void)
{
#define BODY(ids, runtime, tables)                                                                 \
	"{\"format\":1,\"boot_id\":\"x\",\"version\":9,\"ids\":" ids ",\"runtime\":" runtime       \
	",\"tables\":" tables "}"
#define NO_IDS "{\"pools\":[],\"services\":[],\"backends\":[]}"
	check_put_aside("", "line 1");
	check_put_aside("{\"format\":1,", "line 1");
	check_put_aside("{\"format\":1}", "lacks what a state file has");
	check_put_aside("{\"format\":2}", "its format is 2, this program reads 1");
	check_put_aside(BODY("{}", "[]", "[]"), "its ids contradict themselves");
	check_put_aside(BODY(NO_IDS, "[{}]", "[]"), "its runtime list");
	check_put_aside(BODY(NO_IDS, "[]", "[{\"pool\":\"p\",\"digest\":\"zz\",\"version\":1}]"),
		"its list of tables");
}

static void half_of_a_write_leaves_the_old_file(void)
{
	char *folder = fixture_folder(), warning[GW_STATE_WARNING], path[256];
	struct gw_state *state = open_state(folder, warning);

	gw_state_raise_version(state, 7000);
	CU_ASSERT_EQUAL(gw_state_save(state), 0);
	CU_ASSERT_EQUAL(count_files(folder, ".tmp"), 0);
	/* What a crash between write and rename leaves behind. */
	snprintf(path, sizeof(path), "%s/" GW_STATE_FILE ".tmp", folder);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	gw_state_free(state);
	state = open_state(folder, warning);
	CU_ASSERT_STRING_EQUAL(warning, "");
	CU_ASSERT_TRUE(gw_state_next_version(state) > 7000);
	/* A save that cannot be done leaves the old one too. */
	unlink(path);
	CU_ASSERT_EQUAL(mkdir(path, 0700), 0);
	CU_ASSERT_EQUAL(gw_state_save(state), -EISDIR);
	gw_state_free(state);
	state = open_state(folder, warning);
	CU_ASSERT_TRUE(gw_state_next_version(state) > 7000);
	gw_state_free(state);
	fixture_folder_remove(folder);
}

static void second_control_of_one_folder_is_refused(void)
{
	char *folder = fixture_folder(), warning[GW_STATE_WARNING];
	struct gw_state *state = open_state(folder, warning), *other = NULL;

	CU_ASSERT_EQUAL(gw_state_open(folder, &other, warning), -EBUSY);
	CU_ASSERT_PTR_NULL(other);
	gw_state_free(state);
	state = open_state(folder, warning);
	gw_state_free(state);
	fixture_folder_remove(folder);
}

static void file_is_its_owners_alone(void)
{
	char *folder = fixture_folder(), warning[GW_STATE_WARNING], path[256];
	struct gw_state *state = open_state(folder, warning);
	struct stat file;

	CU_ASSERT_EQUAL(gw_state_save(state), 0);
	path_of(folder, path, sizeof(path));
	CU_ASSERT_EQUAL(stat(path, &file), 0);
	CU_ASSERT_EQUAL(file.st_mode & 0777, 0600);
	gw_state_free(state);
	fixture_folder_remove(folder);
}

static bool file_is_there(void *of)
{
	struct stat file;

	return stat(of, &file) == 0;
}

static void changes_in_quick_succession_become_one_write(void)
{
	char *folder = fixture_folder(), warning[GW_STATE_WARNING], path[256];
	struct gw_state *state = open_state(folder, warning);
	struct gw_state_writer *writer;
	struct stat before, after;
	uv_loop_t loop;

	path_of(folder, path, sizeof(path));
	uv_loop_init(&loop);
	CU_ASSERT_EQUAL_FATAL(gw_state_writer_open(&loop, state, &writer), 0);
	for (int i = 0; i < 100; i++)
		gw_state_writer_touch(writer);
	CU_ASSERT_EQUAL(stat(path, &before), -1);
	CU_ASSERT_TRUE(loop_run_until(&loop, file_is_there, path));
	CU_ASSERT_EQUAL(stat(path, &before), 0);
	loop_run_for(&loop, 2 * GW_STATE_DELAY_MS);
	CU_ASSERT_EQUAL(stat(path, &after), 0);
	CU_ASSERT_EQUAL(after.st_ino, before.st_ino); /* each write is a new file */
	gw_state_writer_close(writer);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	gw_state_free(state);
	fixture_folder_remove(folder);
}

static void flush_writes_at_once_and_close_writes_what_is_due(void)
{
	char *folder = fixture_folder(), warning[GW_STATE_WARNING];
	struct gw_state *state = open_state(folder, warning);
	struct gw_state_writer *writer;
	uv_loop_t loop;

	uv_loop_init(&loop);
	CU_ASSERT_EQUAL_FATAL(gw_state_writer_open(&loop, state, &writer), 0);
	gw_state_raise_version(state, 3000);
	CU_ASSERT_EQUAL(gw_state_writer_flush(writer), 0);
	CU_ASSERT_EQUAL(count_files(folder, GW_STATE_FILE), 1);
	gw_state_raise_version(state, 9000);
	gw_state_writer_touch(writer);
	gw_state_writer_close(writer);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	gw_state_free(state);
	state = open_state(folder, warning);
	CU_ASSERT_TRUE(gw_state_next_version(state) > 9000);
	gw_state_free(state);
	fixture_folder_remove(folder);
}

static void wait_for_end(uv_work_t *work)
{
	uv_sem_wait(work->data);
}

static void wait_over(uv_work_t *work, int status)
{
}

/* libuv's threads are busy, so the write asked for first happens last. */
static void late_write_does_not_replace_what_a_flush_wrote(void)
{
	char *folder = fixture_folder(), warning[GW_STATE_WARNING];
	struct gw_state *state = open_state(folder, warning);
	struct gw_state_writer *writer;
	uv_work_t busy[4];
	uv_sem_t end;
	uv_loop_t loop;

	uv_loop_init(&loop);
	uv_sem_init(&end, 0);
	CU_ASSERT_EQUAL_FATAL(gw_state_writer_open(&loop, state, &writer), 0);
	for (int i = 0; i < 4; i++) {
		busy[i].data = &end;
		CU_ASSERT_EQUAL(uv_queue_work(&loop, &busy[i], wait_for_end, wait_over), 0);
	}
	gw_state_raise_version(state, 3000);
	gw_state_writer_touch(writer);
	loop_run_for(&loop, 2 * GW_STATE_DELAY_MS);
	CU_ASSERT_EQUAL(count_files(folder, GW_STATE_FILE), 0); /* it waits for a thread */
	gw_state_raise_version(state, 9000);
	CU_ASSERT_EQUAL(gw_state_writer_flush(writer), 0);
	for (int i = 0; i < 4; i++)
		uv_sem_post(&end);
	uv_run(&loop, UV_RUN_DEFAULT);
	gw_state_writer_close(writer);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	uv_sem_destroy(&end);
	gw_state_free(state);
	state = open_state(folder, warning);
	CU_ASSERT_TRUE(gw_state_next_version(state) > 9000);
	gw_state_free(state);
	fixture_folder_remove(folder);
}

static const struct gw_test tests[] = {
	GW_TEST(what_was_saved_comes_back),
	GW_TEST(versions_rise_though_the_last_ones_were_not_saved),
	GW_TEST(unusable_file_is_put_aside_with_a_warning_that_names_it),
	GW_TEST(half_of_a_write_leaves_the_old_file),
	GW_TEST(second_control_of_one_folder_is_refused),
	GW_TEST(file_is_its_owners_alone),
	GW_TEST(changes_in_quick_succession_become_one_write),
	GW_TEST(late_write_does_not_replace_what_a_flush_wrote),
	GW_TEST(flush_writes_at_once_and_close_writes_what_is_due),
};

GW_SUITE("state", tests)
