/* SPDX-License-Identifier: BSD-2-Clause */
#include "private_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* NULL when the file may hold a secret, else what is wrong with it. */
static const char *fault_of(const struct stat *info)
{
	if (!S_ISREG(info->st_mode))
		return "is not a regular file";
	if (info->st_uid && info->st_uid != geteuid())
		return "must belong to root or to the user that guideway-control runs as";
	if (info->st_mode & (S_IWGRP | S_IRWXO))
		return "must be writable by its owner only and not readable by others: chmod "
		       "g-w,o=";
	if (info->st_size > GW_PRIVATE_BYTES_MAX)
		return "is larger than 64 KiB";
	return NULL;
}

static int read_whole(int fd, char *text, size_t *length)
{
	size_t have = 0;
	ssize_t got;

	while ((got = read(fd, text + have, GW_PRIVATE_BYTES_MAX + 1 - have)) > 0)
		have += (size_t)got;
	if (got < 0)
		return -errno;
	if (have > GW_PRIVATE_BYTES_MAX)
		return -EFBIG;
	text[have] = 0;
	*length = have;
	return 0;
}

int gw_private_read(
	const char *path, char **text, size_t *length, char error[static GW_PRIVATE_ERROR])
{
	/* O_NONBLOCK: the open of a FIFO must not hang the daemon */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat info;
	const char *fault;
	char *buffer;
	int ret;

	if (fd < 0 || fstat(fd, &info)) {
		ret = -errno;
		snprintf(error, GW_PRIVATE_ERROR, "cannot read %s: %s", path, strerror(-ret));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	fault = fault_of(&info);
	if (fault) {
		snprintf(error, GW_PRIVATE_ERROR, "%s %s", path, fault);
		close(fd);
		return -EPERM;
	}
	buffer = malloc(GW_PRIVATE_BYTES_MAX + 2);
	ret = buffer ? read_whole(fd, buffer, length) : -ENOMEM;
	close(fd);
	if (ret) {
		snprintf(error, GW_PRIVATE_ERROR, "cannot read %s: %s", path, strerror(-ret));
		gw_private_wipe(buffer, GW_PRIVATE_BYTES_MAX);
		return ret;
	}
	*text = buffer;
	return 0;
}

void gw_private_wipe(char *text, size_t length)
{
	if (text)
		explicit_bzero(text, length);
	free(text);
}
