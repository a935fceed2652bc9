/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/verdict.h"
#include "cli.h"
#include "listing.h"
#include "value.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	const char *text;
} verdicts[] = {
	{"rx", "packets in"},
	{"tx", "handed over towards a backend"},
	{"to_host", "the host's, untouched"},
	{"replied", "answered by the balancer"},
	{"consumed", "ours, at their end here"},
	{"held", "fragments kept for now"},
};

static const char *reason_text(const char *name)
{
	static const struct {
		const char *name;
		const char *text;
	} reasons[] = {
#define GW_DROP_ROW(NAME, name, text) {name, text},
		GW_DROP_REASONS(GW_DROP_ROW)
#undef GW_DROP_ROW
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (!strcmp(reasons[i].name, name))
			return reasons[i].text;
	return "";
}

static void line_add(struct listing *listing, const char *kind, const char *name, long long now,
	long long before, bool rates, const char *text)
{
	listing_cell(listing, "%s", kind);
	listing_cell(listing, "%s", name);
	listing_cell(listing, "%lld", now);
	if (rates)
		listing_cell(listing, "%lld", now - before);
	listing_cell(listing, "%s", text);
}

/* before NULL: no column of rates. */
static void drops_print(const struct cli *cli, const json_t *now, const json_t *before)
{
	static const char *const titles[] = {"", "NAME", LISTING_RIGHT "PACKETS", "MEANING", NULL};
	static const char *const titles_rates[] = {
		"", "NAME", LISTING_RIGHT "PACKETS", LISTING_RIGHT "PER SECOND", "MEANING", NULL};
	struct listing *listing = listing_new(before ? titles_rates : titles, cli->color);
	const json_t *drops = json_object_get(now, "drops");
	const json_t *drops_before = json_object_get(before, "drops");
	const char *name;
	json_t *value;

	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		line_add(listing, i ? "verdict" : "", verdicts[i].name,
			value_integer(now, verdicts[i].name),
			value_integer(before, verdicts[i].name), before, verdicts[i].text);
	json_object_foreach ((json_t *)drops, name, value)
		line_add(listing, "drop", name, json_integer_value(value),
			value_integer(drops_before, name), before, reason_text(name));
	listing_print(listing, "");
}

static int drops_watch(struct cli *cli)
{
	json_t *now, *before = NULL;
	int ret;

	for (;;) {
		ret = cli_get(cli, "/v1/drops", &now);
		if (ret)
			break;
		if (cli->json) {
			ret = cli_print_json_line(now);
		} else {
			if (cli->color)
				fputs("\033[H\033[2J", stdout);
			drops_print(cli, now, before ? before : now);
			if (!cli->color)
				putchar('\n');
		}
		json_decref(before);
		before = now;
		if (ret || fflush(stdout))
			break;
		sleep(1);
	}
	json_decref(before);
	return ret;
}

int cmd_drops(struct cli *cli, int count, char **words)
{
	json_t *drops;
	int ret;

	if (cli->watch)
		return drops_watch(cli);
	ret = cli_get(cli, "/v1/drops", &drops);
	if (ret)
		return ret;
	if (cli->json)
		ret = cli_print_json(drops);
	else
		drops_print(cli, drops, NULL);
	json_decref(drops);
	return ret;
}
