/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-replay: a capture through the real pipeline of a datapath. The engineer's packet tracer,
 * and the bench of the golden tests.
 */
#include "base/log.h"
#include "base/output.h"
#include "base/paths.h"
#include "control/config.h"
#include "path.h"
#include "session.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_MISSING = 4, EXIT_INVALID = 5 };

#define MTU_MIN 1280
#define MTU_MAX 65535

struct options {
	const struct path *path;
	const char *config;
	const char *in;
	const char *out;
	const char *host;
	const char **down;
	size_t down_count;
	bool json;
	bool verbose;
	bool untraced;
};

static uint16_t egress_mtu = 1500;
static uint32_t way_count = 1;

static const char help[] =
	"usage: guideway-replay --path dpdk|xdp --config FILE --in FILE [--out FILE] [options]\n"
	"\n"
	"Sends the frames of a capture through the real pipeline of a datapath and says of each "
	"what\n"
	"became of it. Needs no daemon, no interface and no huge pages; path xdp needs root.\n"
	"\n"
	"  --path PATH     dpdk: the dataplane's worker code; xdp: the eBPF program, by test runs\n"
	"  --config FILE   the configuration; interfaces and health checks are ignored, backends "
	"are as\n"
	"                  the file states them, every next hop has one fixed MAC\n"
	"  --in FILE       the capture: Ethernet, whole frames; its stamps are the time\n"
	"  --out FILE      the frames that would leave, in order\n"
	"  --host FILE     the frames that would go to the host's stack\n"
	"  --down NAME     take this backend away (NAME or POOL/NAME); may be repeated\n"
	"  --mtu N         MTU of the egress link, 1280 to 65535 (default 1500)\n"
	"  --ways N        each tunnel's next hop has so many ways, 1 to 16 (default 1); the "
	"flow's hash\n"
	"                  chooses\n"
	"  --untraced      xdp: each frame also through the program as the daemon loads it, which\n"
	"                  writes no trace; fails where it does something else\n"
	"  --json          one JSON line a packet\n"
	"  -v, --verbose   stage by stage, why (to standard error with --json)\n"
	"  -h, --help      print this\n"
	"\n"
	"Exit status: 0 every packet was processed, 1 failed, 2 wrong use, 4 no such backend,\n"
	"5 configuration invalid.\n";

enum {
	OPTION_PATH = 256,
	OPTION_CONFIG,
	OPTION_IN,
	OPTION_OUT,
	OPTION_HOST,
	OPTION_DOWN,
	OPTION_MTU,
	OPTION_WAYS,
	OPTION_UNTRACED,
	OPTION_JSON
};

static const struct option longs[] = {
	{"path", required_argument, NULL, OPTION_PATH},
	{"config", required_argument, NULL, OPTION_CONFIG},
	{"in", required_argument, NULL, OPTION_IN},
	{"out", required_argument, NULL, OPTION_OUT},
	{"host", required_argument, NULL, OPTION_HOST},
	{"down", required_argument, NULL, OPTION_DOWN},
	{"mtu", required_argument, NULL, OPTION_MTU},
	{"ways", required_argument, NULL, OPTION_WAYS},
	{"untraced", no_argument, NULL, OPTION_UNTRACED},
	{"json", no_argument, NULL, OPTION_JSON},
	{"verbose", no_argument, NULL, 'v'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static int wrong(const char *what, const char *value)
{
	fprintf(stderr, "guideway-replay: %s%s; see --help\n", what, value);
	return EXIT_USAGE;
}

static int read_path(struct options *options, const char *name)
{
	if (!strcmp(name, "xdp"))
		options->path = &path_xdp;
	else if (!strcmp(name, "dpdk"))
#ifdef GW_WITH_DPDK
		options->path = &path_dpdk;
#else
		return wrong("this build has no DPDK path: --path ", name);
#endif
	else
		return wrong("--path is dpdk or xdp, not ", name);
	return EXIT_DONE;
}

static int read_mtu(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < MTU_MIN || value > MTU_MAX)
		return wrong("--mtu is a number from 1280 to 65535, not ", text);
	egress_mtu = (uint16_t)value;
	return EXIT_DONE;
}

static int read_ways(const char *text)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value < 1 || value > GW_PATH_BUCKETS)
		return wrong("--ways is a number from 1 to 16, not ", text);
	way_count = (uint32_t)value;
	return EXIT_DONE;
}

static int read_down(struct options *options, const char *name)
{
	const char **grown = reallocarray(options->down, options->down_count + 1, sizeof(*grown));

	if (!grown)
		return EXIT_FAILED;
	options->down = grown;
	options->down[options->down_count++] = name;
	return EXIT_DONE;
}

/* -1: go on; else an exit status. */
static int read_option(struct options *options, int letter)
{
	int status = EXIT_DONE;

	switch (letter) {
	case OPTION_PATH:
		status = read_path(options, optarg);
		break;
	case OPTION_CONFIG:
		options->config = optarg;
		break;
	case OPTION_IN:
		options->in = optarg;
		break;
	case OPTION_OUT:
		options->out = optarg;
		break;
	case OPTION_HOST:
		options->host = optarg;
		break;
	case OPTION_DOWN:
		status = read_down(options, optarg);
		break;
	case OPTION_MTU:
		status = read_mtu(optarg);
		break;
	case OPTION_WAYS:
		status = read_ways(optarg);
		break;
	case OPTION_UNTRACED:
		options->untraced = true;
		break;
	case OPTION_JSON:
		options->json = true;
		break;
	case 'v':
		options->verbose = true;
		break;
	case 'h':
		fputs(help, stdout);
		return EXIT_DONE;
	case 'V':
		puts("guideway-replay " GW_VERSION);
		return EXIT_DONE;
	default:
		return EXIT_USAGE;
	}
	return status ? status : -1;
}

static int read_options(struct options *options, int argc, char **argv)
{
	int letter;

	while ((letter = getopt_long(argc, argv, "vVh", longs, NULL)) != -1) {
		int status = read_option(options, letter);

		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return wrong("unexpected ", argv[optind]);
	if (!options->path || !options->config || !options->in)
		return wrong("--path, --config and --in are needed", "");
	if (options->untraced && options->path != &path_xdp)
		return wrong("--untraced is for --path xdp", "");
	return -1;
}

/* As gw_link_hint_fixed, on a link of --mtu. A backend on the link itself has but one way. */
static void hint(void *owner, struct gw_next_hop *hop)
{
	gw_link_hint_fixed(owner, hop);
	hop->mtu = egress_mtu;
	if (way_count > 1 && !(hop->flags & GW_HOP_ON_LINK))
		hop->link = gw_link_to_record(REPLAY_WAYS_RECORD);
}

/* Bucket b is way b modulo --ways; way w, from 0, has MAC 02:00:00:00:01:w. */
static struct gw_paths ways_make(void)
{
	struct gw_paths ways;

	for (uint8_t bucket = 0; bucket < GW_PATH_BUCKETS; bucket++)
		ways.link[bucket] = (struct gw_link){
			.destination_mac = {2, 0, 0, 0, 1, (uint8_t)(bucket % way_count)},
			.source_mac = REPLAY_OUR_MAC,
			.flags = GW_LINK_RESOLVED};
	return ways;
}

static int make_build(
	const struct options *options, const struct gw_config *config, struct gw_build **build)
{
	char error[GW_BUILD_ERROR] = "";
	int failed =
		gw_build_offline(config, options->down, options->down_count, hint, build, error);

	if (!failed)
		return EXIT_DONE;
	gw_log_error("%s: %s", options->config, error[0] ? error : strerror(-failed));
	return failed == -ENOENT ? EXIT_MISSING : EXIT_FAILED;
}

static int replay(const struct options *options, const struct gw_config *config)
{
	const struct gw_paths ways = ways_make();
	const struct session_options session = {.path = options->path,
		.in = options->in,
		.out = options->out,
		.host = options->host,
		.flows = config->dataplane.flows,
		.mtu = egress_mtu,
		.ways = &ways,
		.untraced = options->untraced,
		.json = options->json,
		.verbose = options->verbose};
	struct gw_build *build = NULL;
	int status = make_build(options, config, &build);

	if (status)
		return status;
	status = session_run(&session, build) ? EXIT_FAILED : EXIT_DONE;
	gw_build_free(build);
	return status;
}

static int run(int argc, char **argv)
{
	struct options options = {0};
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;
	int status = read_options(&options, argc, argv);

	if (status >= 0)
		return status;
	gw_log_open("guideway-replay", GW_LOG_WARNING);
	if (gw_config_load(options.config, 0, &config, &errors)) {
		gw_config_errors_print(&errors, stderr);
		status = EXIT_INVALID;
	} else {
		status = replay(&options, config);
	}
	gw_config_errors_free(&errors);
	gw_config_free(config);
	free(options.down);
	return status;
}

int main(int argc, char **argv)
{
	return gw_output_finish("guideway-replay", run(argc, argv));
}
