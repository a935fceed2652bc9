/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-bench: packets per second of the real worker code, beside the bound, on this machine.
 */
#include "base/log.h"
#include "base/output.h"
#include "bench.h"
#include "measure.h"
#include "options.h"
#include "plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int run(int argc, char **argv)
{
	struct options options;
	struct plan plan = {0};
	char message[BENCH_MESSAGE] = "";
	int status = options_read(&options, argc, argv);

	gw_log_open("guideway-bench", GW_LOG_WARNING);
	if (status < 0) {
		status = plan_make(
				 options.lists, options.sweeps, options.sweep_count, &plan, message)
				 ? EXIT_USAGE
				 : EXIT_DONE;
		if (status)
			gw_log_error("%s", message);
	}
	for (size_t i = 0; i < plan.case_count; i++) {
		struct measure_options how = {.machine = {.cpu = options.cpu < 0 ? 1 : options.cpu,
						      .eal_args = options.eal_args},
			.seconds = options.seconds,
			.rounds = options.rounds};
		const struct bench_case *what = &plan.cases[i];
		struct measurement measurement;

		measure_case(&how, bench_runner_find(what->path, what->mode), what, &measurement);
		printf("%s %s %lu flows: %.1f ns, bound %.1f ns %s\n", what->path, what->mode,
			what->flows, measurement.ns.median, measurement.bound_ns.median,
			measurement.why);
		if (measurement.outcome != OUTCOME_FIGURE)
			status = EXIT_FAILED;
		measurement_free(&measurement);
	}
	plan_free(&plan);
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
