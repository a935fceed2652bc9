/* SPDX-License-Identifier: BSD-2-Clause */
/* The program for transitions: a script that writes its environment down. */
#include "control/hook.h"

#include "loop_run.h"
#include "suite.h"

#include <uv.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATIENT_MS 30000

static char dir[] = "/tmp/guideway-hook-XXXXXX";
static char script[64], output[64], go[80];
static uv_loop_t loop;
static struct gw_hook *hook;

static void script_write(const char *body)
{
	FILE *file;

	if (!script[0]) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(dir));
		snprintf(script, sizeof(script), "%s/hook", dir);
		snprintf(output, sizeof(output), "%s/out", dir);
	}
	unlink(output);
	file = fopen(script, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fprintf(file, "#!/bin/sh\nout=%s\n%s\n", output, body);
	fclose(file);
	chmod(script, 0700);
}

static void begin(const char *body, uint32_t timeout_ms)
{
	const struct gw_config_hooks settings = {.program = script, .timeout_ms = timeout_ms};

	script_write(body);
	uv_loop_init(&loop);
	CU_ASSERT_EQUAL_FATAL(gw_hook_new(&loop, &hook), 0);
	CU_ASSERT_EQUAL_FATAL(gw_hook_configure(hook, &settings), 0);
}

static void end(void)
{
	gw_hook_close(hook);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	unlink(script);
	unlink(output);
	rmdir(dir);
	script[0] = '\0';
	strcpy(dir, "/tmp/guideway-hook-XXXXXX");
}

static void run(const char *subject, const char *why)
{
	gw_hook_run(hook, &(struct gw_hook_event){.time_ms = 1764475200123,
				  .kind = "health",
				  .subject = subject,
				  .from = "up",
				  .to = "down",
				  .why = why});
}

static char text[4096]; /* what the script had written at the last look */

static bool has_lines(void *of)
{
	FILE *file = fopen(output, "r");
	size_t size = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	int found = 0;

	if (file)
		fclose(file);
	text[size] = '\0';
	for (size_t c = 0; c < size; c++)
		found += text[c] == '\n';
	return found >= *(const int *)of;
}

/* What the script wrote, once it has `lines` lines. */
static const char *written(int lines)
{
	if (!loop_run_until(&loop, has_lines, &lines)) {
		printf("  the program wrote only \"%s\"\n", text);
		CU_FAIL("the program did not write what was expected");
	}
	return text;
}

static void the_program_learns_what_happened_by_its_environment(void)
{
	begin("env | grep ^GUIDEWAY_ | sort > $out.new; mv $out.new $out", PATIENT_MS);
	run("web/b1", "http 503, 3 of 3; $(touch x) `id`");
	CU_ASSERT_STRING_EQUAL(written(8), "GUIDEWAY_BACKEND=b1\n"
					   "GUIDEWAY_FROM=up\n"
					   "GUIDEWAY_KIND=health\n"
					   "GUIDEWAY_POOL=web\n"
					   "GUIDEWAY_SUBJECT=web/b1\n"
					   "GUIDEWAY_TIME=2025-11-30T04:00:00.123Z\n"
					   "GUIDEWAY_TO=down\n"
					   "GUIDEWAY_WHY=http 503, 3 of 3; $(touch x) `id`\n");
	end();
}

static void transitions_are_told_in_order_one_at_a_time(void)
{
	begin("echo begin $GUIDEWAY_SUBJECT >> $out; sleep 0.05; echo end >> $out", PATIENT_MS);
	run("web/b1", "");
	run("web/b2", "");
	run("web/b3", "");
	CU_ASSERT_STRING_EQUAL(
		written(6), "begin web/b1\nend\nbegin web/b2\nend\nbegin web/b3\nend\n");
	end();
}

/* The first has time enough to begin; what it started would write on a word from us. */
static void one_that_hangs_is_killed_with_what_it_started(void)
{
	begin("echo begin $GUIDEWAY_SUBJECT >> $out; [ $GUIDEWAY_SUBJECT = web/b2 ] && exit 0\n"
	      "(while [ ! -e $out.go ]; do sleep 0.05; done; echo late >> $out) & wait",
		2000);
	run("web/b1", "");
	run("web/b2", "");
	written(2);
	snprintf(go, sizeof(go), "%s.go", output);
	CU_ASSERT_EQUAL(close(open(go, O_CREAT | O_WRONLY, 0600)), 0);
	loop_run_for(&loop, 300);
	CU_ASSERT_STRING_EQUAL(written(2), "begin web/b1\nbegin web/b2\n");
	unlink(go);
	end();
}

static void a_program_that_is_not_there_harms_nothing(void)
{
	begin("true", PATIENT_MS);
	unlink(script);
	run("web/b1", "");
	run("web/b2", "");
	loop_run_for(&loop, 50); /* each takes a round of the loop, not time */
	script_write("echo $GUIDEWAY_SUBJECT >> $out");
	run("web/b3", "");
	CU_ASSERT_STRING_EQUAL(written(1), "web/b3\n");
	end();
}

static void closing_ends_what_runs(void)
{
	uint64_t begun;

	begin("echo begin >> $out; sleep 300", 600000);
	run("web/b1", "");
	run("web/b2", "");
	written(1);
	begun = uv_hrtime();
	end();
	CU_ASSERT_TRUE(uv_hrtime() - begun < LOOP_RUN_LIMIT_MS * 1000000ull);
}

static const struct gw_test tests[] = {
	GW_TEST(the_program_learns_what_happened_by_its_environment),
	GW_TEST(transitions_are_told_in_order_one_at_a_time),
	GW_TEST(one_that_hangs_is_killed_with_what_it_started),
	GW_TEST(a_program_that_is_not_there_harms_nothing),
	GW_TEST(closing_ends_what_runs),
};

GW_SUITE("hook", tests)
