/* SPDX-License-Identifier: BSD-2-Clause */
/* --huge N: pages of 2 MB reserved for the run and given back at its end. */
#pragma once

#include <stdint.h>

/* Reserves until at least `pages` are free. 0, or -errno: -ENOMEM when the kernel found fewer. */
int huge_reserve(uint32_t pages);
/* The number of pages is again what huge_reserve found; once is enough, never is fine. */
void huge_give_back(void);
