/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `guideway bundle`: what somebody who looks into an incident asks for, in one file. What cannot be
 * had (a daemon that is away, of all times) is named in it, and the rest is there.
 */
#include "cli.h"
#include "doctor.h"
#include "tar.h"
#include "value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The API leaves secrets out of the configuration. */
static const struct {
	const char *name;
	const char *path;
} parts[] = {
	{"status.json", "/v1/status"},
	{"node.json", "/v1/node"},
	{"config.json", "/v1/config"},
	{"services.json", "/v1/services"},
	{"backends.json", "/v1/backends"},
	{"overrides.json", "/v1/overrides"},
	{"pools.json", "/v1/pools"},
	{"drops.json", "/v1/drops"},
	{"flows.json", "/v1/flows"},
	{"workers.json", "/v1/workers"},
	{"history.json", "/v1/history"},
};

struct bundle {
	struct cli *cli;
	struct tar *tar;
	time_t now;
	char folder[64]; /* within the archive */
	json_t *missing; /* name -> why */
	int error;
};

static void text_add(struct bundle *bundle, const char *name, const char *text)
{
	char path[100];
	int error;

	snprintf(path, sizeof(path), "%.60s/%.30s", bundle->folder, name);
	error = tar_add(bundle->tar, path, text, strlen(text), bundle->now);
	bundle->error = bundle->error ? bundle->error : error;
}

/* Consumes the value. */
static void json_add(struct bundle *bundle, const char *name, json_t *value)
{
	char *text = json_dumps(value, JSON_INDENT(1) | JSON_ENCODE_ANY);

	if (text)
		text_add(bundle, name, text);
	else
		bundle->error = bundle->error ? bundle->error : -ENOMEM;
	free(text);
	json_decref(value);
}

static void missing_add(struct bundle *bundle, const char *name, const char *why)
{
	json_object_set_new(bundle->missing, name, json_string(why));
}

static void part_add(struct bundle *bundle, const char *name, const char *path)
{
	json_t *answer;
	int ret = cli_try(bundle->cli, path, NULL, &answer);

	if (!ret) {
		json_add(bundle, name, answer);
		return;
	}
	missing_add(bundle, name,
		value_text(answer, "error")[0] ? value_text(answer, "error")
					       : "guideway-control cannot be reached");
	json_decref(answer);
}

/* All that are kept: the API gives some at a time. */
static void events_add(struct bundle *bundle)
{
	json_t *all = json_array(), *answer, *events;
	long long next = 0;
	char path[64];

	do {
		snprintf(path, sizeof(path), "/v1/events?since=%lld", next);
		if (cli_try(bundle->cli, path, NULL, &answer)) {
			missing_add(bundle, "events.json", "guideway-control cannot be reached");
			json_decref(answer);
			json_decref(all);
			return;
		}
		events = json_object_get(answer, "events");
		json_array_extend(all, events);
		next = json_array_size(events) ? value_integer(answer, "next") : 0;
		json_decref(answer);
	} while (next);
	json_add(bundle, "events.json", all);
}

static void file_line(FILE *out, const char *path)
{
	char line[256];
	FILE *file = fopen(path, "re");

	if (!file)
		return;
	if (fgets(line, sizeof(line), file))
		fprintf(out, "%s: %s", path, line);
	fclose(file);
}

static void versions_add(struct bundle *bundle)
{
	struct utsname system;
	char stamp[40];
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", gmtime(&bundle->now));
	fprintf(out, "guideway %s\nmade %s\n", GW_VERSION, stamp);
	if (!uname(&system))
		fprintf(out, "%s %s %s %s, node %s\n", system.sysname, system.release,
			system.version, system.machine, system.nodename);
	fprintf(out, "CPUs: %ld online\n", sysconf(_SC_NPROCESSORS_ONLN));
	file_line(out, "/etc/os-release");
	file_line(out, "/proc/cmdline");
	file_line(out, "/proc/loadavg");
	if (!fclose(out))
		text_add(bundle, "versions.txt", text);
	free(text);
}

static void doctor_add(struct bundle *bundle)
{
	json_t *report = NULL;

	if (doctor_report(bundle->cli, &report))
		missing_add(
			bundle, "doctor.json", "the configuration cannot be read, or is invalid");
	else
		json_add(bundle, "doctor.json", report);
}

static void collect(struct bundle *bundle)
{
	versions_add(bundle);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		part_add(bundle, parts[i].name, parts[i].path);
	events_add(bundle);
	doctor_add(bundle);
	if (json_object_size(bundle->missing))
		json_add(bundle, "missing.json", json_incref(bundle->missing));
}

static void missing_tell(const struct bundle *bundle)
{
	const char *name;
	json_t *why;

	json_object_foreach (bundle->missing, name, why)
		cli_error("without %s: %s", name, json_string_value(why));
}

int cmd_bundle(struct cli *cli, int count, char **words)
{
	struct bundle bundle = {.cli = cli, .now = time(NULL), .missing = json_object()};
	char path[128];
	const char *file = cli->output ? cli->output : path;
	int error, closed;

	strftime(bundle.folder, sizeof(bundle.folder), "guideway-bundle-%Y%m%dT%H%M%SZ",
		gmtime(&bundle.now));
	snprintf(path, sizeof(path), "%s.tar.gz", bundle.folder);
	error = tar_open(file, &bundle.tar);
	if (!error) {
		cli->quiet = true; /* what is missing is told once, in the end */
		collect(&bundle);
		cli->quiet = false;
		closed = tar_close(bundle.tar);
		error = bundle.error ? bundle.error : closed;
		if (error)
			unlink(file);
	}
	if (error) {
		cli_error("cannot write %s: %s", file, strerror(-error));
	} else {
		missing_tell(&bundle);
		puts(file);
	}
	json_decref(bundle.missing);
	return error ? CLI_FAILED : CLI_DONE;
}
