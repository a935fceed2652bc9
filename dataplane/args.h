/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line of guideway-dataplane: ours up to "--", EAL's behind it. */
#pragma once

#include "base/log.h"
#include "pipeline.h"
#include "port.h"

struct gw_args {
	struct gw_port_spec port[GW_PORTS_MAX];
	uint16_t port_count;
	uint32_t cpu[GW_WORKERS_MAX]; /* the workers', ascending */
	uint16_t cpu_count;
	uint64_t flows;
	const char *socket;
	unsigned int mbufs; /* 0: as many as ports and workers need */
	bool busy_poll;
	bool verbose;
	enum gw_log_format log_format;
	int eal_count; /* options behind "--" */
	char **eal;
};

#define GW_ARGS_RUN (-1)

/*
 * Reads the command line. Returns GW_ARGS_RUN, or the exit status to end with (0 after --help and
 * --version, 2 after a message about what is wrong). *args points into argv.
 */
int gw_args_parse(struct gw_args *args, int argc, char **argv);

/*
 * Reads a list of CPUs like "1,3-5" into cpus (ascending, each once). Returns their number, or
 * -EINVAL (not a list), -ERANGE (more than GW_WORKERS_MAX, or a number over 65535).
 */
int gw_cpu_list_parse(const char *text, uint32_t cpus[GW_WORKERS_MAX]);
