/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel changes capabilities of the calling thread only. So the caller sends every other
 * thread a signal whose handler makes the same system call there, as the C library does for
 * setuid(2), and looks again until a whole look finds no thread that had not done it.
 */
#include "base/privileges.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIGNAL_NUMBER (SIGRTMAX - 3)
#define ANSWER_MS     1000
#define LOOK_NS	      1000000

static struct __user_cap_data_struct wanted[_LINUX_CAPABILITY_U32S_3];
static int failure; /* of a handler: errno */

static int caps_set(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &head, wanted) ? -errno : 0;
}

static void on_signal(int number)
{
	int saved = errno;
	int error = caps_set();

	if (error)
		__atomic_store_n(&failure, error, __ATOMIC_RELAXED);
	errno = saved;
}

/* Whether a thread has nothing but what is wanted. A thread that is gone has nothing. */
static bool thread_done(pid_t thread)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3, .pid = thread};
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, has))
		return errno == ESRCH;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if ((has[i].permitted & ~wanted[i].permitted) || has[i].inheritable)
			return false;
	return true;
}

/* Signals the threads that still have more; how many there were, or -errno. */
static int threads_ask(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	int asked = 0;

	if (!tasks)
		return -errno;
	while ((entry = readdir(tasks))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread <= 0 || thread_done(thread))
			continue;
		asked++;
		syscall(SYS_tgkill, getpid(), thread, SIGNAL_NUMBER);
	}
	closedir(tasks);
	return asked;
}

static int threads_follow(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
	struct timespec pause = {.tv_nsec = LOOK_NS};
	int asked;

	failure = 0;
	sigfillset(&action.sa_mask);
	if (sigaction(SIGNAL_NUMBER, &action, &before))
		return -errno;
	asked = threads_ask();
	for (int i = 0; asked > 0 && i < ANSWER_MS && !failure; i++) {
		nanosleep(&pause, NULL);
		asked = threads_ask();
	}
	if (!failure && asked)
		failure = asked < 0 ? asked : -ETIMEDOUT;
	sigaction(SIGNAL_NUMBER, &before, NULL);
	return failure;
}

/* Whoever may not shrink it has no more in it than he could use anyway. */
static void bounding_shrink(uint64_t capabilities)
{
	for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if (!(capabilities & GW_CAPABILITY(i)))
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
}

int gw_privileges_keep(uint64_t capabilities)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	int error;

	if (syscall(SYS_capget, &head, wanted))
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		wanted[i].permitted &= (uint32_t)(capabilities >> (32 * i));
		wanted[i].effective = wanted[i].permitted;
		wanted[i].inheritable = 0;
	}
	bounding_shrink(capabilities);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	error = caps_set();
	return error ? error : threads_follow();
}

/* Another user id took the effective ones away, and kept the permitted ones. */
static int effective_raise(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, caps))
		return -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		caps[i].effective = caps[i].permitted;
	return syscall(SYS_capset, &head, caps) ? -errno : 0;
}

int gw_privileges_user(const char *name, uid_t uid, gid_t gid)
{
	if (initgroups(name, gid) || setresgid(gid, gid, gid))
		return -errno;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setresuid(uid, uid, uid) ||
		prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
		return -errno;
	return effective_raise();
}
