/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-replay: a capture through the real pipeline of a datapath. The engineer's packet tracer,
 * and the bench of the golden tests.
 */
#include "abi/packet.h"
#include "base/log.h"
#include "base/output.h"
#include "capture.h"
#include "control/config.h"
#include "path.h"
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
};

static uint16_t egress_mtu = 1500;

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
	return -1;
}

/* As gw_link_hint_fixed, on a link of --mtu. */
static bool hint(void *owner, const uint8_t address[static 16], struct gw_link *link, uint16_t *mtu)
{
	gw_link_hint_fixed(owner, address, link, mtu);
	*mtu = egress_mtu;
	return true;
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

struct session {
	const struct options *options;
	const struct gw_build *build;
	struct capture_in *in;
	struct capture_out *out;
	struct capture_out *host;
	struct fate fate;
	uint64_t index;
	uint64_t written;
	uint64_t counted; /* verdicts that the pipeline itself has counted */
};

/* A frame without a whole Ethernet header never reaches a driver; no test run takes it either. */
static int decide(struct session *session, const uint8_t *frame, size_t length, uint64_t now_ns)
{
	struct fate *fate = &session->fate;

	fate->out_count = 0;
	if (length < GW_ETH_HEADER) {
		fate->verdict = GW_VERDICT_DROP;
		fate->reason = GW_DROP_MALFORMED;
		fate->service = fate->backend = fate->slot = GW_NONE;
		fate->flow = GW_TRACE_NONE;
		return 0;
	}
	session->counted++;
	return session->options->path->run(frame, length, now_ns, fate);
}

static void tell(struct session *session, const uint8_t *frame, size_t length, uint64_t now_ns)
{
	const struct options *options = session->options;
	const struct fate *fate = &session->fate;

	if (options->verbose)
		report_stages(options->json ? stderr : stdout, session->build, session->index,
			frame, length, fate);
	if (options->json)
		report_json(stdout, session->build, session->index, fate, session->written);
	else if (!options->verbose)
		report_line(stdout, session->build, session->index, fate);
	for (size_t i = 0; session->out && i < fate->out_count; i++)
		capture_write(session->out, fate->out[i].bytes, fate->out[i].length, now_ns);
	session->written += fate->out_count;
	if (session->host && fate->verdict == GW_VERDICT_HOST)
		capture_write(session->host, frame, length, now_ns);
}

/* rx = tx + to_host + replied + consumed + held + drops, and all that was sent in was counted. */
static int check_sum(const struct session *session)
{
	struct gw_counters counters;
	uint64_t sum;

	if (session->options->path->counters(&counters))
		return EXIT_FAILED;
	sum = counters.tx + counters.to_host + counters.replied + counters.consumed + counters.held;
	for (int i = 0; i < GW_DROP_MAX; i++)
		sum += counters.drops[i];
	if (counters.rx == sum && counters.rx == session->counted)
		return EXIT_DONE;
	gw_log_error(
		"the counters do not add up: %llu frames sent in, rx %llu, sum of verdicts %llu",
		(unsigned long long)session->counted, (unsigned long long)counters.rx,
		(unsigned long long)sum);
	return EXIT_FAILED;
}

static int play(struct session *session)
{
	const uint8_t *frame;
	uint64_t now_ns;
	size_t length;
	int more;

	while ((more = capture_read(session->in, &frame, &length, &now_ns)) > 0) {
		if (length > REPLAY_FRAME_MAX - GW_ETH_HEADER ||
			decide(session, frame, length, now_ns)) {
			gw_log_error("frame %llu (%zu bytes) could not be processed",
				(unsigned long long)session->index, length);
			return EXIT_FAILED;
		}
		tell(session, frame, length, now_ns);
		session->index++;
	}
	return more < 0 ? EXIT_FAILED : check_sum(session);
}

/* Opening `out` to write would empty the capture that is read. */
static bool overwrites(const char *in, const char *out)
{
	struct stat a, b;

	if (!out || stat(in, &a) || stat(out, &b) || !S_ISREG(a.st_mode))
		return false;
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

static int open_files(struct session *session)
{
	const struct options *options = session->options;

	if (overwrites(options->in, options->out) || overwrites(options->in, options->host)) {
		gw_log_error("%s is the capture to be read: write to another file", options->in);
		return EXIT_FAILED;
	}
	session->in = capture_open(options->in);
	if (!session->in)
		return EXIT_FAILED;
	session->out = options->out ? capture_create(options->out) : NULL;
	session->host = options->host ? capture_create(options->host) : NULL;
	if ((options->out && !session->out) || (options->host && !session->host))
		return EXIT_FAILED;
	for (int i = 0; i < REPLAY_OUT_MAX; i++) {
		session->fate.out[i].bytes = malloc(REPLAY_FRAME_MAX);
		if (!session->fate.out[i].bytes)
			return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static int close_files(struct session *session, int status)
{
	if (capture_finish(session->out))
		status = EXIT_FAILED;
	if (capture_finish(session->host))
		status = EXIT_FAILED;
	capture_close(session->in);
	for (int i = 0; i < REPLAY_OUT_MAX; i++)
		free(session->fate.out[i].bytes);
	return status;
}

static int replay(const struct options *options, const struct gw_config *config)
{
	struct session session = {.options = options};
	struct gw_build *build = NULL;
	int status = make_build(options, config, &build);

	if (status)
		return status;
	session.build = build;
	status = open_files(&session);
	if (!status) {
		status = options->path->open(build->snapshot, config->dataplane.flows) ? EXIT_FAILED
										       : EXIT_DONE;
		if (!status)
			status = play(&session);
		options->path->close();
	}
	status = close_files(&session, status);
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
