/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/events.h"
#include "control/listeners.h"
#include "metrics_families.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double seconds_of(int64_t wall_ms)
{
	return (double)wall_ms / 1e3;
}

static void config_write(struct metrics_text *text, const struct gw_daemon *daemon)
{
	metrics_one_count(text, "guideway_config_last_reload_successful", METRICS_GAUGE,
		"Whether the last attempt to read the configuration file succeeded.",
		daemon->load.valid);
	metrics_one_real(text, "guideway_config_last_reload_timestamp_seconds", METRICS_GAUGE,
		"When the configuration file was last read, successfully or not.",
		seconds_of(daemon->load.time_ms));
	metrics_one_real(text, "guideway_config_last_reload_success_timestamp_seconds",
		METRICS_GAUGE, "When the configuration in use was read.",
		seconds_of(daemon->loaded_ms));
}

static void snapshot_write(struct metrics_text *text, const struct gw_daemon *daemon)
{
	const struct gw_daemon_datapath *datapath = &daemon->datapath;

	metrics_one_count(text, "guideway_datapath_present", METRICS_GAUGE,
		"Whether the datapath is there.", datapath->present);
	metrics_one_count(text, "guideway_snapshot_built_version", METRICS_GAUGE,
		"Version of the newest snapshot.", daemon->build->version);
	metrics_one_count(text, "guideway_snapshot_in_force_version", METRICS_GAUGE,
		"Version of the snapshot that decides packets.", datapath->in_force);
	metrics_one_count(text, "guideway_snapshot_refused", METRICS_GAUGE,
		"Whether the datapath refused the newest snapshot.", datapath->refused != 0);
	metrics_one_real(text, "guideway_snapshot_build_seconds", METRICS_GAUGE,
		"How long the newest snapshot took to build.",
		(double)daemon->build->took_ns / 1e9);
	metrics_one_real(text, "guideway_snapshot_swap_seconds", METRICS_GAUGE,
		"How long the last snapshot took to come into force.",
		(double)datapath->took_ns / 1e9);
	if (!datapath->in_force_ms)
		return; /* adopted: nobody remembers since when */
	metrics_one_real(text, "guideway_snapshot_in_force_timestamp_seconds", METRICS_GAUGE,
		"When the snapshot that decides packets came into force.",
		seconds_of(datapath->in_force_ms));
	metrics_one_real(text, "guideway_snapshot_age_seconds", METRICS_GAUGE,
		"For how long the snapshot that decides packets has been in force.",
		seconds_of(gw_time_wall_ms() - datapath->in_force_ms));
}

static void event_write(void *owner, const char *kind, uint64_t count)
{
	metrics_sample(owner, &(struct metrics_label){"kind", kind}, 1);
	metrics_count(owner, count);
}

static void api_write(struct metrics_text *text, const struct gw_daemon *daemon)
{
	int64_t end = gw_listeners_certificate_end(daemon);

	metrics_family(text, "guideway_events_total", METRICS_COUNTER,
		"Events since the daemon's start, by kind.");
	gw_events_counts(daemon->events, event_write, text);
	metrics_one_count(text, "guideway_api_requests_total", METRICS_COUNTER,
		"Requests to the API.", daemon->api.requests);
	metrics_one_count(text, "guideway_api_unauthorized_total", METRICS_COUNTER,
		"Requests to the API without a valid token.", daemon->api.refused);
	metrics_one_count(text, "guideway_api_changes_total", METRICS_COUNTER,
		"Changes that were asked for through the API, done or not.", daemon->api.changes);
	if (end)
		metrics_one_real(text, "guideway_api_certificate_expiry_timestamp_seconds",
			METRICS_GAUGE, "When the API's TLS certificate ends.", seconds_of(end));
}

static unsigned int descriptors_open(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count > 3 ? count - 3 : 0; /* ".", ".." and the folder's own */
}

static void process_write(struct metrics_text *text)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	struct rusage usage;

	if (file && fscanf(file, "%*u %lu", &pages) == 1)
		metrics_one_count(text, "process_resident_memory_bytes", METRICS_GAUGE,
			"Memory that guideway-control has resident.",
			pages * (uint64_t)sysconf(_SC_PAGESIZE));
	if (file)
		fclose(file);
	if (!getrusage(RUSAGE_SELF, &usage))
		metrics_one_real(text, "process_cpu_seconds_total", METRICS_COUNTER,
			"CPU time of guideway-control.",
			(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
				(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
	metrics_one_count(text, "process_open_fds", METRICS_GAUGE,
		"Descriptors that guideway-control has open.", descriptors_open());
}

void metrics_daemon(struct metrics_text *text, struct gw_daemon *daemon)
{
	const char *node = daemon->config->node.name;
	const struct metrics_label labels[] = {
		{"version", GW_VERSION},
		{"path", daemon->publisher->ops->name},
		{"node", node ? node : ""},
	};

	metrics_family(
		text, "guideway_info", METRICS_GAUGE, "Version, datapath and node; always 1.");
	metrics_sample(text, labels, 3);
	metrics_count(text, 1);
	metrics_one_real(text, "guideway_start_time_seconds", METRICS_GAUGE,
		"When guideway-control started.", seconds_of(daemon->start_ms));
	config_write(text, daemon);
	snapshot_write(text, daemon);
	api_write(text, daemon);
	metrics_one_count(text, "guideway_metrics_scrapes_total", METRICS_COUNTER,
		"Times that these metrics were asked for.", daemon->metrics.scrapes);
	metrics_one_real(text, "guideway_metrics_last_build_seconds", METRICS_GAUGE,
		"How long the text of an earlier scrape took to make.", daemon->metrics.took_s);
	process_write(text);
}
