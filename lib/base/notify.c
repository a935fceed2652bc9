/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/notify.h"

#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A path, or with '@' first a name in the abstract name space. */
static int address_read(const char *name, struct sockaddr_un *address, socklen_t *length)
{
	size_t bytes = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || bytes < 2)
		return -EAFNOSUPPORT; /* vsock is another family's */
	if (bytes >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(address->sun_path, name, bytes);
	if (name[0] == '@')
		address->sun_path[0] = 0;
	*length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + bytes + (name[0] == '/'));
	return 0;
}

int gw_notify(const char *format, ...)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address;
	socklen_t address_length;
	char text[512];
	va_list arguments;
	int fd, error, length;

	if (!name || !name[0])
		return 0;
	error = address_read(name, &address, &address_length);
	if (error)
		return error;
	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= sizeof(text))
		return -EMSGSIZE;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, text, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT,
		    (const struct sockaddr *)&address, address_length) < 0)
		error = -errno;
	close(fd);
	return error;
}

int gw_notify_reloading(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return gw_notify("RELOADING=1\nMONOTONIC_USEC=%lld",
		(long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

void gw_notify_warn(int error)
{
	if (error)
		gw_log_warning(
			"cannot notify the service manager ($NOTIFY_SOCKET): %s", strerror(-error));
}

uint64_t gw_notify_watchdog_ms(void)
{
	const char *limit = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	unsigned long long us;
	char *end;

	if (!limit || limit[0] < '0' || limit[0] > '9')
		return 0;
	if (pid && strtol(pid, NULL, 10) != getpid())
		return 0;
	errno = 0;
	us = strtoull(limit, &end, 10);
	if (errno || *end || !us)
		return 0;
	return us / 2000 ? us / 2000 : 1;
}
