/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What control remembers across restarts, one JSON file in state_dir ("control-state.json"): ids
 * and their quarantine, health, overrides and drains, the snapshot version counter, and for each
 * pool the digest and version of its table.
 *
 * Written whole to a temporary file, fsync, rename, fsync of the folder: a crash leaves the old
 * file or the new one. Ids must be on disk before a snapshot that uses them is published
 * (gw_state_save); the rest may lag a little, and is coalesced by gw_state_writer (state_writer.h).
 * The version counter is stored some way ahead, so that versions rise even when the last writes
 * were lost. A file that cannot be read is renamed aside (".corrupt-TIME") and all starts anew.
 *
 * One thread at a time.
 */
#pragma once

#include "abi/objects.h"
#include "control/ids.h"
#include "control/runtime.h"

#include <stddef.h>
#include <stdint.h>

#define GW_STATE_FILE	     "control-state.json"
#define GW_STATE_DIR_DEFAULT "/var/lib/guideway"
#define GW_STATE_FORMAT	     1
#define GW_STATE_WARNING     640

struct gw_build;
struct gw_state;

/*
 * Opens the state of a folder (made if missing, mode 0700) and takes a lock on it: two controls of
 * one folder would give out the same numbers (-EBUSY). dir NULL: no file, saves do nothing. On
 * return 0 `warning` is "" or one line for the log (a corrupt file was put aside). Also -errno from
 * the file system; -ENOMEM.
 */
int gw_state_open(const char *dir, struct gw_state **out, char warning[static GW_STATE_WARNING]);
void gw_state_free(struct gw_state *state); /* does not save; NULL is fine */

/* Owned by the state, changed freely by their own calls. */
struct gw_ids *gw_state_ids(struct gw_state *state);
struct gw_runtime *gw_state_runtime(struct gw_state *state);

/* The next snapshot version: above all given out before, in this run and former ones. */
uint64_t gw_state_next_version(struct gw_state *state);
/* A datapath runs this version: what comes next is above it. */
void gw_state_raise_version(struct gw_state *state, uint64_t in_force);

/* The last one given out was not used. */
void gw_state_return_version(struct gw_state *state, uint64_t version);

/* Where the configuration in use comes from. Changed freely; gw_state_writer_touch afterwards. */
struct gw_state_config {
	uint64_t version; /* under which config_store.h keeps it; 0: not kept */
	bool held;	  /* it is not the file's: rolled back to */
	char digest[33];  /* of the file that was set aside then (gw_config_texts_digest) */
	uint64_t former;  /* awaiting confirmation: what to go back to; 0: nothing awaits */
	int64_t until_ms; /* by then */
	char who[GW_RUNTIME_WHO];
};
struct gw_state_config *gw_state_config(struct gw_state *state);

/* Remembers the digests and table versions of a build that was published. */
int gw_state_keep_tables(struct gw_state *state, const struct gw_build *build);
/* The version in which the pool's table of this digest appeared; 0: not remembered. */
uint64_t gw_state_table_version(
	const struct gw_state *state, const char *pool, const struct gw_digest *digest);

/* Writes the file now. Returns 0 or -errno; then the old file still stands. */
int gw_state_save(struct gw_state *state);
/* Exactly what save would write, malloced; NULL without memory. For writing on another thread. */
char *gw_state_text(struct gw_state *state);
/* The writing half: any thread, one at a time for one folder. */
int gw_state_write(const char *dir, const char *text);
const char *gw_state_dir(const struct gw_state *state); /* NULL: none */

/* CLOCK_REALTIME and CLOCK_BOOTTIME in milliseconds. */
int64_t gw_clock_wall_ms(void);
int64_t gw_clock_boot_ms(void);
