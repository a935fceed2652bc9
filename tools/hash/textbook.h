/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plain, textbook form of each algorithm's lookup: what a careful programmer writes from the
 * paper, without tuning. `bench` runs it beside the library in the same run, since absolute figures
 * of a shared machine mean little.
 */
#pragma once

#include "chash/chash.h"

struct textbook;

/* NULL when there is no other form than the library's (modulo), or no memory. Built from the view.
 */
struct textbook *textbook_open(const struct gw_chash_view *view);
uint32_t textbook_get(const struct textbook *book, uint64_t key);
void textbook_close(struct textbook *book);
