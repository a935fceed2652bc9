/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving up privileges: a daemon keeps the few Linux capabilities that its work needs, also when
 * root starts it, and so does whatever it runs. Capabilities belong to threads, and the libraries
 * below us start threads of their own: what is given up is given up in every thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One bit a capability of <linux/capability.h>. */
#define GW_CAPABILITY(number) (1ull << (number))

/*
 * Keeps of what this process has only these capabilities, in every thread; nothing is added. The
 * bounding set shrinks with them where that is allowed, and no program that the calling thread runs
 * can have more (no_new_privs). Returns 0 or -errno; -ETIMEDOUT when a thread does not answer: end
 * the process then. To be called while no other thread is starting threads.
 */
int gw_privileges_keep(uint64_t capabilities);

/*
 * Becomes another user, with his groups, and keeps the permitted capabilities. For a process with
 * one thread, before gw_privileges_keep. Returns 0 or -errno.
 */
int gw_privileges_user(const char *name, uid_t uid, gid_t gid);
