/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a handle. Internal; handle.c says how readers and writers meet. */
#pragma once

#include "chash/view.h"

#include <pthread.h>

struct gw_chash {
	_Atomic uint64_t current; /* the view's address and the references taken through it */
	pthread_mutex_t change;	  /* held by whoever builds the next view */
};

/* A handle whose current view is `view`, which it takes over (only on success). 0 or an error. */
int handle_new(struct gw_chash_view *view, struct gw_chash **handle);
/* Under the lock: the current view, valid until handle_publish. */
struct gw_chash_view *handle_current(const struct gw_chash *handle);
/* Under the lock: makes `view` the current one and lets go of the one before. */
int handle_publish(struct gw_chash *handle, struct gw_chash_view *view);
