/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is the measured core as quick as it can be? A virtual machine's core is often one thread of a
 * core whose other thread works for somebody else, which no counter of the guest tells. A short
 * spin that keeps all of the core's adders busy takes longer then, by half or more: its shortest
 * time in this process is the core's own, and what is far above it is slowed from outside.
 */
#pragma once

#include <stdbool.h>

/* Spins some 0.1 ms on `cpu`, where the caller then is no longer. Is it slowed just now? */
bool steady_slowed(int cpu);

/* Looks about for the core's own time, for `seconds`, unless that was done before. */
void steady_begin(int cpu, double seconds);
