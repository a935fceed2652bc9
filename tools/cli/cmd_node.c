/* SPDX-License-Identifier: BSD-2-Clause */
/* The node as a whole. */
#include "cli.h"
#include "value.h"

#include <stdio.h>
#include <string.h>

void node_print(const json_t *node)
{
	const char *who = value_text(node, "who"), *why = value_text(node, "why");

	printf("%s: %s", value_text(node, "state"),
		json_is_true(json_object_get(node, "announces"))
			? "service addresses are announced as the file says"
			: "announces no service address; what arrives is forwarded, flows go on");
	if (who[0])
		printf(" (by %s since %s%s%s)", who, value_text(node, "since"), why[0] ? ": " : "",
			why);
	putchar('\n');
}

static int node_change(struct cli *cli, const char *action)
{
	json_t *body = json_pack("{s:s}", "action", action), *answer;
	int ret;

	if (cli->reason)
		json_object_set_new(body, "reason", json_string(cli->reason));
	ret = cli_post(cli, "/v1/node", body, &answer);
	if (ret)
		return ret;
	if (cli->json) {
		ret = cli_print_json(answer);
	} else {
		if (!json_is_true(json_object_get(answer, "changed")))
			fputs("already ", stdout);
		node_print(answer);
	}
	json_decref(answer);
	return ret;
}

int cmd_node_drain(struct cli *cli, int count, char **words)
{
	return node_change(cli, "drain");
}

int cmd_node_undrain(struct cli *cli, int count, char **words)
{
	return node_change(cli, "undrain");
}
