/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS_DEFAULT 0.3
#define SECONDS_MIN	0.001
#define SECONDS_MAX	3600
#define ROUNDS_DEFAULT	5
#define ROUNDS_MAX	1000
#define STEADY_MAX	1000
#define RESOLUTION_MIN	0.0001
#define RESOLUTION_MAX	0.5
#define REPEATS_MAX	100
#define CPU_MAX		4095
#define HUGE_MAX	(1 << 20)
#define WHAT_HELP                                                                                  \
	"usage: guideway-bench [options] [-- EAL OPTIONS]\n"                                       \
	"\n"                                                                                       \
	"Measures packets per second of the real worker code, interleaved with the bound: a "      \
	"plain\n"                                                                                  \
	"forwarder (receive, swap MACs, send) on the same ports. Refuses a figure when packets "   \
	"were\n"                                                                                   \
	"lost or came out wrong. Without options: what this machine can run, for some 30 "         \
	"seconds.\n"                                                                               \
	"Lists are separated by commas and multiply; counts take k, M and G (decimal), shares "    \
	"0.1 or 10%.\n"                                                                            \
	"\n"

static const char help[] = WHAT_HELP
	"What is measured:\n"
	"  --path LIST         dpdk, xdp or both (default both)\n"
	"  --mode LIST         cpu: packets from memory, no network card (default)\n"
	"                      link: a generator on another core, memif or veth\n"
	"                      nic: two real ports, see --gen and --dut\n"
	"  --flows LIST        distinct flows, in random order (default 1,64k,1M)\n"
	"  --size LIST         bytes a frame with its check sequence, 64 to 1518, or imix (default "
	"64)\n"
	"  --family LIST       4 or 6 (default 4)\n"
	"  --encap LIST        ipip, gue, gre or l2 (default ipip)\n"
	"  --services LIST     services (default 1)\n"
	"  --pools LIST        pools that the services share in turn (default 1)\n"
	"  --backends LIST     backends of each pool (default 100)\n"
	"  --table-size LIST   slots of a pool's table, a prime (default 65537)\n"
	"  --new LIST          share of packets that open a flow never seen before (default 0)\n"
	"  --table-flows LIST  room of the flow table (default twice --flows, at least 65536)\n"
	"  --fill LIST         share of it that other, silent flows take up at first (default 0)\n"
	"  --tracked LIST      yes, or no: of services with track_flows: false (default yes)\n"
	"  --untracked         the same as --tracked no\n"
	"  --workers LIST      workers (dpdk; default 1)\n"
	"  --swaps LIST        tables put in force a second meanwhile (default 0)\n"
	"  --load LIST         link, nic: share of the highest rate, and its latency (default 0: "
	"all)\n"
	"  --rate LIST         nic: so many frames a second, and no search (default 0: search)\n"
	"  --idle LIST         link: single packets, so many microseconds apart (default 0: no "
	"pauses)\n"
	"  --poll LIST         busy, or adaptive: idle workers sleep (dpdk; default busy)\n"
	"  --sweep LIST        named sweeps, a chart each, or all: flows, services, backends, "
	"scale,\n"
	"                      pools, swaps, size, encap, new, fill, workers, latency, wakeup;\n"
	"                      options go before what a sweep sets\n"
	"\n"
	"How:\n"
	"  --seconds S         of each measurement (default 0.3)\n"
	"  --rounds N          measurements of the balancer and of the bound, in turn (default 5)\n"
	"  --steady N          cpu: measure again, up to N times, what was measured while the core "
	"was\n"
	"                      slowed from outside, as by a virtual machine's neighbour (default "
	"0)\n"
	"  --cpu N             the measured core (default: an isolated one, else the last)\n"
	"  --generator-cpu N   the generator's and main thread's core (default: another one)\n"
	"  --gen PORT          nic: the port that sends and receives\n"
	"  --dut PORT          nic: the balancer's port; tcp:ADDRESS:PORT for that of another "
	"host with\n"
	"                      --listen; MAC for a balancer there that cannot be asked\n"
	"  --listen ADDRESS:PORT  nic on that other host, with --dut: balance until stopped\n"
	"  --resolution S      nic: the search ends at that share of the highest rate (default "
	"0.01)\n"
	"  --repeats N         nic: repeat a trial that lost, before it is believed (default 0)\n"
	"  --huge N            reserve N huge pages of 2 MB, and give them back at the end\n"
	"  --no-huge           take none, even if some are free\n"
	"  -- EAL OPTIONS      more for DPDK\n"
	"\n"
	"What comes out:\n"
	"  --json [FILE]       one JSON object, to standard output or FILE\n"
	"  --svg FILE          a chart, or with several sweeps or an existing folder one a sweep "
	"in it\n"
	"  --from FILE         with --svg: draw what --json kept in FILE, and measure nothing\n"
	"  --print-config      the configuration that a balancer at --dut MAC needs, and no more\n"
	"  --list              which paths and modes this machine can run, and why not\n"
	"  --completion        the completion for bash, and no more\n"
	"  -q, --quiet         no progress\n"
	"  -V, --version       print the version\n"
	"  -h, --help          print this\n"
	"\n"
	"Exit status: 0 every figure was measured, 1 failed or a figure was refused, 2 wrong "
	"use.\n";

enum {
	OPTION_AXIS = 512, /* and the ones after it: OPTION_AXIS + axis */
	OPTION_UNTRACKED = 256,
	OPTION_SWEEP,
	OPTION_SECONDS,
	OPTION_ROUNDS,
	OPTION_CPU,
	OPTION_GENERATOR_CPU,
	OPTION_GEN,
	OPTION_DUT,
	OPTION_LISTEN,
	OPTION_RESOLUTION,
	OPTION_REPEATS,
	OPTION_STEADY,
	OPTION_HUGE,
	OPTION_NO_HUGE,
	OPTION_JSON,
	OPTION_SVG,
	OPTION_LIST,
	OPTION_PRINT_CONFIG,
	OPTION_FROM,
	OPTION_COMPLETION,
};

static const struct option others[] = {
	{"untracked", no_argument, NULL, OPTION_UNTRACKED},
	{"sweep", required_argument, NULL, OPTION_SWEEP},
	{"seconds", required_argument, NULL, OPTION_SECONDS},
	{"rounds", required_argument, NULL, OPTION_ROUNDS},
	{"cpu", required_argument, NULL, OPTION_CPU},
	{"generator-cpu", required_argument, NULL, OPTION_GENERATOR_CPU},
	{"gen", required_argument, NULL, OPTION_GEN},
	{"dut", required_argument, NULL, OPTION_DUT},
	{"listen", required_argument, NULL, OPTION_LISTEN},
	{"resolution", required_argument, NULL, OPTION_RESOLUTION},
	{"repeats", required_argument, NULL, OPTION_REPEATS},
	{"steady", required_argument, NULL, OPTION_STEADY},
	{"huge", required_argument, NULL, OPTION_HUGE},
	{"no-huge", no_argument, NULL, OPTION_NO_HUGE},
	{"json", optional_argument, NULL, OPTION_JSON},
	{"svg", required_argument, NULL, OPTION_SVG},
	{"list", no_argument, NULL, OPTION_LIST},
	{"from", required_argument, NULL, OPTION_FROM},
	{"print-config", no_argument, NULL, OPTION_PRINT_CONFIG},
	{"completion", no_argument, NULL, OPTION_COMPLETION},
	{"quiet", no_argument, NULL, 'q'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
};

enum { OTHERS = sizeof(others) / sizeof(others[0]) };

static int wrong(const char *message)
{
	fprintf(stderr, "guideway-bench: %s; see --help\n", message);
	return EXIT_USAGE;
}

static int read_axis(struct options *options, enum axis_id id, const char *text)
{
	char message[BENCH_MESSAGE];

	if (id == AXIS_PATH && !strcmp(text, "both"))
		text = "dpdk,xdp";
	if (axis_parse(id, text, &options->lists[id], message))
		return wrong(message);
	return EXIT_DONE;
}

static int read_number(
	const char *option, const char *text, double low, double high, bool whole, double *number)
{
	char message[BENCH_MESSAGE];
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= low && value <= high) ||
		(whole && value != floor(value))) {
		snprintf(message, sizeof(message),
			"--%s: '%.40s' is not a %snumber from %.10g to %.10g", option, text,
			whole ? "whole " : "", low, high);
		return wrong(message);
	}
	*number = value;
	return EXIT_DONE;
}

static int read_int(const char *option, const char *text, int low, int high, int *number)
{
	double value;
	int status = read_number(option, text, low, high, true, &value);

	if (!status)
		*number = (int)value;
	return status;
}

static int add_sweep(struct options *options, const char *name)
{
	char message[BENCH_MESSAGE];
	const struct sweep *sweep = sweep_find(name);
	int length;

	for (size_t i = 0; sweep && i < options->sweep_count; i++)
		if (options->sweeps[i] == sweep)
			return EXIT_DONE;
	if (sweep) {
		options->sweeps[options->sweep_count++] = sweep;
		return EXIT_DONE;
	}
	length = snprintf(message, sizeof(message), "--sweep: '%.40s' is not one of all", name);
	for (size_t i = 0; i < sweep_count; i++)
		length += snprintf(
			message + length, sizeof(message) - (size_t)length, ", %s", sweeps[i].name);
	return wrong(message);
}

static int read_sweeps(struct options *options, const char *text)
{
	int status = EXIT_DONE;

	while (!status) {
		size_t length = strcspn(text, ",");
		char *name = strndup(text, length);

		if (!name)
			return EXIT_FAILED;
		if (!strcmp(name, "all"))
			for (size_t i = 0; i < sweep_count; i++)
				add_sweep(options, sweeps[i].name);
		else
			status = add_sweep(options, name);
		free(name);
		if (!text[length])
			break;
		text += length + 1;
	}
	return status;
}

static int read_measuring(struct options *options, int letter)
{
	int number = 0, status;

	switch (letter) {
	case OPTION_SECONDS:
		return read_number(
			"seconds", optarg, SECONDS_MIN, SECONDS_MAX, false, &options->seconds);
	case OPTION_ROUNDS:
		status = read_int("rounds", optarg, 1, ROUNDS_MAX, &number);
		options->rounds = (uint32_t)number;
		return status;
	case OPTION_CPU:
		return read_int("cpu", optarg, 0, CPU_MAX, &options->cpu);
	case OPTION_GENERATOR_CPU:
		return read_int("generator-cpu", optarg, 0, CPU_MAX, &options->generator_cpu);
	case OPTION_GEN:
		options->gen = optarg;
		return EXIT_DONE;
	case OPTION_DUT:
		options->dut = optarg;
		return EXIT_DONE;
	case OPTION_LISTEN:
		options->listen = optarg;
		return EXIT_DONE;
	case OPTION_RESOLUTION:
		return read_number("resolution", optarg, RESOLUTION_MIN, RESOLUTION_MAX, false,
			&options->resolution);
	case OPTION_REPEATS:
		status = read_int("repeats", optarg, 0, REPEATS_MAX, &number);
		options->repeats = (uint32_t)number;
		return status;
	case OPTION_STEADY:
		status = read_int("steady", optarg, 0, STEADY_MAX, &number);
		options->steady = (uint32_t)number;
		return status;
	case OPTION_HUGE:
		status = read_int("huge", optarg, 1, HUGE_MAX, &number);
		options->huge = (uint32_t)number;
		return status;
	default:
		return EXIT_USAGE; /* getopt has said why */
	}
}

/* -1: go on; else an exit status. `argv` for the word that may follow --json. */
static int read_option(struct options *options, int letter, int argc, char **argv)
{
	int status = EXIT_DONE;

	if (letter >= OPTION_AXIS)
		letter = (status = read_axis(options, (enum axis_id)(letter - OPTION_AXIS), optarg))
				 ? 0
				 : -1;
	switch (letter) {
	case -1:
	case 0:
		break;
	case OPTION_UNTRACKED:
		status = read_axis(options, AXIS_TRACKED, "no");
		break;
	case OPTION_SWEEP:
		status = read_sweeps(options, optarg);
		break;
	case OPTION_NO_HUGE:
		options->no_huge = true;
		break;
	case OPTION_JSON:
		options->json = true;
		options->json_path = optarg;
		if (!optarg && optind < argc &&
			(argv[optind][0] != '-' || !strcmp(argv[optind], "-")))
			options->json_path = argv[optind++];
		if (options->json_path && !strcmp(options->json_path, "-"))
			options->json_path = NULL;
		break;
	case OPTION_SVG:
		options->svg = optarg;
		break;
	case OPTION_LIST:
		options->list = true;
		break;
	case OPTION_FROM:
		options->from = optarg;
		break;
	case OPTION_PRINT_CONFIG:
		options->print_config = true;
		break;
	case OPTION_COMPLETION:
		options->completion = true;
		break;
	case 'q':
		options->quiet = true;
		break;
	case 'h':
		fputs(help, stdout);
		return EXIT_DONE;
	case 'V':
		puts("guideway-bench " GW_VERSION);
		return EXIT_DONE;
	default:
		status = read_measuring(options, letter);
	}
	return status ? status : -1;
}

static int join_eal_args(struct options *options, int argc, char **argv, int first)
{
	size_t length = 0;
	FILE *stream = open_memstream(&options->eal_args, &length);

	if (!stream)
		return -ENOMEM;
	for (int i = first; i < argc; i++)
		fprintf(stream, "%s%s", i > first ? " " : "", argv[i]);
	return fclose(stream) ? -ENOMEM : 0;
}

/* EAL would print its help and end the program with 0, in the middle of it. */
static bool asks_eal_for_help(int argc, char **argv, int first)
{
	for (int i = first; i < argc; i++)
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			return true;
	return false;
}

/* "192.0.2.2:7110", "[2001:db8::2]:7110" or a name in front. */
static bool is_address_port(const char *text)
{
	const char *colon = strrchr(text, ':');
	char *end;
	unsigned long port;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
		return false;
	port = strtoul(colon + 1, &end, 10);
	return !*end && port > 0 && port <= UINT16_MAX;
}

static int check_ports(const struct options *options)
{
	static const char other_host[] = "tcp:";
	const size_t length = sizeof(other_host) - 1;
	const char *remote = options->dut && !strncmp(options->dut, other_host, length)
				     ? options->dut + length
				     : NULL;
	char message[BENCH_MESSAGE] = "";
	uint8_t mac[6];

	if (options->listen && !is_address_port(options->listen))
		snprintf(message, sizeof(message), "--listen: '%.64s' is not ADDRESS:PORT",
			options->listen);
	else if (options->listen && (remote || bench_mac_read(options->dut, mac)))
		snprintf(message, sizeof(message),
			"--dut: '%.64s' is another host's; --listen balances on a port of this one",
			options->dut);
	else if (remote && !is_address_port(remote))
		snprintf(message, sizeof(message), "--dut: '%.64s' is not tcp:ADDRESS:PORT",
			options->dut);
	else if (options->gen && options->dut && !strcmp(options->gen, options->dut))
		snprintf(message, sizeof(message),
			"--gen and --dut: '%.64s' cannot be both; give two ports", options->gen);
	return message[0] ? wrong(message) : -1;
}

/* What only the whole of the options shows. */
static int check_whole(const struct options *options)
{
	const struct axis_list *modes = &options->lists[AXIS_MODE];
	bool measures = !options->list && !options->print_config && !options->listen;
	bool nic = false;

	for (size_t i = 0; i < modes->count; i++)
		nic |= !strcmp(modes->values[i].word, "nic");
	if (options->listen && (!nic || !options->dut || options->gen))
		return wrong("--listen goes with --mode nic and --dut PORT, and the other host "
			     "has --gen");
	if (options->from)
		return options->svg ? -1 : wrong("--from: draws charts, so --svg FILE is needed");
	if (nic && measures && !options->gen)
		return wrong("--mode nic: --gen PORT is needed, the port that generates");
	if (nic && measures && !options->dut)
		return wrong("--mode nic: --dut is needed: a PORT of this host; tcp:ADDRESS:PORT, "
			     "where guideway-bench --listen balances on another; or the MAC of a "
			     "balancer there that cannot be asked");
	if (!nic && (options->gen || options->dut))
		return wrong("--gen and --dut go with --mode nic");
	if (options->huge && options->no_huge)
		return wrong("--huge and --no-huge exclude each other");
	if (options->cpu >= 0 && options->cpu == options->generator_cpu)
		return wrong("--generator-cpu: the measured core cannot generate as well");
	return check_ports(options);
}

int options_read(struct options *options, int argc, char **argv)
{
	struct option longs[OTHERS + AXIS_IDS + 1] = {0};
	int letter, status;

	*options = (struct options){.seconds = SECONDS_DEFAULT,
		.rounds = ROUNDS_DEFAULT,
		.cpu = -1,
		.generator_cpu = -1};
	memcpy(longs, others, sizeof(others));
	for (int id = 0; id < AXIS_IDS; id++)
		longs[OTHERS + id] =
			(struct option){axes[id].option, required_argument, NULL, OPTION_AXIS + id};
	while ((letter = getopt_long(argc, argv, "qVh", longs, NULL)) != -1) {
		status = read_option(options, letter, argc, argv);
		if (status >= 0)
			return status;
	}
	if (optind < argc && strcmp(argv[optind - 1], "--")) {
		char message[BENCH_MESSAGE];

		snprintf(message, sizeof(message),
			"unexpected '%.100s' (EAL's options go behind --)", argv[optind]);
		return wrong(message);
	}
	if (options->completion) {
		completion_print(others, OTHERS);
		return EXIT_DONE;
	}
	if (asks_eal_for_help(argc, argv, optind))
		return wrong("EAL's help cannot be had behind --; EAL's options are in DPDK's "
			     "documentation");
	if (join_eal_args(options, argc, argv, optind))
		return EXIT_FAILED;
	return check_whole(options);
}

void options_free(struct options *options)
{
	free(options->eal_args);
	options->eal_args = NULL;
}
