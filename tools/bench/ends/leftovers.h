/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * EAL makes a runtime folder at its start, empty for ends that share nothing, and leaves it there.
 * Each end has one of its own name and removes it once EAL has started; one that is killed before
 * cannot. The next that starts removes what such ends have left.
 */
#pragma once

#include <sys/types.h>

#define BENCH_PREFIX "gw-bench-"

/* EAL's --file-prefix of an end. */
#define BENCH_PREFIX_FORMAT BENCH_PREFIX "%s-%d" /* role, process */

/*
 * Removes `runtime` (EAL's folder of this process), and beside it those of ends whose process is
 * gone. Only empty folders go, and only of this user: what others made has other names or is not
 * ours to remove. NULL is fine.
 */
void bench_leftovers_remove(const char *runtime);
