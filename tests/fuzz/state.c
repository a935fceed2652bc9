/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as the state file: it is taken or put aside, never half taken. What was taken is
 * written and read again, and is the same.
 */
#include "control/state.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/dev/shm/guideway-fuzz-XXXXXX"; /* fsync costs nothing there */

static void folder_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r -- %s", folder);
	if (system(command))
		perror(folder);
}

static void folder_make(void)
{
	static bool made;

	if (made)
		return;
	made = mkdtemp(folder) != NULL;
	if (!made)
		abort();
	atexit(folder_remove);
}

static void aside_remove(void)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strstr(entry->d_name, ".corrupt-"))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
}

static char *state_read(char warning[static GW_STATE_WARNING])
{
	struct gw_state *state;
	char *text;

	if (gw_state_open(folder, &state, warning) < 0)
		abort();
	if (gw_state_save(state) < 0)
		abort();
	text = gw_state_text(state);
	gw_state_free(state);
	if (!text)
		abort();
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[128], warning[GW_STATE_WARNING];
	char *first, *second;
	FILE *file;

	folder_make();
	snprintf(path, sizeof(path), "%s/" GW_STATE_FILE, folder);
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		abort();
	first = state_read(warning);
	if (warning[0])
		aside_remove();
	second = state_read(warning);
	/* All but the version, which each writing puts further ahead. */
	if (warning[0] || strcmp(strstr(first, "\"ids\""), strstr(second, "\"ids\"")) != 0)
		abort();
	free(first);
	free(second);
	return 0;
}
