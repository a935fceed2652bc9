/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"
#include "value.h"

#include <stdio.h>
#include <unistd.h>

#define FOLLOW_INTERVAL_US 300000

static void event_print(const json_t *event)
{
	const char *from = value_text(event, "from"), *to = value_text(event, "to");
	const char *subject = value_text(event, "subject"), *why = value_text(event, "why");

	printf("%s  %-8s  %s%s%s%s%s%s%s\n", value_text(event, "time"), value_text(event, "kind"),
		subject, subject[0] && (from[0] || to[0]) ? ": " : "", from,
		from[0] && to[0] ? " -> " : "", to, why[0] && (subject[0] || to[0]) ? ": " : "",
		why);
}

/*
 * Prints what is there from number *next on and moves *next behind it; as JSON a line each, or all
 * into `list`.
 */
static int events_print(struct cli *cli, unsigned long long *next, size_t *printed, json_t *list)
{
	const json_t *event;
	json_t *answer;
	char path[64];
	size_t i;
	int ret;

	snprintf(path, sizeof(path), "/v1/events?since=%llu", *next);
	ret = cli_get(cli, path, &answer);
	if (ret)
		return ret;
	if (value_integer(answer, "lost") && *next)
		cli_error("%lld events are no longer kept", value_integer(answer, "lost"));
	json_array_foreach (json_object_get(answer, "events"), i, event) {
		if (list)
			json_array_append(list, (json_t *)event);
		else if (cli->json)
			cli_print_json_line(event);
		else
			event_print(event);
	}
	*printed = i;
	*next = (unsigned long long)value_integer(answer, "next");
	json_decref(answer);
	return fflush(stdout) ? CLI_FAILED : CLI_DONE;
}

int cmd_events(struct cli *cli, int count, char **words)
{
	json_t *list = cli->json && !cli->follow ? json_array() : NULL;
	unsigned long long next = cli->since;
	size_t printed;
	int ret;

	do {
		ret = events_print(cli, &next, &printed, list);
		if (!ret && cli->follow && !printed)
			usleep(FOLLOW_INTERVAL_US);
	} while (!ret && (cli->follow || printed));
	if (!ret && list)
		ret = cli_print_json(list);
	json_decref(list);
	return ret;
}
