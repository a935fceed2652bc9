/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Configurations that were in use, kept for rollback and for a start whose files are not whole: a
 * file "configs/VERSION.json" in the state folder each, with the texts of all files, named after
 * the first snapshot version that was made from it. Readable by the daemon alone. At most
 * GW_CONFIG_STORE_KEPT, the oldest go first.
 *
 * Files that hold secrets (hash_seed_file, tokens) are not kept; they are read anew.
 */
#pragma once

#include "control/config.h"

#include <stdint.h>

#define GW_CONFIG_STORE_KEPT 100u

/* Texts as they were. */
struct gw_config_bundle {
	struct gw_config_text *texts;
	size_t count;
	uint64_t version;
	json_t *json; /* owns the texts */
};

/* Atomically; makes the folder. dir NULL: nothing is kept. Returns 0 or -errno. */
int gw_config_store_write(const char *dir, uint64_t version, const struct gw_config *config);

/*
 * The configuration that was in use at this snapshot version: the newest kept that is not above
 * it. Returns 0 and the bundle is the caller's to clear; -ENOENT, -EINVAL for a damaged file,
 * -errno.
 */
int gw_config_store_read(const char *dir, uint64_t version, struct gw_config_bundle *bundle);
void gw_config_bundle_clear(struct gw_config_bundle *bundle);

/* Versions kept, oldest first, malloced; NULL without memory. */
uint64_t *gw_config_store_list(const char *dir, size_t *count);

/* The same files with the same texts, in the same order. */
bool gw_config_texts_equal(const struct gw_config_text *a, size_t a_count,
	const struct gw_config_text *b, size_t b_count);

/* 32 hexadecimal digits over the names and texts of all files but members files. Returns text. */
char *gw_config_texts_digest(const struct gw_config *config, char text[static 33]);
