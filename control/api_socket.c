/* SPDX-License-Identifier: BSD-2-Clause */
#include "api_socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

static void folder_make(const char *path)
{
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char *slash;

	snprintf(folder, sizeof(folder), "%s", path);
	slash = strrchr(folder, '/');
	if (slash && slash != folder) {
		*slash = 0;
		mkdir(folder, 0755); /* what is wrong with it, bind() will say */
	}
}

static bool somebody_listens(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int ret;

	if (fd < 0)
		return true; /* rather refuse than take a living daemon's socket */
	ret = connect(fd, (const struct sockaddr *)address, sizeof(*address)) ? errno : 0;
	close(fd);
	return ret != ECONNREFUSED && ret != ENOENT;
}

/* connect() refuses a plain file the same way; that is not ours to remove. */
static bool is_socket(const char *path)
{
	struct stat info;

	return !lstat(path, &info) && S_ISSOCK(info.st_mode);
}

static int socket_bind(int fd, const struct sockaddr_un *address)
{
	mode_t mask = umask(0117);
	int ret = bind(fd, (const struct sockaddr *)address, sizeof(*address)) ? -errno : 0;

	umask(mask);
	return ret;
}

int gw_api_socket_listen(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, ret;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	folder_make(path);
	ret = socket_bind(fd, &address);
	if (ret == -EADDRINUSE && is_socket(path) && !somebody_listens(&address)) {
		unlink(path);
		ret = socket_bind(fd, &address);
	}
	if (!ret && listen(fd, BACKLOG))
		ret = -errno;
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}
