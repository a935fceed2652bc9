/* SPDX-License-Identifier: BSD-2-Clause */
/* The commands `doctor` and `setup`; doctor.h says how looks work. */
#include "doctor.h"

#include "cli.h"
#include "control/config.h"
#include "value.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONFIG_DEFAULT "/etc/guideway/config.yaml"

extern char **environ;

/* "net_af_packet0,iface=eth1" */
static bool vdev_interface(const char *vdev, char name[static IF_NAMESIZE])
{
	const char *found = strstr(vdev, "iface=");
	size_t length;

	if (!found)
		return false;
	found += strlen("iface=");
	length = strcspn(found, ",");
	if (!length || length >= IF_NAMESIZE)
		return false;
	memcpy(name, found, length);
	name[length] = 0;
	return true;
}

static void interfaces_collect(struct doctor *doctor)
{
	const struct gw_config_dataplane *dataplane = &doctor->config->dataplane;

	for (size_t i = 0; i < dataplane->interface_count; i++) {
		const struct gw_config_interface *config = &dataplane->interfaces[i];
		struct doctor_interface *interface = &doctor->interfaces[doctor->interface_count];

		if (doctor->interface_count == DOCTOR_INTERFACES)
			return;
		if (config->name)
			snprintf(interface->name, sizeof(interface->name), "%s", config->name);
		else if (!config->vdev || !vdev_interface(config->vdev, interface->name))
			continue;
		interface->config = config;
		doctor->interface_count++;
	}
}

void doctor_look(struct doctor *doctor)
{
	interfaces_collect(doctor);
	doctor_look_links(doctor);
	doctor_look_devices(doctor);
	doctor_look_kernel(doctor);
	doctor_look_machine(doctor);
}

static bool is_finding(const json_t *look)
{
	return !strcmp(value_text(look, "state"), "finding");
}

static size_t findings_count(const json_t *looks)
{
	const json_t *look;
	size_t count = 0, i;

	json_array_foreach (looks, i, look)
		count += is_finding(look);
	return count;
}

/* The file to judge by: the one named, the running daemon's, or the usual one. */
static int config_find(struct cli *cli, char path[static 4096])
{
	json_t *status = NULL;
	const char *file = cli->config;

	if (!file && !access(cli->socket, F_OK) && !cli_try(cli, "/v1/status", NULL, &status))
		file = json_string_value(
			json_object_get(json_object_get(status, "config"), "file"));
	snprintf(path, 4096, "%s", file ? file : CONFIG_DEFAULT);
	json_decref(status);
	return CLI_DONE;
}

/* Loads the file and looks; the caller frees the configuration and the looks. */
static int examine(struct cli *cli, struct doctor *doctor, struct gw_config **config)
{
	struct gw_config_errors errors = {0};
	char path[4096];
	int ret = config_find(cli, path);

	if (ret)
		return ret;
	ret = gw_config_load(path, 0, config, &errors);
	if (ret && !cli->quiet)
		gw_config_errors_print(&errors, stderr);
	gw_config_errors_free(&errors);
	if (ret)
		return ret == -ENOMEM ? CLI_FAILED : CLI_INVALID;
	*doctor = (struct doctor){.config = *config, .root = "", .looks = json_array()};
	doctor_look(doctor);
	return CLI_DONE;
}

static void command_print(const char *before, const json_t *command)
{
	char *text = doctor_command_text(command);

	printf("%s%s\n", before, text ? text : "");
	free(text);
}

static void look_print(const struct cli *cli, const json_t *look)
{
	bool finding = is_finding(look);
	const json_t *command;
	size_t i;

	printf("%s%-7s%s  %-11s %s\n", finding && cli->color ? "\033[31m" : "",
		finding ? "finding" : value_text(look, "state"),
		finding && cli->color ? "\033[0m" : "", value_text(look, "check"),
		value_text(look, "what"));
	if (!finding)
		return;
	printf("         why         %s\n", value_text(look, "why"));
	json_array_foreach (json_object_get(look, "commands"), i, command)
		command_print("         do          ", command);
	if (value_text(look, "advice")[0])
		printf("         note        %s\n", value_text(look, "advice"));
}

/* Commands as people and scripts paste them. */
static json_t *report_json(const struct doctor *doctor, size_t findings)
{
	json_t *checks = json_deep_copy(doctor->looks), *look, *command;
	size_t i, j;

	json_array_foreach (checks, i, look)
		json_array_foreach (json_object_get(look, "commands"), j, command) {
			char *text = doctor_command_text(command);

			json_array_set_new(json_object_get(look, "commands"), j,
				json_string(text ? text : ""));
			free(text);
		}
	return json_pack("{s:s, s:s, s:I, s:o}", "path",
		gw_config_path_name(doctor->config->dataplane.path), "config",
		doctor->config->files[0], "findings", (json_int_t)findings, "checks", checks);
}

static int report_print(const struct cli *cli, const struct doctor *doctor)
{
	size_t findings = findings_count(doctor->looks), i;
	json_t *look, *report;
	int ret = CLI_DONE;

	if (cli->json) {
		report = report_json(doctor, findings);
		ret = cli_print_json(report);
		json_decref(report);
	} else {
		json_array_foreach (doctor->looks, i, look)
			if (cli->all || is_finding(look))
				look_print(cli, look);
		printf("%s%zu checks for path %s (%s): %zu findings\n",
			findings || cli->all ? "\n" : "", json_array_size(doctor->looks),
			gw_config_path_name(doctor->config->dataplane.path),
			doctor->config->files[0], findings);
	}
	return ret ? ret : findings ? CLI_FAILED : CLI_DONE;
}

int doctor_report(struct cli *cli, json_t **out)
{
	struct gw_config *config = NULL;
	struct doctor doctor;
	int ret = examine(cli, &doctor, &config);

	if (ret)
		return ret;
	*out = report_json(&doctor, findings_count(doctor.looks));
	json_decref(doctor.looks);
	gw_config_free(config);
	return CLI_DONE;
}

int cmd_doctor(struct cli *cli, int count, char **words)
{
	struct gw_config *config = NULL;
	struct doctor doctor;
	int ret = examine(cli, &doctor, &config);

	if (ret)
		return ret;
	ret = report_print(cli, &doctor);
	json_decref(doctor.looks);
	gw_config_free(config);
	return ret;
}

/* Setup: what doctor advises, done. */

static int command_run(const json_t *command)
{
	char *words[16] = {0};
	const json_t *word;
	int status, error;
	size_t i;
	pid_t pid;

	json_array_foreach (command, i, word)
		if (i < sizeof(words) / sizeof(words[0]) - 1)
			words[i] = (char *)json_string_value(word);
	fflush(stdout);
	error = posix_spawnp(&pid, words[0], NULL, NULL, words, environ);
	if (error) {
		cli_error("%s: %s", words[0], strerror(error));
		return CLI_FAILED;
	}
	if (waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status)) {
		cli_error("%s failed", words[0]);
		return CLI_FAILED;
	}
	return CLI_DONE;
}

/* Binding a card or taking an address away may cut the way to this machine: by hand. */
static bool may_apply(const json_t *look)
{
	const char *check = value_text(look, "check");

	return strcmp(check, "driver") && strcmp(check, "vip");
}

static int commands_apply(const json_t *look)
{
	const json_t *commands = json_object_get(look, "commands"), *command;
	int ret = CLI_DONE;
	size_t i;

	json_array_foreach (commands, i, command) {
		command_print("  ", command);
		if (command_run(command))
			ret = CLI_FAILED;
	}
	return ret;
}

static void commands_print(const json_t *look)
{
	const json_t *command;
	size_t i;

	json_array_foreach (json_object_get(look, "commands"), i, command)
		command_print("", command);
	if (value_text(look, "advice")[0])
		printf("# %s\n", value_text(look, "advice"));
}

static int findings_mend(const struct cli *cli, const struct doctor *doctor)
{
	const json_t *look;
	int ret = CLI_DONE;
	size_t i;

	json_array_foreach (doctor->looks, i, look) {
		if (!is_finding(look))
			continue;
		printf("# %s\n", value_text(look, "what"));
		if (!cli->apply || !may_apply(look))
			commands_print(look);
		else if (commands_apply(look))
			ret = CLI_FAILED;
	}
	return ret;
}

int cmd_setup(struct cli *cli, int count, char **words)
{
	struct gw_config *config = NULL;
	struct doctor doctor;
	size_t findings;
	int ret = examine(cli, &doctor, &config);

	if (ret)
		return ret;
	findings = findings_count(doctor.looks);
	ret = findings_mend(cli, &doctor);
	if (cli->apply && findings) {
		json_decref(doctor.looks);
		doctor = (struct doctor){.config = config, .root = "", .looks = json_array()};
		doctor_look(&doctor);
		printf("# %zu of %zu findings are left\n", findings_count(doctor.looks), findings);
		ret = ret || findings_count(doctor.looks) ? CLI_FAILED : CLI_DONE;
	} else if (!findings) {
		puts("# nothing to do");
	}
	if (findings)
		puts("# these last until the machine's next start: /etc/sysctl.d and the "
		     "network's\n"
		     "# configuration are the places for good");
	json_decref(doctor.looks);
	gw_config_free(config);
	return ret;
}
