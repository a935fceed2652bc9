/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Walking a YAML tree by tables. A section is a mapping: its table names each key, the reader of
 * its value and where in the model the value goes. A new key is a line in config_schema.c.
 *
 * Keys are read in the order of the table, not of the file, so that a key may build on an earlier
 * one (pools on defaults). A reader that finds a bad value adds an error and leaves the model's
 * field as it was; the walk goes on, so one run finds all errors.
 */
#pragma once

#include "config_yaml.h"

#include <stdarg.h>

struct config_walk;
struct config_key;

/* Reads node into the struct at base; true when the value is good. */
#define CONFIG_READER(name)                                                                        \
	bool name(struct config_walk *walk, const struct config_key *key, yaml_node_t *node,       \
		void *base)

/* A word of an enumeration. */
struct config_word {
	const char *name;
	unsigned int value;
	const char *refused; /* known, but an error for this reason */
};

struct config_words {
	const struct config_word *list;
	size_t count;
};

struct config_section {
	const struct config_key *keys;
	size_t count;
	size_t size; /* of the struct it fills */
	/* The defaults of one element of a list, before its keys are read. */
	void (*init)(struct config_walk *walk, void *base);
	/* After its keys were read, whether good or not. */
	void (*finish)(struct config_walk *walk, yaml_node_t *node, void *base);
	size_t place_offset; /* struct gw_place of the mapping itself; 0: none */
};

struct config_key {
	const char *name;
	CONFIG_READER((*read));
	size_t offset;	     /* of the field, in the section's struct */
	size_t size;	     /* of the field (an integer), or of one element (an array) */
	size_t count_offset; /* arrays: of the size_t beside it */
	size_t place_offset; /* of a struct gw_place, set when the value is good; 0: none */
	bool required;
	const char *refused; /* known, but an error for this reason; never suggested */
	uint64_t min, max;   /* integers, durations (milliseconds), lengths */
	uint32_t unit_ms;    /* durations: what one of the field's units is; 0: 1 ms */
	const struct config_words *words;
	const struct config_section *section;
	/* One element of a list of scalars. */
	bool (*element)(struct config_walk *walk, yaml_node_t *node, void *item);
};

/* The keys on the way to a node, innermost first, on the C stack. */
struct config_step {
	const struct config_step *up;
	const char *key;  /* NULL: an element of the list above */
	const char *name; /* the element's name, or NULL: its index */
	size_t index;
};

/* The files of one configuration; the first is the main one. */
struct config_sources {
	struct config_source **list; /* from the arena, as are the sources */
	size_t count;
	bool incomplete; /* one could not be read: what is missing may be in it */
};

struct config_walk {
	struct gw_config *config;
	struct config_sources sources;
	struct gw_config_errors *errors;
	struct config_source *source; /* the one being walked */
	const struct config_step *step;
	uint64_t visits; /* nodes walked, aliases counted each time */
	unsigned int flags;
	/* Files as they were, instead of the file system; NULL: read. */
	const struct gw_config_text *given;
	size_t given_count;
	int status; /* -ENOMEM or -E2BIG: give up */
};

/* More than this through aliases is no configuration. */
#define CONFIG_VISITS_MAX 4000000u

/* Adds an error at the node, or at another place, under the path of the walk. */
void config_bad(struct config_walk *walk, const yaml_node_t *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same under a key of the mapping that is being read. */
void config_bad_key(struct config_walk *walk, const char *key, const yaml_node_t *node,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* "pools[web].backends[b1]"; returns text. */
#define CONFIG_PATH_MAX 512
char *config_step_path(const struct config_step *step, char text[static CONFIG_PATH_MAX]);

/* The value of a mapping's key, NULL without one. */
yaml_node_t *config_find(const struct config_walk *walk, yaml_node_t *mapping, const char *key);

/* Reads a mapping into the struct at base. */
void config_section_read(struct config_walk *walk, const struct config_section *section,
	yaml_node_t *node, void *base);

/* Reports keys that the section does not have or that come twice. */
void config_keys_check(
	struct config_walk *walk, const struct config_section *section, yaml_node_t *mapping);

/* Reads the value of one key of the mapping, if it is there; true if it is. */
bool config_key_read(
	struct config_walk *walk, const struct config_key *key, yaml_node_t *mapping, void *base);

/* The number of single-character edits from a to b. */
unsigned int config_distance(const char *a, size_t a_len, const char *b, size_t b_len);

/* The field's struct, sized by key->size. */
void config_field_store(const struct config_key *key, void *base, uint64_t value);

/* From the arena of the model; without memory NULL and walk->status is set. */
void *config_alloc(struct config_walk *walk, size_t count, size_t size);

/* A section in place (healthcheck), a list of sections (pools, appended to what is there), a list
 * of scalars (or one scalar). */
CONFIG_READER(config_read_section);
CONFIG_READER(config_read_sections);
CONFIG_READER(config_read_scalars);
