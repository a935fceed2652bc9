/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/decap.h"
#include "base/log.h"
#include "base/output.h"
#include "decap.h"

#include <errno.h>
#include <getopt.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIN_DIR_DEFAULT	 "/sys/fs/bpf/guideway-decap"
#define GUE_PORT_DEFAULT 6080

enum { EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_ABSENT = 4 };

static const char help[] =
	"Usage: guideway-decap attach INTERFACE --from PREFIX [--from PREFIX]... [options]\n"
	"       guideway-decap detach INTERFACE [--pin-dir DIR]\n"
	"       guideway-decap stats [INTERFACE] [--json] [--pin-dir DIR]\n"
	"\n"
	"Takes the outer headers off the packets that Guideway's balancers send to this backend\n"
	"(encap: ipip, gue or gre), in the kernel, without tunnel modules. attach returns at "
	"once;\n"
	"the program stays until detach or until the interface goes. A second attach changes "
	"the\n"
	"prefixes and the program in place.\n"
	"\n"
	"  -f, --from PREFIX   accept tunnel packets whose outer source lies in PREFIX: the "
	"balancers'\n"
	"                      own addresses (node.source_ipv4, source_ipv6, and with entropy\n"
	"                      node.source_prefix_ipv4, source_prefix_ipv6); repeatable\n"
	"  -m, --mode MODE     take this encapsulation: ipip, gue or gre; repeatable; default "
	"all\n"
	"  -g, --gue-port N    UDP port of gue, as the pool's gue_port; default 6080\n"
	"  -k, --hook HOOK     auto (tcx, else tc), tcx, tc, xdp or xdp-generic; default auto\n"
	"  -s, --pass-strangers\n"
	"                      leave tunnel packets of other sources to the kernel (they are "
	"dropped\n"
	"                      and counted otherwise); for machines with tunnels of their own\n"
	"  -p, --pin-dir DIR   where maps and links are pinned; default " PIN_DIR_DEFAULT "\n"
	"  -j, --json          stats as JSON\n"
	"  -V, --version       print the version\n"
	"  -h, --help          print this\n"
	"\n"
	"The backend also needs the service addresses on lo and rp_filter off: see "
	"guideway-decap(8).\n"
	"Exit status: 0 done, 1 failed, 2 wrong use, 4 no such interface or nothing attached.\n";

static const char *const hook_names[] = {"auto", "tcx", "tc", "xdp", "xdp-generic"};

const char *decap_hook_name(enum decap_hook hook)
{
	return hook_names[hook];
}

bool decap_hook_parse(const char *name, enum decap_hook *hook)
{
	for (size_t i = 0; i < sizeof(hook_names) / sizeof(hook_names[0]); i++)
		if (!strcmp(name, hook_names[i])) {
			*hook = i;
			return true;
		}
	return false;
}

static int usage_error(const char *problem, const char *value)
{
	gw_log_error("%s%s%s; see guideway-decap --help", problem, value ? ": " : "",
		value ? value : "");
	return EXIT_USAGE;
}

static int prefix_add(struct decap_options *options, const char *text)
{
	struct gw_prefix *grown =
		realloc(options->from, (options->from_count + 1) * sizeof(*options->from));
	int ret;

	if (!grown)
		return usage_error("out of memory", NULL);
	options->from = grown;
	ret = gw_prefix_parse(text, &grown[options->from_count]);
	if (ret == -EDOM)
		return usage_error("--from has bits set after the prefix length", text);
	if (ret)
		return usage_error("--from takes an address or ADDRESS/LENGTH, not", text);
	options->from_count++;
	return 0;
}

static int mode_add(struct decap_options *options, const char *text)
{
	static const char *const names[] = {
		[GW_ENCAP_IPIP] = "ipip", [GW_ENCAP_GUE] = "gue", [GW_ENCAP_GRE] = "gre"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i])) {
			options->modes |= GW_DECAP_MODE(i);
			return 0;
		}
	return usage_error("--mode is ipip, gue or gre, not", text);
}

static int gue_port_read(struct decap_options *options, const char *text)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || !port || port > UINT16_MAX)
		return usage_error("--gue-port is a number from 1 to 65535, not", text);
	options->gue_port = (uint16_t)port;
	return 0;
}

static int options_parse(int argc, char **argv, struct decap_options *options)
{
	static const struct option longs[] = {{"from", required_argument, NULL, 'f'},
		{"hook", required_argument, NULL, 'k'}, {"pass-strangers", no_argument, NULL, 's'},
		{"mode", required_argument, NULL, 'm'}, {"gue-port", required_argument, NULL, 'g'},
		{"pin-dir", required_argument, NULL, 'p'}, {"json", no_argument, NULL, 'j'},
		{"version", no_argument, NULL, 'V'}, {"help", no_argument, NULL, 'h'}, {}};
	int option, ret = 0;

	while (!ret && (option = getopt_long(argc, argv, "f:k:m:g:sp:jVh", longs, NULL)) != -1) {
		if (option == 'f')
			ret = prefix_add(options, optarg);
		else if (option == 'k')
			ret = decap_hook_parse(optarg, &options->hook)
				      ? 0
				      : usage_error(
						"--hook is auto, tcx, tc, xdp or xdp-generic, not",
						optarg);
		else if (option == 'm')
			ret = mode_add(options, optarg);
		else if (option == 'g')
			ret = gue_port_read(options, optarg);
		else if (option == 's')
			options->pass_strangers = true;
		else if (option == 'p')
			options->pin_dir = optarg;
		else if (option == 'j')
			options->json = true;
		else if (option == 'V' || option == 'h') {
			fputs(option == 'h' ? help : "guideway-decap " GW_VERSION "\n", stdout);
			ret = -1;
		} else
			ret = EXIT_USAGE;
	}
	return ret;
}

static int verb_run(const char *verb, const struct decap_options *options)
{
	bool attach = !strcmp(verb, "attach"), detach = !strcmp(verb, "detach");
	int ret;

	if (!attach && !detach && strcmp(verb, "stats"))
		return usage_error("no such verb", verb);
	if ((attach || detach) && !options->interface)
		return usage_error("which interface?", NULL);
	if (options->interface &&
		(strlen(options->interface) >= IFNAMSIZ || strpbrk(options->interface, "/:")))
		return usage_error("no name of an interface", options->interface);
	if (attach && !options->from_count)
		return usage_error("attach needs the balancers' addresses: --from PREFIX", NULL);
	if (attach)
		ret = decap_attach(options);
	else
		ret = detach ? decap_detach(options) : decap_show(options);
	if (ret == -ENOENT || ret == -ENODEV)
		return EXIT_ABSENT;
	return ret ? EXIT_FAILED : EXIT_DONE;
}

static int run(int argc, char **argv)
{
	struct decap_options options = {.pin_dir = PIN_DIR_DEFAULT, .gue_port = GUE_PORT_DEFAULT};
	int ret;

	gw_log_open("guideway-decap", GW_LOG_INFO);
	ret = options_parse(argc, argv, &options);
	if (ret) {
		free(options.from);
		return ret < 0 ? EXIT_DONE : ret;
	}
	if (optind >= argc || argc - optind > 2) {
		ret = usage_error(optind >= argc ? "which verb?" : "too many words", NULL);
	} else {
		options.interface = argv[optind + 1];
		ret = verb_run(argv[optind], &options);
	}
	free(options.from);
	return ret;
}

int main(int argc, char **argv)
{
	return gw_output_finish("guideway-decap", run(argc, argv));
}
