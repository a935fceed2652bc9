/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/process.h"

#include "base/log.h"
#include "base/notify.h"
#include "base/privileges.h"

#include <errno.h>
#include <ftw.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * eBPF programs and maps, attaching them, netlink, marks on sockets; raw sockets for checks by
 * ICMP; a metrics port below 1024. CAP_PERFMON is what the verifier asks of programs that compare
 * pointers.
 */
#define WORK                                                                                       \
	(GW_CAPABILITY(CAP_NET_ADMIN) | GW_CAPABILITY(CAP_NET_RAW) | GW_CAPABILITY(CAP_BPF) |      \
		GW_CAPABILITY(CAP_PERFMON) | GW_CAPABILITY(CAP_NET_BIND_SERVICE))
/* Maps by their ids; a group for the sockets. */
#define START (GW_CAPABILITY(CAP_SYS_ADMIN) | GW_CAPABILITY(CAP_CHOWN))

#define DEPTH 8

static uid_t owner_uid;
static gid_t owner_gid;

static int owner_give(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	return lchown(path, owner_uid, owner_gid) ? -1 : 0;
}

/* A folder that is not there yet is made: its parent may not be the new user's. */
static int folder_give(const char *path)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	return nftw(path, owner_give, DEPTH, FTW_PHYS | FTW_MOUNT) ? -errno : 0;
}

static int user_become(const char *user, const char *const *folders)
{
	const struct passwd *entry;
	int error;

	errno = 0;
	entry = getpwnam(user);
	if (!entry) {
		gw_log_error("--user %s: %s", user, errno ? strerror(errno) : "no such user");
		return errno ? -errno : -ENOENT;
	}
	owner_uid = entry->pw_uid;
	owner_gid = entry->pw_gid;
	for (; *folders; folders++) {
		error = folder_give(*folders);
		if (error) {
			gw_log_error("--user %s: cannot give %s to that user: %s", user, *folders,
				strerror(-error));
			return error;
		}
	}
	error = gw_privileges_user(user, owner_uid, owner_gid);
	if (error)
		gw_log_error("--user %s: cannot become that user: %s", user, strerror(-error));
	return error;
}

int gw_process_restrict(const char *user, const char *const *folders)
{
	int error = user ? user_become(user, folders) : 0;

	if (error)
		return error;
	error = gw_privileges_keep(WORK | START);
	if (error)
		gw_log_error("cannot give up privileges: %s", strerror(-error));
	return error;
}

int gw_process_started(void)
{
	int error = gw_privileges_keep(WORK);

	if (error)
		gw_log_error("cannot give up the privileges of the start: %s", strerror(-error));
	return error;
}

static void watchdog_tick(uv_timer_t *timer)
{
	gw_notify_warn(gw_notify("WATCHDOG=1"));
}

void gw_process_ready(struct gw_process *process, uv_loop_t *loop, const char *status)
{
	uint64_t every = gw_notify_watchdog_ms();

	gw_notify_warn(gw_notify("READY=1\nSTATUS=%s", status));
	if (!every)
		return;
	uv_timer_init(loop, &process->watchdog);
	uv_timer_start(&process->watchdog, watchdog_tick, every, every);
	process->watched = true;
}

void gw_process_reloading(void)
{
	gw_notify_warn(gw_notify_reloading());
}

void gw_process_reloaded(const char *status)
{
	gw_notify_warn(gw_notify("READY=1\nSTATUS=%s", status));
}

void gw_process_stopping(const char *status, uint64_t milliseconds)
{
	/* A little more than is needed: what comes after is quick, but not nothing. */
	gw_notify_warn(gw_notify("STOPPING=1\nSTATUS=%s\nEXTEND_TIMEOUT_USEC=%llu", status,
		(unsigned long long)(milliseconds + 10000) * 1000));
}

void gw_process_close(struct gw_process *process)
{
	if (process->watched)
		uv_close((uv_handle_t *)&process->watchdog, NULL);
	process->watched = false;
}
