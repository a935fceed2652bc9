/* SPDX-License-Identifier: BSD-2-Clause */
/* `backend explain`: why a backend is what it is, and what will change that. */
#include "backends.h"
#include "value.h"

#include <stdio.h>
#include <string.h>

static void probe_print(const json_t *probe)
{
	const json_t *answers = json_object_get(probe, "answers"), *answer;
	size_t i;

	printf("\nprobe         %s %s%s", value_text(probe, "type"), value_text(probe, "address"),
		value_integer(probe, "port") ? "" : "\n");
	if (value_integer(probe, "port"))
		printf(" port %lld\n", value_integer(probe, "port"));
	printf("  pool        %s\n", value_text(probe, "pool"));
	printf("  way         %s, every %lld ms (%lld ms in transition), timeout %lld ms\n",
		value_text(probe, "via"), value_integer(probe, "interval_ms"),
		value_integer(probe, "fast_interval_ms"), value_integer(probe, "timeout_ms"));
	if (value_integer(probe, "shared_by") > 1)
		printf("  shared      answers for %lld backends\n",
			value_integer(probe, "shared_by"));
	printf("  health      %s: %s\n", value_text(probe, "health"), value_text(probe, "next"));
	if (json_is_true(json_object_get(probe, "under_way")))
		printf("  next probe  under way\n");
	else
		printf("  next probe  in %lld ms\n", value_integer(probe, "due_in_ms"));
	json_array_foreach (answers, i, answer)
		printf("  %-10s  %s  %-7s  %8.2f ms  %s\n", i ? "" : "answers",
			value_text(answer, "time"),
			json_is_true(json_object_get(answer, "success")) ? "success" : "failure",
			value_real(answer, "duration_ms"), value_text(answer, "text"));
}

static void explain_print(const json_t *backend)
{
	const json_t *probes = json_object_get(backend, "probes"), *probe;
	size_t i;

	printf("backend       %s/%s, %s\n", value_text(backend, "pool"),
		value_text(backend, "name"), value_text(backend, "address"));
	printf("state         %s: %s\n", value_text(backend, "state"),
		value_text(backend, "reason"));
	if (value_text(backend, "drain_until")[0])
		printf("drains until  %s\n", value_text(backend, "drain_until"));
	if (value_text(backend, "held_until")[0])
		printf("held until    %s, after %lld times down\n",
			value_text(backend, "held_until"), value_integer(backend, "flips"));
	else if (value_integer(backend, "flips"))
		printf("went down     %lld times without staying up in between\n",
			value_integer(backend, "flips"));
	printf("weight        %lld, effective %g\n", value_integer(backend, "weight"),
		value_real(backend, "effective_weight"));
	if (!json_array_size(probes))
		printf("\nno probe: its pool has no health check\n");
	json_array_foreach (probes, i, probe)
		probe_print(probe);
}

int cmd_backend_explain(struct cli *cli, int count, char **words)
{
	return backend_tell(cli, words[0], "/explain", explain_print);
}
