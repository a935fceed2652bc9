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
	struct gw_snapshot_header *image; /* malloced, writable until finished */
	struct gw_pool_table **tables;	  /* by position of the pool; malloced */
};

/* Writes the message and returns the code. */
int build_fail(struct build_job *job, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Effects, members in table order, what is as before; no tables yet. */
int build_pools(struct build_job *job);
/* Service addresses with their spans: what each datapath matches by. */
int build_vips(struct build_job *job);
/* Lays the image out and writes all of it. */
int build_image(struct build_job *job);
/* Makes each pool's table, or shares the one of before. */
int build_tables(struct build_job *job);
/* Image and tables become build->snapshot. */
int build_finish(struct build_job *job);
