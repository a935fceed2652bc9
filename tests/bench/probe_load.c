/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What probing many backends costs: the real monitor against real listeners on loopback, one
 * address a backend (127.1.0.0/16), in a process of their own. Says the CPU time that this process
 * used for it, its share of a core, and how evenly probes were spread.
 *
 *	probe_load [--type tcp|http|icmp] [--backends N] [--interval MS] [--seconds N] [--limit
 *%]
 *
 * Fails when a backend is not up, when fewer than half of the probes were answered, or above
 * --limit. Loopback charges us with the kernel's work for both ends of each connection.
 */
#include "base/address.h"
#include "control/monitor.h"

#include <uv.h>

#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define SLICES 20 /* of an interval, for the spread */

static struct options {
	enum gw_config_check_type type;
	size_t backends;
	uint32_t interval_ms;
	unsigned int seconds;
	double limit;
} options = {GW_CONFIG_CHECK_TCP, 5000, 2000, 10, 0};

static uv_loop_t loop;
static struct gw_config config;
static struct gw_config_pool pool;
static struct gw_config_range expect = {200, 299};
static enum gw_health *healths;
static size_t ups, failures;
static uint16_t port;

static enum gw_health known(void *owner, const char *pool_name, const char *name)
{
	return healths[atoi(name + 1)];
}

static bool presumed(void *owner, const char *pool_name, const char *name)
{
	return false;
}

static void changed(
	void *owner, const char *pool_name, const char *name, const struct gw_health_change *change)
{
	healths[atoi(name + 1)] = change->to;
	ups += change->to == GW_HEALTH_UP;
	ups -= change->from == GW_HEALTH_UP;
}

static void failed(void *owner, const char *pool_name, const char *name, const char *text)
{
	if (!failures++)
		fprintf(stderr, "the first failure: %s: %s\n", name, text);
}

/* Accepts, answers and closes; a child, so that its time is not ours. */
static void serve(int listener)
{
	static const char answer[] =
		"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
	char request[4096];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int peer = accept(listener, NULL, NULL);

		if (peer >= 0 && options.type == GW_CONFIG_CHECK_HTTP &&
			read(peer, request, sizeof(request)) > 0 &&
			write(peer, answer, sizeof(answer) - 1) < 0)
			perror("write");
		close(peer);
	}
}

#define SERVERS 4 /* one alone would be the limit */

static pid_t servers[SERVERS];

static void servers_start(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	socklen_t length = sizeof(any);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (struct sockaddr *)&any, sizeof(any)) || listen(listener, 4096) ||
		getsockname(listener, (struct sockaddr *)&any, &length)) {
		perror("cannot listen");
		exit(1);
	}
	port = ntohs(any.sin_port);
	for (int i = 0; i < SERVERS; i++) {
		servers[i] = fork();
		if (!servers[i])
			serve(listener);
	}
	close(listener);
}

static void model_make(void)
{
	pool = (struct gw_config_pool){.name = "load",
		.backend_count = options.backends,
		.backends = calloc(options.backends, sizeof(*pool.backends)),
		.check = {.type = options.type,
			.interval_ms = options.interval_ms,
			.fast_interval_ms = options.interval_ms,
			.timeout_ms = options.interval_ms < 1000 ? options.interval_ms : 1000,
			.rise = 1,
			.fall = 3,
			.port = port,
			.path = "/",
			.expect = &expect,
			.expect_count = 1}};
	config.pools = &pool;
	config.pool_count = 1;
	healths = calloc(options.backends, sizeof(*healths));
	for (size_t i = 0; i < options.backends; i++) {
		struct gw_config_backend *backend = &pool.backends[i];
		char *name, *id, address[32];

		if (asprintf(&name, "b%zu", i) < 0 || asprintf(&id, "load/b%zu", i) < 0)
			exit(1);
		backend->name = name;
		backend->id = id;
		snprintf(address, sizeof(address), "127.1.%zu.%zu", i / 250, i % 250 + 1);
		gw_address_parse(address, backend->address);
	}
}

static void time_over(uv_timer_t *timer)
{
	uv_stop(&loop);
}

static void run_for(uint64_t milliseconds)
{
	uv_timer_t timer;

	uv_timer_init(&loop, &timer);
	uv_update_time(&loop);
	uv_timer_start(&timer, time_over, milliseconds, 0);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_close((uv_handle_t *)&timer, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
}

static double cpu_seconds(double *system)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	*system = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
	return *system + (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

/* Answers counted, and the busiest twentieth of the interval against the mean. */
static uint64_t answers_count(const struct gw_monitor *monitor, double *busiest)
{
	uint64_t slices[SLICES] = {0}, count = 0, most = 0, kept = 0;

	for (size_t i = 0; i < options.backends; i++) {
		struct gw_monitor_view view;

		if (!gw_monitor_view(monitor, "load", pool.backends[i].name, &view))
			continue;
		count += view.durations->count;
		if (view.answer_count) {
			uint64_t at = (uint64_t)view.answers[0]->time_ms % options.interval_ms;

			slices[at * SLICES / options.interval_ms]++;
			kept++;
		}
	}
	for (size_t i = 0; i < SLICES; i++)
		most = slices[i] > most ? slices[i] : most;
	*busiest = kept ? (double)most * SLICES / (double)kept : 0;
	return count;
}

static int measure(struct gw_monitor *monitor)
{
	double system, begun_system, busiest, used, begun_cpu, share;
	uint64_t begun, answers, wanted;

	run_for(2 * options.interval_ms + 500); /* everyone was asked, and is at its phase */
	begun = answers_count(monitor, &busiest);
	begun_cpu = cpu_seconds(&begun_system);
	run_for(options.seconds * 1000u);
	used = cpu_seconds(&system) - begun_cpu;
	answers = answers_count(monitor, &busiest) - begun;
	wanted = options.backends * options.seconds * 1000u / options.interval_ms;
	share = 100 * used / options.seconds;
	printf("%s: %zu backends, every %u ms: %.0f probes/s, %.1f %% of a core (%.1f us a probe, "
	       "%.0f %% of it in the kernel), busiest twentieth %.2f of the mean, failures %zu\n",
		gw_config_check_type_name(options.type), options.backends, options.interval_ms,
		(double)answers / options.seconds, share, used * 1e6 / (double)answers,
		100 * (system - begun_system) / used, busiest, failures);
	if (ups != options.backends) {
		fprintf(stderr, "only %zu of %zu backends are up\n", ups, options.backends);
		return 1;
	}
	if (answers < wanted / 2) { /* a machine with other work is late, ours are not missed */
		fprintf(stderr, "only %llu of %llu probes were answered\n",
			(unsigned long long)answers, (unsigned long long)wanted);
		return 1;
	}
	if (options.limit && share > options.limit) {
		fprintf(stderr, "more than %.1f %%\n", options.limit);
		return 1;
	}
	return 0;
}

static bool type_read(const char *value)
{
	for (int type = 0; type < GW_CONFIG_CHECK_TYPES; type++)
		if (!strcmp(value, gw_config_check_type_name(type))) {
			options.type = type;
			return true;
		}
	return false;
}

/* Whether it is an option, with a value that it can have. */
static bool option_read(const char *name, const char *value)
{
	if (!strcmp(name, "--backends"))
		options.backends = strtoul(value, NULL, 10);
	else if (!strcmp(name, "--interval"))
		options.interval_ms = (uint32_t)strtoul(value, NULL, 10);
	else if (!strcmp(name, "--seconds"))
		options.seconds = (unsigned int)strtoul(value, NULL, 10);
	else if (!strcmp(name, "--limit"))
		options.limit = strtod(value, NULL);
	else
		return !strcmp(name, "--type") && type_read(value);
	return true;
}

static bool options_read(int argc, char **argv)
{
	bool good = true;

	for (int i = 1; i < argc && good; i += 2)
		good = i + 1 < argc && option_read(argv[i], argv[i + 1]);
	if (good && options.backends && options.interval_ms && options.seconds)
		return true;
	fprintf(stderr, "Usage: probe_load [--type tcp|http|icmp] [--backends N] "
			"[--interval MS] [--seconds N] [--limit PERCENT]\n");
	return false;
}

int main(int argc, char **argv)
{
	const struct gw_monitor_events events = {
		.known = known, .presumed = presumed, .changed = changed, .failed = failed};
	struct rlimit files = {65536, 65536};
	struct gw_monitor *monitor;
	int status;

	if (!options_read(argc, argv))
		return 2;
	setrlimit(RLIMIT_NOFILE, &files);
	servers_start();
	model_make();
	if (uv_loop_init(&loop) || gw_monitor_new(&loop, &events, &monitor) ||
		gw_monitor_configure(monitor, &config)) {
		fprintf(stderr, "cannot start the monitor\n");
		return 1;
	}
	status = measure(monitor);
	gw_monitor_free(monitor);
	uv_run(&loop, UV_RUN_DEFAULT);
	for (int i = 0; i < SERVERS; i++)
		kill(servers[i], SIGKILL);
	return status;
}
