/* SPDX-License-Identifier: BSD-2-Clause */
#include "args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOWS_DEFAULT (1u << 20)
#define CPU_MAX	      65535

static const char usage[] =
	"Usage: guideway-dataplane --port SPEC... --cpus LIST [OPTION...] [-- EAL-OPTION...]\n"
	"\n"
	"Moves packets for Guideway with DPDK. guideway-control tells it over a socket what to "
	"do;\n"
	"until then every packet is the host's.\n"
	"\n"
	"  --port NAME[,kernel=IFNAME][,vlan=N][,steer]\n"
	"                     a port, by DPDK's name: 0000:01:00.0, net_af_packet0, net_af_xdp0 "
	"...\n"
	"                     kernel=IFNAME: the kernel interface whose routes and neighbours "
	"lead\n"
	"                     there (af_packet and af_xdp: found by itself). steer: load "
	"Guideway's\n"
	"                     steering program on an af_xdp port, so that only service traffic\n"
	"                     leaves the kernel. May be repeated, up to 16 times.\n"
	"  --cpus LIST        one worker on each of these CPUs, like 2,4-7\n"
	"  --flows N          room for N tracked flows, 16 bytes each (1048576)\n"
	"  --socket PATH      where guideway-control connects\n"
	"                     (/run/guideway/dataplane.sock)\n"
	"  --mbufs N          frame buffers (default: as many as ports and workers need)\n"
	"  --poll MODE        adaptive: a worker without packets sleeps, a millisecond at most\n"
	"                     (the default); busy: it never does\n"
	"  --log-format FORMAT\n"
	"                     text (the default) or json, one object a line\n"
	"  -v, --verbose      say more in the log\n"
	"  --version          print the version\n"
	"  -h, --help         print this text\n"
	"\n"
	"What follows \"--\" goes to DPDK's EAL: --no-huge -m 256, --in-memory, --vdev=..., -a "
	"ADDR.\n"
	"The CPUs of the workers are given with --cpus, not with EAL's -l or --lcores.\n";

static int wrong(const char *format, const char *value)
{
	fprintf(stderr, "guideway-dataplane: ");
	fprintf(stderr, format, value);
	fprintf(stderr, "\nTry 'guideway-dataplane --help'.\n");
	return 2;
}

/* Reads one number of a list and moves *text behind it. */
static int cpu_number(const char **text, uint32_t *number)
{
	unsigned long value;
	char *end;

	if (**text < '0' || **text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoul(*text, &end, 10);
	if (errno || value > CPU_MAX)
		return -ERANGE;
	*text = end;
	*number = (uint32_t)value;
	return 0;
}

/* Adds one CPU to an ascending list of `count`; one that is there already stays once. */
static int cpu_insert(uint32_t *cpus, int count, uint32_t cpu)
{
	int at = 0;

	while (at < count && cpus[at] < cpu)
		at++;
	if (at < count && cpus[at] == cpu)
		return count;
	if (count == GW_WORKERS_MAX)
		return -ERANGE;
	memmove(cpus + at + 1, cpus + at, (size_t)(count - at) * sizeof(*cpus));
	cpus[at] = cpu;
	return count + 1;
}

int gw_cpu_list_parse(const char *text, uint32_t cpus[GW_WORKERS_MAX])
{
	uint32_t list[GW_WORKERS_MAX];
	int count = 0;

	for (;;) {
		uint32_t first, last;
		int error = cpu_number(&text, &first);

		if (error)
			return error;
		last = first;
		if (*text == '-') {
			text++;
			error = cpu_number(&text, &last);
			if (error)
				return error;
		}
		if (last < first)
			return -EINVAL;
		for (uint32_t cpu = first; cpu <= last && count >= 0; cpu++)
			count = cpu_insert(list, count, cpu);
		if (count < 0)
			return count;
		if (!*text)
			break;
		if (*text++ != ',')
			return -EINVAL;
	}
	memcpy(cpus, list, (size_t)count * sizeof(*list));
	return count;
}

static int add_port(struct gw_args *args, const char *text)
{
	const char *why;

	if (args->port_count == GW_PORTS_MAX)
		return wrong("--port %s: there may be 16 ports at most", text);
	if (gw_port_spec_parse(&args->port[args->port_count], text, &why)) {
		fprintf(stderr, "guideway-dataplane: --port %s: %s\n", text, why);
		return wrong("the form is --port NAME[,kernel=IFNAME][,vlan=N]%s", "[,steer]");
	}
	for (uint16_t i = 0; i < args->port_count; i++)
		if (strcmp(args->port[i].name, args->port[args->port_count].name) == 0)
			return wrong("--port %s: this port is given twice", text);
	args->port_count++;
	return GW_ARGS_RUN;
}

static int set_cpus(struct gw_args *args, const char *text)
{
	int count = gw_cpu_list_parse(text, args->cpu);

	if (count == -ERANGE)
		return wrong("--cpus %s: at most 64 CPUs, with numbers up to 65535", text);
	if (count < 0)
		return wrong("--cpus %s: not a list of CPUs like 2,4-7", text);
	args->cpu_count = (uint16_t)count;
	return GW_ARGS_RUN;
}

static int set_flows(struct gw_args *args, const char *text)
{
	char *end;

	errno = 0;
	args->flows = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || !args->flows ||
		args->flows > GW_FLOW_FLOWS_MAX)
		return wrong("--flows %s: not a number from 1 to 1073741824", text);
	return GW_ARGS_RUN;
}

static int set_mbufs(struct gw_args *args, const char *text)
{
	char *end;
	unsigned long count;

	errno = 0;
	count = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || count < 1024 || count > 1ul << 28)
		return wrong("--mbufs %s: not a number from 1024 to 268435456", text);
	args->mbufs = (unsigned int)count;
	return GW_ARGS_RUN;
}

static int set_poll(struct gw_args *args, const char *text)
{
	args->busy_poll = strcmp(text, "busy") == 0;
	if (!args->busy_poll && strcmp(text, "adaptive") != 0)
		return wrong("--poll %s: neither adaptive nor busy", text);
	return GW_ARGS_RUN;
}

enum { OPT_PORT = 256, OPT_CPUS, OPT_FLOWS, OPT_SOCKET, OPT_MBUFS, OPT_POLL, OPT_LOG, OPT_VERSION };

static int apply(struct gw_args *args, int option)
{
	switch (option) {
	case OPT_PORT:
		return add_port(args, optarg);
	case OPT_CPUS:
		return set_cpus(args, optarg);
	case OPT_FLOWS:
		return set_flows(args, optarg);
	case OPT_SOCKET:
		args->socket = optarg;
		return GW_ARGS_RUN;
	case OPT_MBUFS:
		return set_mbufs(args, optarg);
	case OPT_LOG:
		return gw_log_format_parse(optarg, &args->log_format)
			       ? wrong("--log-format %s: neither text nor json", optarg)
			       : GW_ARGS_RUN;
	case OPT_POLL:
		return set_poll(args, optarg);
	case 'v':
		args->verbose = true;
		return GW_ARGS_RUN;
	case OPT_VERSION:
		printf("guideway-dataplane %s\n", GW_VERSION);
		return 0;
	case 'h':
		fputs(usage, stdout);
		return 0;
	default: /* getopt has named it */
		return wrong("see what it %s", "takes:");
	}
}

/* EAL must not place the workers elsewhere. */
static int check_eal(const struct gw_args *args)
{
	static const char *const ours[] = {"-l", "-c", "--lcores", "--main-lcore", "--proc-type"};

	for (int i = 0; i < args->eal_count; i++)
		for (size_t j = 0; j < sizeof(ours) / sizeof(ours[0]); j++)
			if (strncmp(args->eal[i], ours[j], strlen(ours[j])) == 0 &&
				(ours[j][1] != '-' || strchr("=", args->eal[i][strlen(ours[j])])))
				return wrong("EAL's %s is set by guideway-dataplane itself; the "
					     "workers' CPUs are given with --cpus",
					ours[j]);
	return GW_ARGS_RUN;
}

int gw_args_parse(struct gw_args *args, int argc, char **argv)
{
	static const struct option options[] = {{"port", required_argument, NULL, OPT_PORT},
		{"cpus", required_argument, NULL, OPT_CPUS},
		{"flows", required_argument, NULL, OPT_FLOWS},
		{"socket", required_argument, NULL, OPT_SOCKET},
		{"mbufs", required_argument, NULL, OPT_MBUFS},
		{"poll", required_argument, NULL, OPT_POLL},
		{"log-format", required_argument, NULL, OPT_LOG},
		{"verbose", no_argument, NULL, 'v'}, {"version", no_argument, NULL, OPT_VERSION},
		{"help", no_argument, NULL, 'h'}, {}};
	int option;

	*args = (struct gw_args){.flows = FLOWS_DEFAULT, .socket = GW_DATAPLANE_SOCKET};
	while ((option = getopt_long(argc, argv, "+hv", options, NULL)) != -1) {
		int status = apply(args, option);

		if (status != GW_ARGS_RUN)
			return status;
	}
	if (optind < argc && strcmp(argv[optind - 1], "--") != 0)
		return wrong("%s: options of EAL follow a \"--\"", argv[optind]);
	if (!args->port_count)
		return wrong("no port: give at least one %s", "--port NAME");
	if (!args->cpu_count)
		return wrong("no CPU for a worker: give %s", "--cpus LIST");
	args->eal = argv + optind;
	args->eal_count = argc - optind;
	return check_eal(args);
}
