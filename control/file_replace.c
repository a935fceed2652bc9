/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/file_replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t left = strlen(text);
	int status = 0;

	if (fd < 0)
		return -errno;
	while (!status && left) {
		ssize_t written = write(fd, text, left);

		if (written >= 0) {
			text += written;
			left -= (size_t)written;
		} else if (errno != EINTR) {
			status = -errno;
		}
	}
	if (!status && fsync(fd) < 0)
		status = -errno;
	if (close(fd) < 0 && !status)
		status = -errno;
	return status;
}

/* The folder of `path`, so that the renaming lasts. */
static int folder_flush(const char *path)
{
	const char *end = strrchr(path, '/');
	char folder[PATH_MAX];
	int fd, status;

	snprintf(folder, sizeof(folder), "%.*s", end ? (int)(end - path + 1) : 1, end ? path : ".");
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	status = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return status;
}

int gw_file_replace(const char *path, const char *text)
{
	char temporary[PATH_MAX];
	int status;

	if (snprintf(temporary, sizeof(temporary), "%s.tmp", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	status = file_write(temporary, text);
	if (!status && rename(temporary, path) < 0)
		status = -errno;
	if (status < 0) {
		unlink(temporary);
		return status;
	}
	return folder_flush(path);
}
