/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a build: what builder*.c share. Internal. */
#pragma once

#include "control/builder.h"
#include "control/config_arena.h"

/* A build in the making. */
struct build_job {
	const struct gw_build_input *input;
	struct gw_build *build;
	char *error; /* GW_BUILD_ERROR bytes */

	/* builder_vips.c; malloced */
	struct gw_vip *vips;
	size_t vip_count;
	struct gw_span *spans;
	size_t span_count;

	/* builder_image.c */
	struct gw_next_hop *next_hops; /* sorted by address; malloced */
	size_t next_hop_count;
	struct gw_snapshot_header *image; /* writable until sealed */
	size_t image_size;
	int fd;
};

/* Writes the message and returns the code. */
int build_fail(struct build_job *job, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Effects, members in table order, what is as before; no tables yet. */
int build_pools(struct build_job *job);
/* Service addresses with their spans: what each datapath matches by. */
int build_vips(struct build_job *job);
/* Lays the image out and writes all but the tables. */
int build_image(struct build_job *job);
/* Makes or copies each pool's table into the image. */
int build_tables(struct build_job *job);
/* Seals the image; build->snapshot maps it from then on. */
int build_seal(struct build_job *job);
