/* SPDX-License-Identifier: BSD-2-Clause */
/* base/log.h as JSON, base/notify.h: what is written and what is sent. */
#include "base/log.h"
#include "base/notify.h"
#include "suite.h"

#include <jansson.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char line[16384];

/* What goes to standard error meanwhile. */
static void log_capture(void (*say)(void))
{
	int file = memfd_create("log", 0), saved = dup(STDERR_FILENO);
	ssize_t length;

	dup2(file, STDERR_FILENO);
	say();
	dup2(saved, STDERR_FILENO);
	close(saved);
	length = pread(file, line, sizeof(line) - 1, 0);
	line[length > 0 ? length : 0] = 0;
	close(file);
}

static void say_awkward(void)
{
	const struct gw_log_field fields[] = {{"kind", "health"}, {"from", ""}, {"to", "down"}};

	gw_log_fields(GW_LOG_WARNING, fields, 3, "a \"quote\", a \\, a tab\t and \xff%s", "!");
}

static void json_lines_are_json_whatever_is_said(void)
{
	json_t *object;

	gw_log_format_set(GW_LOG_JSON);
	log_capture(say_awkward);
	gw_log_format_set(GW_LOG_TEXT);
	object = json_loads(line, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(object);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(object, "message")),
		"a \"quote\", a \\, a tab\t and ?!");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(object, "level")), "warning");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(object, "to")), "down");
	CU_ASSERT_PTR_NULL(json_object_get(object, "from")); /* empty: left out */
	CU_ASSERT_EQUAL(strlen(json_string_value(json_object_get(object, "time"))), 24);
	CU_ASSERT_PTR_EQUAL(strchr(line, '\n'), line + strlen(line) - 1);
	json_decref(object);
}

static void say_long(void)
{
	char text[6000];

	memset(text, '\x01', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	gw_log_error("%s", text);
}

static void long_messages_are_cut_and_still_whole_lines(void)
{
	json_t *object;

	gw_log_format_set(GW_LOG_JSON);
	log_capture(say_long);
	gw_log_format_set(GW_LOG_TEXT);
	object = json_loads(line, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL(object);
	json_decref(object);
	log_capture(say_long);
	CU_ASSERT_EQUAL(line[strlen(line) - 1], '\n');
	CU_ASSERT(strlen(line) > 900 && strlen(line) < 1100);
	CU_ASSERT_PTR_NULL(strchr(line, '\x01'));
}

static void formats_have_two_names(void)
{
	enum gw_log_format format = GW_LOG_TEXT;

	CU_ASSERT_EQUAL(gw_log_format_parse("json", &format), 0);
	CU_ASSERT_EQUAL(format, GW_LOG_JSON);
	CU_ASSERT_EQUAL(gw_log_format_parse("xml", &format), -EINVAL);
	CU_ASSERT_EQUAL(format, GW_LOG_JSON);
}

/* A service manager at this address; "@name" is one without a file. */
static int manager_open(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	socklen_t length = (socklen_t)(sizeof(sa_family_t) + strlen(name));

	memcpy(address.sun_path, name, strlen(name));
	if (name[0] == '@')
		address.sun_path[0] = 0;
	else
		length++;
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, length), 0);
	return fd;
}

static void notices_reach_sockets_with_and_without_a_file(void)
{
	char path[64], abstract[64];
	const char *names[] = {path, abstract};

	snprintf(path, sizeof(path), "/tmp/gw-test-notify-%d", getpid());
	snprintf(abstract, sizeof(abstract), "@gw-test-notify-%d", getpid());
	for (int i = 0; i < 2; i++) {
		int fd = manager_open(names[i]);
		char text[128] = "";

		setenv("NOTIFY_SOCKET", names[i], 1);
		CU_ASSERT_EQUAL(gw_notify("READY=1\nSTATUS=%s", "well"), 0);
		CU_ASSERT_EQUAL(recv(fd, text, sizeof(text) - 1, 0), 19);
		CU_ASSERT_STRING_EQUAL(text, "READY=1\nSTATUS=well");
		close(fd);
	}
	unlink(path);
	unsetenv("NOTIFY_SOCKET");
}

static void nobody_to_tell_is_no_error_and_a_dead_manager_is_one(void)
{
	unsetenv("NOTIFY_SOCKET");
	CU_ASSERT_EQUAL(gw_notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
	CU_ASSERT_EQUAL(gw_notify("READY=1"), -ENOENT);
	setenv("NOTIFY_SOCKET", "vsock:2:1", 1);
	CU_ASSERT_EQUAL(gw_notify("READY=1"), -EAFNOSUPPORT);
	unsetenv("NOTIFY_SOCKET");
}

static void the_watchdog_is_fed_twice_in_its_time(void)
{
	static const struct {
		const char *limit, *pid;
		uint64_t ms;
	} cases[] = {{"30000000", NULL, 15000}, {NULL, NULL, 0}, {"0", NULL, 0}, {"soon", NULL, 0},
		{"30000000", "1", 0}, {"1000", NULL, 1}};
	char self[16];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsetenv("WATCHDOG_USEC");
		unsetenv("WATCHDOG_PID");
		if (cases[i].limit)
			setenv("WATCHDOG_USEC", cases[i].limit, 1);
		if (cases[i].pid)
			setenv("WATCHDOG_PID", cases[i].pid, 1);
		CU_ASSERT_EQUAL(gw_notify_watchdog_ms(), cases[i].ms);
	}
	snprintf(self, sizeof(self), "%d", getpid());
	setenv("WATCHDOG_USEC", "4000000", 1);
	setenv("WATCHDOG_PID", self, 1);
	CU_ASSERT_EQUAL(gw_notify_watchdog_ms(), 2000);
}

static const struct gw_test tests[] = {
	GW_TEST(json_lines_are_json_whatever_is_said),
	GW_TEST(long_messages_are_cut_and_still_whole_lines),
	GW_TEST(formats_have_two_names),
	GW_TEST(notices_reach_sockets_with_and_without_a_file),
	GW_TEST(nobody_to_tell_is_no_error_and_a_dead_manager_is_one),
	GW_TEST(the_watchdog_is_fed_twice_in_its_time),
};

int main(int argc, char **argv)
{
	return gw_suite_run("habits", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
}
