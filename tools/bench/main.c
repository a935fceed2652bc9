/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-bench: packets per second of the real worker code, beside the bound, on this machine.
 */
#include "base/log.h"
#include "base/output.h"
#include "bench/core/bench.h"
#include "bench/core/huge.h"
#include "bench/core/machine.h"
#include "bench/core/measure.h"
#include "bench/core/options.h"
#include "bench/core/plan.h"
#include "bench/report/report.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUGE_BASE  (UINT64_C(256) << 20) /* frames, EAL, tables of one case */
#define FLOW_BYTES 16
#define PATH_TEXT  4096

static volatile sig_atomic_t interrupted;

static void interrupt(int signal)
{
	interrupted = signal;
}

/* Namespaces, pins and pages are given back by ending as always; a second signal ends at once. */
static void signals_take(void)
{
	struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	/* Nobody reads on (`| head`): more will be written before the end, each a signal. */
	action.sa_flags = 0;
	sigaction(SIGPIPE, &action, NULL);
}

struct progress {
	bool shown;
	size_t index, count;
	const struct bench_case *what;
};

static void progress_show(void *owner, const char *step, uint32_t done, uint32_t of)
{
	const struct progress *progress = owner;

	if (!progress->shown)
		return;
	fprintf(stderr, "\r\033[K[%zu/%zu] %s %s: %s", progress->index + 1, progress->count,
		progress->what->path, progress->what->mode, step);
	if (done)
		fprintf(stderr, " %u of %u", done, of);
	fflush(stderr);
}

/* What goes on inside a measurement that takes minutes. */
static void progress_tell(void *owner, const char *line)
{
	const struct progress *progress = owner;

	if (progress->shown)
		fprintf(stderr, "\r\033[K%s\n", line);
}

static void progress_clear(const struct progress *progress)
{
	if (progress->shown)
		fputs("\r\033[K", stderr);
}

/* Are as many huge pages free as the largest case needs? */
static bool huge_enough(const struct options *options, const struct plan *plan, uint64_t unused)
{
	uint64_t most = 0;

	for (size_t i = 0; i < plan->case_count; i++) {
		const struct bench_case *what = &plan->cases[i];
		uint64_t need = what->table_flows * FLOW_BYTES +
				(uint64_t)what->pools * what->table_size * 2;

		if (need > most)
			most = need;
	}
	return !options->no_huge && unused >= HUGE_BASE + most;
}

static struct bench_machine machine_of(
	const struct options *options, const struct machine *machine, bool huge_pages)
{
	return (struct bench_machine){.cpu = machine->cpu,
		.generator_cpu = machine->generator_cpu,
		.gen = options->gen,
		.dut = options->dut,
		.resolution = options->resolution,
		.repeats = options->repeats,
		.eal_args = options->eal_args ? options->eal_args : "",
		.huge_pages = huge_pages};
}

/* One line, or one object in `list` when that is wanted. */
static void list_line(json_t *list, const char *path, const char *mode,
	const struct bench_runner *runner, const struct bench_machine *machine)
{
	char message[BENCH_MESSAGE] = "not part of this build";
	bool able = runner && (!runner->able || !runner->able(machine, message));

	if (list)
		json_array_append_new(
			list, json_pack("{s:s, s:s, s:b, s:s}", "path", path, "mode", mode, "able",
				      able, able ? "what" : "why", able ? runner->what : message));
	else
		printf("%-5s %-5s %-4s %s\n", path, mode, able ? "yes" : "no",
			able ? runner->what : message);
}

static int list_print(const struct options *options, const struct machine *machine)
{
	static const char *const paths[] = {"dpdk", "xdp"};
	static const char *const modes[] = {"cpu", "link", "nic"};
	struct bench_machine bench = machine_of(options, machine, false);
	json_t *list = options->json ? json_array() : NULL;

	for (size_t p = 0; p < 2; p++)
		for (size_t m = 0; m < 3; m++) {
			const struct bench_runner *runner = bench_runner_find(paths[p], modes[m]);

			/* XDP's link mode measures any interface. */
			if (runner || strcmp(paths[p], "xdp") || strcmp(modes[m], "nic"))
				list_line(list, paths[p], modes[m], runner, &bench);
		}
	if (list) {
		json_dumpf(list, stdout, JSON_INDENT(2));
		putchar('\n');
		json_decref(list);
	}
	return EXIT_DONE;
}

/*
 * Without --path a path that this machine cannot run is left out, with a word; asked for, it fails
 * like any case. -1 when none is left.
 */
static int paths_choose(struct options *options, const struct bench_machine *machine)
{
	static const char *const paths[] = {"dpdk", "xdp"};
	const struct axis_list *modes = &options->lists[AXIS_MODE];
	const char *mode = modes->count ? modes->values[0].word : "cpu";
	struct axis_list *list = &options->lists[AXIS_PATH];
	char messages[2][BENCH_MESSAGE];

	if (list->count || options->sweep_count || modes->count > 1)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		const struct bench_runner *runner = bench_runner_find(paths[i], mode);

		snprintf(messages[i], BENCH_MESSAGE, "not part of this build");
		if (runner && (!runner->able || !runner->able(machine, messages[i])))
			list->values[list->count++] = (struct axis_value){.word = paths[i]};
		else if (strcmp(paths[i], "xdp") || strcmp(mode, "nic"))
			gw_log_warning("path %s, mode %s: %s", paths[i], mode, messages[i]);
	}
	return list->count ? 0 : -1;
}

static int measure_all(
	struct report *report, struct measure_options *how, const struct options *options)
{
	bool table = !options->json || options->json_path;
	struct progress progress = {.shown = !options->quiet && isatty(STDERR_FILENO) &&
					     (!options->json || options->json_path),
		.count = report->plan->case_count};
	size_t figures = 0, wrong = 0;

	how->progress = progress_show;
	how->owner = &progress;
	how->machine.tell = progress_tell;
	how->machine.tell_owner = &progress;
	for (size_t g = 0; g < report->plan->group_count && !interrupted; g++) {
		const struct plan_group *group = &report->plan->groups[g];

		if (table)
			report_head(report, group, stdout);
		for (size_t i = group->first; i < group->first + group->count && !interrupted;
			i++) {
			struct measurement *one = &report->measurements[i];

			progress.index = i;
			progress.what = &report->plan->cases[i];
			measure_case(how,
				bench_runner_find(progress.what->path, progress.what->mode),
				progress.what, one);
			report->count++;
			figures += one->outcome == OUTCOME_FIGURE;
			wrong += one->outcome == OUTCOME_REFUSED || one->outcome == OUTCOME_FAILED;
			progress_clear(&progress);
			if (table)
				report_line(report, group, i, stdout);
			else if (one->outcome != OUTCOME_FIGURE)
				gw_log_warning("%s %s, %llu flows: no figure: %s", one->what->path,
					one->what->mode, (unsigned long long)one->what->flows,
					one->why);
		}
	}
	if (table)
		report_tail(report, stdout);
	return wrong || !figures ? EXIT_FAILED : EXIT_DONE;
}

static int write_json(const struct report *report, const struct options *options)
{
	json_t *json = report_json(report);
	const char *path = options->json_path;
	const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(9);
	FILE *out = path ? fopen(path, "we") : stdout;
	int failed;

	if (!out || !json) {
		gw_log_error("--json: cannot write '%s': %s", path ? path : "-",
			json ? strerror(errno) : "out of memory");
		json_decref(json);
		return EXIT_FAILED;
	}
	failed = json_dumpf(json, out, flags) || fputc('\n', out) == EOF;
	json_decref(json);
	if (out != stdout && (fclose(out) || failed)) {
		gw_log_error("--json: cannot write '%s': %s", path, strerror(errno));
		return EXIT_FAILED;
	}
	return EXIT_DONE; /* standard output is checked at the end */
}

static bool is_folder(const char *path)
{
	struct stat stat_of;

	return !stat(path, &stat_of) && S_ISDIR(stat_of.st_mode);
}

/* Leaves no empty file where there was none: the run may fail or be ended. */
static bool can_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	FILE *file;

	if (fd >= 0)
		return !close(fd) && !unlink(path);
	file = fopen(path, "ae");
	return file && !fclose(file);
}

/* Said before the first measurement and not after the last: that may be an hour. */
static int outputs_prepare(const struct options *options, const struct plan *plan)
{
	const char *json = options->json_path, *svg = options->svg;
	bool folder = svg && (plan->group_count > 1 || is_folder(svg));

	if (json && !can_write(json)) {
		gw_log_error("--json: cannot write '%s': %s", json, strerror(errno));
		return EXIT_FAILED;
	}
	if (svg && (folder ? mkdir(svg, 0777) && errno != EEXIST : !can_write(svg))) {
		gw_log_error("--svg: cannot write '%s': %s", svg, strerror(errno));
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}

static int write_charts(const struct report *report, const char *path)
{
	bool folder = is_folder(path);
	int status = EXIT_DONE;

	for (size_t g = 0; g < report->plan->group_count; g++) {
		const struct plan_group *group = &report->plan->groups[g];
		char file[PATH_TEXT];
		int failed;

		snprintf(file, sizeof(file), "%s%s%s%s", path, folder ? "/" : "",
			!folder	       ? ""
			: group->sweep ? group->sweep->name
				       : axes[group->along].option,
			folder ? ".svg" : "");
		failed = report_svg(report, group, file);
		if (failed == -ENODATA) {
			gw_log_warning("--svg: no figure for '%s', it is not drawn", file);
		} else if (failed) {
			gw_log_error("--svg: cannot write '%s': %s", file, strerror(-failed));
			status = EXIT_FAILED;
		}
	}
	return status;
}

/* Charts of figures that were measured before. */
static int draw_again(const struct options *options)
{
	char message[BENCH_MESSAGE];
	struct past past;
	int status;

	if (report_read(options->from, &past, message)) {
		gw_log_error("--from: cannot read '%s': %s", options->from, message);
		return EXIT_FAILED;
	}
	status = outputs_prepare(options, &past.plan);
	if (!status)
		status = write_charts(&past.report, options->svg);
	past_free(&past);
	return status;
}

/* A port that is not there fails every case alike, after those of other modes were measured. */
static int ports_try(const struct plan *plan, const struct bench_machine *machine)
{
	const struct bench_runner *tried = NULL;
	char message[BENCH_MESSAGE];

	for (size_t i = 0; i < plan->case_count && !interrupted; i++) {
		const struct bench_case *what = &plan->cases[i];
		const struct bench_runner *runner = bench_runner_find(what->path, what->mode);

		if (!runner || !runner->try_ports || runner == tried ||
			(runner->able && runner->able(machine, message)))
			continue;
		if (runner->try_ports(machine, what, message)) {
			gw_log_error("path %s, mode %s: %s", what->path, what->mode, message);
			return EXIT_FAILED;
		}
		tried = runner;
	}
	return EXIT_DONE;
}

static int measure(struct options *options, const struct machine *machine, struct plan *plan)
{
	struct report report = {.plan = plan,
		.machine = machine,
		.huge_pages = huge_enough(options, plan, machine->huge_free),
		.seconds = options->seconds,
		.rounds = options->rounds};
	struct measure_options how = {.machine = machine_of(options, machine, report.huge_pages),
		.seconds = options->seconds,
		.rounds = options->rounds,
		.steady = options->steady,
		.tsc_hz = machine->tsc_hz,
		.stop = &interrupted};
	cpu_set_t cpus;
	int status;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		how.cpus = &cpus;
	report.measurements = calloc(plan->case_count, sizeof(*report.measurements));
	if (!report.measurements) {
		gw_log_error("out of memory for %zu cases", plan->case_count);
		return EXIT_FAILED;
	}
	if (ports_try(plan, &how.machine)) {
		free(report.measurements);
		return EXIT_FAILED;
	}
	status = measure_all(&report, &how, options);
	if (options->json && write_json(&report, options))
		status = EXIT_FAILED;
	if (options->svg && write_charts(&report, options->svg))
		status = EXIT_FAILED;
	for (size_t i = 0; i < report.count; i++)
		measurement_free(&report.measurements[i]);
	free(report.measurements);
	return interrupted ? EXIT_FAILED : status;
}

/* Of what all cases have in common. */
static int config_print(const struct plan *plan)
{
	static const enum axis_id said[] = {AXIS_FAMILY, AXIS_ENCAP, AXIS_TRACKED, AXIS_SERVICES,
		AXIS_POOLS, AXIS_BACKENDS, AXIS_TABLE_SIZE};

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		if (plan->group_count == 1 && !group_varies(plan, &plan->groups[0], said[i]))
			continue;
		gw_log_error("--print-config: one configuration at a time, but --%s varies",
			axes[said[i]].option);
		return EXIT_USAGE;
	}
	bench_print_config(&plan->cases[0], stdout);
	return EXIT_DONE;
}

static int plan_and_measure(struct options *options, const struct machine *machine)
{
	struct bench_machine bench = machine_of(options, machine, false);
	char message[BENCH_MESSAGE] = "out of memory";
	struct plan plan;
	int status;

	if (paths_choose(options, &bench)) {
		gw_log_error("nothing can be measured here; --list says why not");
		return EXIT_FAILED;
	}
	status = plan_make(options->lists, options->sweeps, options->sweep_count, &plan, message);
	if (status) {
		gw_log_error("%s", message);
		return status == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	}
	if (options->print_config)
		status = config_print(&plan);
	else
		status = outputs_prepare(options, &plan);
	if (!status && !options->print_config)
		status = measure(options, machine, &plan);
	plan_free(&plan);
	return status;
}

/* The balancer's side of a nic between two hosts; runners.c knows whether this build has it. */
static int serve(const struct options *options, const struct machine *machine)
{
	uint64_t most = machine->huge_free;
	struct bench_machine bench =
		machine_of(options, machine, !options->no_huge && most >= HUGE_BASE);
	char message[BENCH_MESSAGE] = "not part of this build";

	if (!bench_serve(&bench, options->listen, &interrupted, message))
		return EXIT_DONE;
	gw_log_error("%s", message);
	return EXIT_FAILED;
}

static int cpu_check(const char *option, int cpu)
{
	cpu_set_t allowed;

	if (cpu < 0 || sched_getaffinity(0, sizeof(allowed), &allowed))
		return 0;
	if (cpu < CPU_SETSIZE && CPU_ISSET(cpu, &allowed))
		return 0;
	gw_log_error(
		"--%s: CPU %d is not there, or not this process's to use (see `taskset -p $$`)",
		option, cpu);
	return EXIT_USAGE;
}

static int run(int argc, char **argv)
{
	struct options options;
	struct machine machine;
	int status = options_read(&options, argc, argv);

	if (status >= 0) {
		options_free(&options);
		return status;
	}
	gw_log_open("guideway-bench", GW_LOG_WARNING);
	if (options.from) {
		status = draw_again(&options);
		options_free(&options);
		return status;
	}
	machine_cpus_widen();
	if (cpu_check("cpu", options.cpu) || cpu_check("generator-cpu", options.generator_cpu)) {
		options_free(&options);
		return EXIT_USAGE;
	}
	signals_take();
	status = options.huge ? huge_reserve(options.huge) : 0;
	if (status) {
		gw_log_error("--huge: cannot reserve %u pages of 2 MB: %s", options.huge,
			strerror(-status));
		status = EXIT_FAILED;
	} else {
		machine_read(&machine, options.cpu, options.generator_cpu);
		if (options.list)
			status = list_print(&options, &machine);
		else if (options.listen)
			status = serve(&options, &machine);
		else
			status = plan_and_measure(&options, &machine);
	}
	huge_give_back();
	options_free(&options);
	return status;
}

int main(int argc, char **argv)
{
	if (argc == 2 && argv[1][0] == '@') {
		int status = bench_child_main(argv[1]);

		if (status >= 0)
			return status;
	}
	return gw_output_finish("guideway-bench", run(argc, argv));
}
