/* SPDX-License-Identifier: BSD-2-Clause */
#include "http_listen.h"

#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <stdbool.h>
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

/* Nobody else gets in before the mode is set. */
static int socket_bind(int fd, const struct sockaddr_un *address)
{
	mode_t mask = umask(0177);
	int ret = bind(fd, (const struct sockaddr *)address, sizeof(*address)) ? -errno : 0;

	umask(mask);
	return ret;
}

static int group_find(const char *name, gid_t *gid)
{
	struct group entry, *found = NULL;
	char buffer[16384];

	if (getgrnam_r(name, &entry, buffer, sizeof(buffer), &found) || !found)
		return -ENOKEY;
	*gid = found->gr_gid;
	return 0;
}

int gw_http_group_check(const struct gw_config_socket *socket)
{
	gid_t gid;

	return socket->group ? group_find(socket->group, &gid) : 0;
}

int gw_http_socket_allow(const struct gw_config_socket *socket)
{
	gid_t gid = getegid();
	struct stat now;
	int ret = socket->group ? group_find(socket->group, &gid) : 0;

	if (ret)
		return ret;
	if (stat(socket->path, &now))
		return -errno;
	/* The mode is set whether or not the group may be: what was narrowed must be narrow. */
	if (now.st_gid != gid && chown(socket->path, (uid_t)-1, gid))
		ret = -errno;
	if (chmod(socket->path, socket->mode))
		ret = -errno;
	return ret;
}

int gw_http_listen_unix(const struct gw_config_socket *wanted)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, ret;

	if (strlen(wanted->path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, wanted->path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	folder_make(wanted->path);
	ret = socket_bind(fd, &address);
	if (ret == -EADDRINUSE && is_socket(wanted->path) && !somebody_listens(&address)) {
		unlink(wanted->path);
		ret = socket_bind(fd, &address);
	}
	if (!ret) {
		ret = gw_http_socket_allow(wanted);
		if (!ret && listen(fd, BACKLOG))
			ret = -errno;
		if (ret)
			unlink(wanted->path);
	}
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}

int gw_http_listen_tcp(const struct gw_config_listen *wanted)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool four = !memcmp(wanted->address, mapped, sizeof(mapped));
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(wanted->port)};
	struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(wanted->port)};
	int fd = socket(four ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, ret = 0;

	if (fd < 0)
		return -errno;
	memcpy(&six.sin6_addr, wanted->address, 16);
	memcpy(&ipv4.sin_addr, wanted->address + 12, 4);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (!four)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (bind(fd, four ? (const struct sockaddr *)&ipv4 : (const struct sockaddr *)&six,
		    four ? sizeof(ipv4) : sizeof(six)) ||
		listen(fd, BACKLOG))
		ret = -errno;
	if (ret) {
		close(fd);
		return ret;
	}
	return fd;
}
