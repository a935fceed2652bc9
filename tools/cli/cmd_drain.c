/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `backend drain`, and waiting until the drained backend has nothing left to do.
 *
 * Flows are counted by a walk through the flow table, so a count speaks of up to one walk ago. The
 * first counts after the change may come from walks that began before it: they are not believed.
 */
#include "backends.h"
#include "cli.h"
#include "listing.h"
#include "value.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATH_SIZE   512
#define INTERVAL_MS 1000
#define SETTLE_MS   12000 /* two walks of the DPDK path's sweeper, and its statistics */
#define PROGRESS_MS 5000  /* between two lines where progress is no terminal's */

struct wait {
	struct cli *cli;
	char path[PATH_SIZE];
	long long begun_ms;
	long long told_ms; /* when progress was last told */
	bool terminal;
	bool line_open;
};

static long long clock_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void pause_ms(unsigned long long ms)
{
	struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};

	nanosleep(&time, NULL);
}

/* On a terminal one line that changes, else a line now and then; always on standard error. */
static void progress_tell(struct wait *wait, const json_t *backend, long long now)
{
	char elapsed[24];

	if (!wait->terminal && wait->told_ms && now - wait->told_ms < PROGRESS_MS)
		return;
	wait->told_ms = now;
	wait->line_open = wait->terminal;
	fprintf(stderr, "%s%s/%s: %lld active flows, %s%s", wait->terminal ? "\r\033[K" : "",
		value_text(backend, "pool"), value_text(backend, "name"),
		value_integer(backend, "active_flows"),
		text_duration(now - wait->begun_ms, elapsed), wait->terminal ? "" : "\n");
}

static void progress_end(struct wait *wait)
{
	if (wait->line_open)
		fputc('\n', stderr);
	wait->line_open = false;
}

/* True when there is nothing more to wait for; *ret is then what that means. */
static bool wait_over(struct wait *wait, const json_t *backend, long long now, int *ret)
{
	const struct cli *cli = wait->cli;
	long long flows = value_integer(backend, "active_flows");
	long long waited = now - wait->begun_ms;
	const char *state = value_text(backend, "state");

	*ret = CLI_FAILED;
	if (strcmp(state, "drain") && strcmp(state, "disabled")) {
		progress_end(wait);
		cli_error("%s/%s is %s: somebody ended the drain (%s)", value_text(backend, "pool"),
			value_text(backend, "name"), state, value_text(backend, "reason"));
		return true;
	}
	if (flows <= (long long)cli->until_flows && waited >= SETTLE_MS) {
		*ret = CLI_DONE;
		return true;
	}
	if (!strcmp(state, "disabled")) {
		progress_end(wait);
		cli_error("%s/%s is disabled now (%s): its %lld flows have moved to others",
			value_text(backend, "pool"), value_text(backend, "name"),
			value_text(backend, "reason"), flows);
		return true;
	}
	if (!cli->timeout_ms || waited < (long long)cli->timeout_ms)
		return false;
	progress_end(wait);
	if (flows <= (long long)cli->until_flows)
		cli_error("%s/%s: --timeout came before its flows could be counted (%d s); it goes "
			  "on "
			  "draining",
			value_text(backend, "pool"), value_text(backend, "name"), SETTLE_MS / 1000);
	else
		cli_error("%s/%s still has %lld flows; it goes on draining",
			value_text(backend, "pool"), value_text(backend, "name"), flows);
	return true;
}

static int result_print(const struct wait *wait, json_t *backend, long long now)
{
	char elapsed[24];

	if (wait->cli->json) {
		json_object_set_new(
			backend, "waited_ms", json_integer((json_int_t)(now - wait->begun_ms)));
		return cli_print_json(backend);
	}
	printf("%s/%s: drained, %lld active flows left after %s\n", value_text(backend, "pool"),
		value_text(backend, "name"), value_integer(backend, "active_flows"),
		text_duration(now - wait->begun_ms, elapsed));
	return CLI_DONE;
}

static int drain_wait(struct wait *wait)
{
	struct cli *cli = wait->cli;
	json_t *backend;
	bool over;
	int ret;

	do {
		long long now;
		int outcome;

		ret = cli_get(cli, wait->path, &backend);
		if (ret)
			break;
		now = clock_ms();
		over = wait_over(wait, backend, now, &outcome);
		if (over) {
			progress_end(wait);
			ret = outcome ? outcome : result_print(wait, backend, now);
		} else {
			progress_tell(wait, backend, now);
		}
		json_decref(backend);
		if (!over)
			pause_ms(cli->interval_ms ? cli->interval_ms : INTERVAL_MS);
	} while (!over);
	progress_end(wait);
	return ret;
}

int cmd_backend_drain(struct cli *cli, int count, char **words)
{
	struct wait wait = {.cli = cli, .terminal = isatty(STDERR_FILENO)};
	json_t *backend, *body = json_pack("{s:s}", "action", "drain");
	int ret;

	if (!cli->wait) {
		if (cli->until_flows || cli->timeout_ms) {
			json_decref(body);
			cli_error("--until-flows and --timeout go with --wait");
			return CLI_USAGE;
		}
		return backend_change(cli, words[0], body);
	}
	if (cli->reason)
		json_object_set_new(body, "reason", json_string(cli->reason));
	ret = backend_path(cli, words[0], wait.path, sizeof(wait.path));
	if (ret) {
		json_decref(body);
		return ret;
	}
	wait.begun_ms = clock_ms();
	ret = cli_post(cli, wait.path, body, &backend);
	if (ret)
		return ret;
	json_decref(backend);
	return drain_wait(&wait);
}
