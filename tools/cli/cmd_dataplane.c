/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From the file's `dataplane` section to guideway-dataplane's command line:
 *
 *	{name: eth1}        net_af_xdp on the kernel's interface, fed by our steering program, which
 *	                    leaves all but service traffic to the kernel
 *	{vdev: "DRIVER..."} as given
 *	{pci: ADDRESS}      a port that DPDK has a driver for, allowed by EAL's -a
 */
#include "cli.h"
#include "control/config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CONFIG_DEFAULT	"/etc/guideway/config.yaml"
#define STEER_INSTALLED GW_BPFDIR "/steer.bpf.o"

/* The object of the build tree that this program runs from, else the installed one. */
static const char *steer_find(char text[static PATH_MAX])
{
	char program[PATH_MAX], *slash;
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (length > 0) {
		program[length] = 0;
		slash = strrchr(program, '/');
		*slash = 0;
		if ((size_t)snprintf(text, PATH_MAX, "%s/../bpf/steer.bpf.o", program) < PATH_MAX &&
			!access(text, R_OK)) {
			char *resolved = realpath(text, NULL);

			if (resolved)
				snprintf(text, PATH_MAX, "%s", resolved);
			free(resolved);
			return text;
		}
	}
	return STEER_INSTALLED;
}

static void word_add(json_t *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void word_add(json_t *words, const char *format, ...)
{
	char text[PATH_MAX + 256];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	json_array_append_new(words, json_string(text));
}

static void interface_add(const struct gw_config_interface *interface, size_t number,
	const char *steer, json_t *ours, json_t *eal)
{
	char vlan[16] = "";

	if (interface->vlan)
		snprintf(vlan, sizeof(vlan), ",vlan=%u", interface->vlan);
	word_add(ours, "--port");
	if (interface->pci) {
		word_add(ours, "%s%s", interface->pci, vlan);
		word_add(eal, "-a");
		word_add(eal, "%s", interface->pci);
	} else if (interface->vdev) {
		word_add(ours, "%.*s%s", (int)strcspn(interface->vdev, ","), interface->vdev, vlan);
		word_add(eal, "--vdev=%s", interface->vdev);
	} else {
		word_add(ours, "net_af_xdp%zu,kernel=%s%s,steer", number, interface->name, vlan);
		word_add(eal, "--vdev=net_af_xdp%zu,iface=%s,xdp_prog=%s", number, interface->name,
			steer);
	}
}

/* Without a device of its own, EAL would look through the PCI bus and take ports it is not given.
 */
static bool wants_pci(const struct gw_config_dataplane *dataplane)
{
	for (size_t i = 0; i < dataplane->interface_count; i++)
		if (dataplane->interfaces[i].pci)
			return true;
	return false;
}

/* One worker, beside CPU 0 where the kernel and everything else begins, if there is another. */
static const char *cpu_default(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) > 1 ? "1" : "0";
}

static json_t *arguments_make(const struct gw_config *config, const char *steer)
{
	const struct gw_config_dataplane *dataplane = &config->dataplane;
	json_t *ours = json_array(), *eal = json_array();

	for (size_t i = 0; i < dataplane->interface_count; i++)
		interface_add(&dataplane->interfaces[i], i, steer, ours, eal);
	word_add(ours, "--cpus");
	word_add(ours, "%s", dataplane->cpus_text ? dataplane->cpus_text : cpu_default());
	word_add(ours, "--flows");
	word_add(ours, "%u", dataplane->flows);
	word_add(ours, "--socket");
	word_add(ours, "%s", dataplane->socket);
	word_add(ours, "--poll");
	word_add(ours, dataplane->poll_busy ? "busy" : "adaptive");
	word_add(ours, "--");
	if (!wants_pci(dataplane))
		word_add(eal, "--no-pci");
	json_array_extend(ours, eal);
	json_decref(eal);
	return ours;
}

/* A word as a shell reads it back; systemd's and sh's rules agree on what is written here. */
static void word_print(const char *word)
{
	if (word[0] && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "-_=,.:/@+") == strlen(word)) {
		fputs(word, stdout);
		return;
	}
	putchar('\'');
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*word);
	putchar('\'');
}

static void arguments_print(const json_t *words)
{
	const json_t *word;
	size_t i;

	json_array_foreach (words, i, word) {
		if (i)
			putchar(' ');
		word_print(json_string_value(word));
	}
	putchar('\n');
}

int cmd_dataplane_args(struct cli *cli, int count, char **words)
{
	const char *path = cli->config ? cli->config : CONFIG_DEFAULT;
	struct gw_config_errors errors = {0};
	struct gw_config *config;
	char found[PATH_MAX];
	json_t *arguments;
	int ret;

	ret = gw_config_load(path, 0, &config, &errors);
	if (ret)
		gw_config_errors_print(&errors, stderr);
	gw_config_errors_free(&errors);
	if (ret)
		return ret == -ENOMEM ? CLI_FAILED : CLI_INVALID;
	if (config->dataplane.path != GW_CONFIG_PATH_DPDK) {
		cli_error("%s: dataplane.path is xdp, which needs no guideway-dataplane: "
			  "guideway-control loads the program itself",
			path);
		ret = CLI_FAILED;
	} else if (!config->dataplane.interface_count) {
		cli_error("%s: dataplane.interfaces is missing: no port to name", path);
		ret = CLI_INVALID;
	} else {
		arguments = arguments_make(config, cli->steer ? cli->steer : steer_find(found));
		if (cli->json)
			ret = cli_print_json(arguments);
		else
			arguments_print(arguments);
		json_decref(arguments);
	}
	gw_config_free(config);
	return ret;
}
