/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large, long-lived memory: from EAL's huge pages near a NUMA node when there are any, else plain
 * anonymous memory that asks for transparent huge pages. So --no-huge runs do not need a larger -m
 * for tables and flows, and untouched parts cost nothing there.
 */
#pragma once

#include <stddef.h>

/* Zeroed, aligned to a cache line; NULL when there is none. Not on the packet path. */
void *gw_memory_alloc(size_t size, int socket);

/* `size` as it was asked for; NULL is fine. */
void gw_memory_free(void *memory, size_t size);
