/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-decap puts bpf/decap.bpf.c on a backend's interface and ends; the kernel keeps the
 * program. What must be found again is pinned below PIN-DIR/INTERFACE/: the maps `counters` and
 * `sources`, and `link` (tcx, XDP) or `filter` (clsact, whose filter lives in the interface: the
 * pin marks it as ours).
 *
 * attach.c knows the hooks, pins.c the folder, show.c prints the counters. Everything runs in
 * main's thread; every function returns 0 or -errno and has logged its failure unless it says
 * otherwise.
 */
#pragma once

#include "base/address.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decap_hook {
	DECAP_HOOK_AUTO, /* tcx, or tc on a kernel without it */
	DECAP_HOOK_TCX,
	DECAP_HOOK_TC,
	DECAP_HOOK_XDP,
	DECAP_HOOK_XDP_GENERIC,
};

struct decap_options {
	const char *interface; /* NULL: all (stats) */
	const char *pin_dir;
	struct gw_prefix *from; /* owned by main */
	size_t from_count;
	enum decap_hook hook;
	unsigned int modes; /* GW_DECAP_MODE; 0: all */
	uint16_t gue_port;
	bool pass_strangers;
	bool json;
};

/* Name of a hook as the command line writes it; and back, false for an unknown name. */
const char *decap_hook_name(enum decap_hook hook);
bool decap_hook_parse(const char *name, enum decap_hook *hook);

/* Brings the interface in the state that the options ask for, whatever was attached before. */
int decap_attach(const struct decap_options *options);

/* -ENOENT when nothing of ours is there. */
int decap_detach(const struct decap_options *options);

/* Prints counters; -ENOENT when the interface that was asked for has none. */
int decap_show(const struct decap_options *options);

/*
 * PIN-DIR/INTERFACE[/NAME] into path; name may be NULL. Logs nothing. -ENAMETOOLONG.
 * bpf file systems refuse a dot in a name: eth0.7 is pinned as eth0:7, which no interface can be
 * named.
 */
int decap_pin_path(
	const struct decap_options *options, const char *name, char path[static PATH_MAX]);

void decap_name_swap(char *name, char from, char to);

/* Makes PIN-DIR/INTERFACE; PIN-DIR must lie in a mounted bpf file system. */
int decap_pin_dir_make(const struct decap_options *options);

/* Removes every pin of the interface and its folder; silent about what is not there. */
void decap_pin_dir_remove(const struct decap_options *options);

/* Opens a pin; -errno, silently, when it is not there. */
int decap_pin_open(const struct decap_options *options, const char *name);

/* The hook that the pins of this interface tell of; -ENOENT silently. DECAP_HOOK_XDP for both
 * modes. */
int decap_pin_hook(const struct decap_options *options, enum decap_hook *hook);
