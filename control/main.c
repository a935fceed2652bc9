/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"
#include "base/output.h"
#include "control/config.h"
#include "control/daemon.h"
#include "control/process.h"
#include "control/publish_xdp.h"

#include <curl/curl.h>

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INVALID = 5 };

#define CONFIG_DEFAULT "/etc/guideway/config.yaml"

static const char help[] =
	"Usage: guideway-control [-c FILE] [-t] [options]\n"
	"\n"
	"Decides for Guideway: reads the configuration, checks the backends' health, builds the "
	"tables\n"
	"and hands them to the datapath (dataplane.path: xdp or dpdk). It stays in the "
	"foreground and\n"
	"logs to standard error. SIGHUP reads the file again; SIGTERM ends it, and the datapath "
	"goes on.\n"
	"Of root's privileges it keeps what its work needs.\n"
	"\n"
	"  -c, --config FILE           the configuration (default " CONFIG_DEFAULT ")\n"
	"  -t, --test                  only check the file: every error, exit status 5\n"
	"      --socket PATH           the API's socket, instead of api.unix\n"
	"      --state-dir DIR         where ids, health and overrides are kept\n"
	"      --pin-dir DIR           where XDP maps and links are pinned\n"
	"      --dataplane-socket PATH guideway-dataplane's socket\n"
	"      --user NAME             run as this user; he is given the folders of state, socket\n"
	"                              and pins\n"
	"      --log-format FORMAT     text (the default) or json, one object a line\n"
	"      --detach                take the XDP program off its interfaces, remove what is\n"
	"                              pinned, and leave: forwarding ends\n"
	"  -v, --verbose               log more\n"
	"  -V, --version               print the version\n"
	"  -h, --help                  print this\n"
	"\n"
	"Exit status: 0 done, 1 failed, 2 wrong use, 5 configuration invalid.\n";

enum {
	OPTION_SOCKET = 256,
	OPTION_STATE,
	OPTION_PINS,
	OPTION_DATAPLANE,
	OPTION_DETACH,
	OPTION_USER,
	OPTION_LOG
};

static const struct option longs[] = {
	{"config", required_argument, NULL, 'c'},
	{"test", no_argument, NULL, 't'},
	{"socket", required_argument, NULL, OPTION_SOCKET},
	{"state-dir", required_argument, NULL, OPTION_STATE},
	{"pin-dir", required_argument, NULL, OPTION_PINS},
	{"dataplane-socket", required_argument, NULL, OPTION_DATAPLANE},
	{"detach", no_argument, NULL, OPTION_DETACH},
	{"user", required_argument, NULL, OPTION_USER},
	{"log-format", required_argument, NULL, OPTION_LOG},
	{"verbose", no_argument, NULL, 'v'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

/* The pin folder of --pin-dir, else the file's. */
static int detach_xdp(const struct gw_daemon_options *options)
{
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;
	const char *pin_dir = options->pin_dir;
	int error = 0;

	if (!pin_dir && gw_config_load(options->config, 0, &config, &errors)) {
		gw_config_errors_print(&errors, stderr);
		gw_config_errors_free(&errors);
		return EXIT_INVALID;
	}
	pin_dir = pin_dir ? pin_dir : config->xdp_pin_dir;
	error = gw_publisher_xdp_detach(pin_dir);
	if (error == -ENOENT) {
		gw_log_info("XDP: nothing is pinned at %s", pin_dir);
		error = 0;
	} else if (error == -ENOTDIR)
		gw_log_error(
			"%s is no folder of a bpf file system: nothing can be pinned there, and "
			"nothing was removed",
			pin_dir);
	else if (error == -EBUSY)
		gw_log_error("%s: a guideway-control works with what is pinned there; end it first",
			pin_dir);
	else if (error)
		gw_log_error("%s: cannot remove all that is pinned there: %s", pin_dir,
			strerror(-error));
	else
		gw_log_info("XDP: detached; %s is gone", pin_dir);
	gw_config_errors_free(&errors);
	gw_config_free(config);
	return error ? EXIT_FAILED : EXIT_DONE;
}

struct command_line {
	struct gw_daemon_options options;
	const char *user;
	enum gw_log_level level;
	enum gw_log_format format;
	bool test;
	bool detach;
};

/* Negative to go on, or the exit status to end with. */
static int option_take(struct command_line *line, int letter)
{
	switch (letter) {
	case 'c':
		line->options.config = optarg;
		break;
	case 't':
		line->test = true;
		break;
	case OPTION_SOCKET:
		line->options.api_socket = optarg;
		break;
	case OPTION_STATE:
		line->options.state_dir = optarg;
		break;
	case OPTION_PINS:
		line->options.pin_dir = optarg;
		break;
	case OPTION_DATAPLANE:
		line->options.dataplane_socket = optarg;
		break;
	case OPTION_DETACH:
		line->detach = true;
		break;
	case OPTION_USER:
		line->user = optarg;
		break;
	case OPTION_LOG:
		if (!gw_log_format_parse(optarg, &line->format))
			break;
		fprintf(stderr, "guideway-control: --log-format is text or json, not \"%s\"\n",
			optarg);
		return EXIT_USAGE;
	case 'v':
		line->level = GW_LOG_DEBUG;
		break;
	case 'V':
	case 'h':
		fputs(letter == 'h' ? help : "guideway-control " GW_VERSION "\n", stdout);
		return EXIT_DONE;
	default:
		return EXIT_USAGE; /* getopt has said why */
	}
	return -1;
}

/* "/run/guideway" of "/run/guideway/control.sock"; NULL: none to give away. */
static const char *folder_of(const char *path, char text[static PATH_MAX])
{
	char *slash;

	snprintf(text, PATH_MAX, "%s", path ? path : "");
	slash = strrchr(text, '/');
	if (!slash || slash == text)
		return NULL;
	*slash = 0;
	return text;
}

/* The file is read for the folders' names only; what is wrong with it the daemon will say. */
static int privileges_restrict(const struct command_line *line)
{
	const struct gw_daemon_options *options = &line->options;
	const char *folders[4] = {0}, *socket;
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;
	char socket_folder[PATH_MAX];
	int error = 0;

	if (line->user && !gw_config_load(options->config, 0, &config, &errors)) {
		folders[0] = options->state_dir ? options->state_dir : config->state_dir;
		folders[1] = options->pin_dir ? options->pin_dir : config->xdp_pin_dir;
		socket = options->api_socket ? options->api_socket : config->api.control.path;
		folders[2] = folder_of(socket, socket_folder);
		error = gw_process_restrict(line->user, folders);
	} else {
		error = gw_process_restrict(NULL, folders);
	}
	gw_config_errors_free(&errors);
	gw_config_free(config);
	return error;
}

static int run(int argc, char **argv)
{
	struct command_line line = {.options.config = CONFIG_DEFAULT, .level = GW_LOG_INFO};
	int letter, status;

	while ((letter = getopt_long(argc, argv, "c:tvVh", longs, NULL)) != -1) {
		status = option_take(&line, letter);
		if (status >= 0)
			return status;
	}
	if (optind < argc) {
		fprintf(stderr, "guideway-control: unexpected \"%s\"; see --help\n", argv[optind]);
		return EXIT_USAGE;
	}
	if (line.test)
		return gw_config_check_report(line.options.config, false, stdout, stderr);
	gw_log_open("guideway-control", line.level);
	gw_log_format_set(line.format);
	if (line.detach)
		return detach_xdp(&line.options);
	if (privileges_restrict(&line))
		return EXIT_FAILED;
	if (curl_global_init(CURL_GLOBAL_DEFAULT)) {
		gw_log_error("cannot start libcurl");
		return EXIT_FAILED;
	}
	status = gw_daemon_run(&line.options);
	curl_global_cleanup();
	return status;
}

int main(int argc, char **argv)
{
	return gw_output_finish("guideway-control", run(argc, argv));
}
