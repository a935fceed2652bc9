/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/hook.h"

#include "base/log.h"
#include "control/events.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENVIRONMENT 9 /* variables, PATH among them */
#define SAFE_PATH   "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* One transition that waits: its environment, NULL-terminated. */
struct waiting {
	struct waiting *next;
	char *environment[ENVIRONMENT + 1];
};

struct gw_hook {
	uv_loop_t *loop;
	char *program; /* NULL: none */
	uint32_t timeout_ms;
	struct waiting *first, **last;
	size_t count;
	bool overflowed; /* said, until there is room again */
	uv_process_t process;
	uv_timer_t timer;
	bool running; /* the process' handle is not closed yet */
	bool late;
	bool closing;
	int open_handles;
};

int gw_hook_new(uv_loop_t *loop, struct gw_hook **out)
{
	struct gw_hook *hook = calloc(1, sizeof(*hook));

	if (!hook)
		return -ENOMEM;
	hook->loop = loop;
	hook->last = &hook->first;
	uv_timer_init(loop, &hook->timer);
	hook->timer.data = hook->process.data = hook;
	hook->open_handles = 1;
	*out = hook;
	return 0;
}

int gw_hook_configure(struct gw_hook *hook, const struct gw_config_hooks *settings)
{
	char *program = settings->program ? strdup(settings->program) : NULL;

	if (settings->program && !program)
		return -ENOMEM;
	free(hook->program);
	hook->program = program;
	hook->timeout_ms = settings->timeout_ms;
	return 0;
}

static void waiting_free(struct waiting *waiting)
{
	for (size_t i = 0; waiting && i < ENVIRONMENT; i++)
		free(waiting->environment[i]);
	free(waiting);
}

static struct waiting *waiting_take(struct gw_hook *hook)
{
	struct waiting *first = hook->first;

	hook->first = first->next;
	if (!hook->first)
		hook->last = &hook->first;
	hook->count--;
	return first;
}

static void handle_closed(uv_handle_t *handle)
{
	struct gw_hook *hook = handle->data;

	if (--hook->open_handles)
		return;
	while (hook->first)
		waiting_free(waiting_take(hook));
	free(hook->program);
	free(hook);
}

static void next_run(struct gw_hook *hook);

static void process_closed(uv_handle_t *handle)
{
	struct gw_hook *hook = handle->data;

	hook->running = false;
	if (!hook->closing)
		next_run(hook);
	handle_closed(handle);
}

static void process_ended(uv_process_t *process, int64_t status, int signal)
{
	struct gw_hook *hook = process->data;

	uv_timer_stop(&hook->timer);
	if (hook->late)
		gw_log_warning("hooks.transition: %s took longer than %u ms and was killed",
			hook->program ? hook->program : "the program", hook->timeout_ms);
	else if (status || signal)
		gw_log_warning("hooks.transition: %s ended with %s %lld",
			hook->program ? hook->program : "the program", signal ? "signal" : "status",
			(long long)(signal ? signal : status));
	if (!uv_is_closing((uv_handle_t *)process))
		uv_close((uv_handle_t *)process, process_closed);
}

/* It leads a session of its own: what it started goes with it. */
static void process_kill(struct gw_hook *hook)
{
	if (hook->process.pid > 0)
		kill(-hook->process.pid, SIGKILL);
}

static void timer_ran_out(uv_timer_t *timer)
{
	struct gw_hook *hook = timer->data;

	hook->late = true;
	process_kill(hook);
}

static int process_start(struct gw_hook *hook, struct waiting *waiting)
{
	char *words[] = {hook->program, NULL};
	uv_stdio_container_t streams[] = {
		{.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD, .data.fd = 2}};
	const uv_process_options_t options = {.exit_cb = process_ended,
		.file = hook->program,
		.args = words,
		.env = waiting->environment,
		.cwd = "/",
		.flags = UV_PROCESS_DETACHED,
		.stdio_count = 3,
		.stdio = streams};
	int ret;

	hook->late = false;
	ret = uv_spawn(hook->loop, &hook->process, &options);
	hook->running = true; /* also on failure the handle must be closed */
	hook->open_handles++;
	if (ret) {
		hook->process.pid = 0;
		return ret;
	}
	uv_timer_start(&hook->timer, timer_ran_out, hook->timeout_ms, 0);
	return 0;
}

static void next_run(struct gw_hook *hook)
{
	struct waiting *waiting;
	int ret;

	if (hook->running || !hook->first)
		return;
	waiting = waiting_take(hook);
	hook->overflowed = false;
	ret = hook->program ? process_start(hook, waiting) : 0;
	waiting_free(waiting);
	if (!ret)
		return;
	gw_log_warning("hooks.transition: cannot run %s: %s", hook->program, uv_strerror(ret));
	uv_close((uv_handle_t *)&hook->process, process_closed);
}

static char *variable(const char *name, const char *value, int length)
{
	char *text;

	return asprintf(&text, "GUIDEWAY_%s=%.*s", name, length, value) < 0 ? NULL : text;
}

static struct waiting *waiting_make(const struct gw_hook_event *event)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));
	const char *slash = strchr(event->subject, '/');
	int pool = (int)(slash ? slash - event->subject : 0);
	char **to = waiting ? waiting->environment : NULL;
	char time[32];

	if (!waiting)
		return NULL;
	*to++ = strdup("PATH=" SAFE_PATH);
	*to++ = variable("KIND", event->kind, -1);
	*to++ = variable("SUBJECT", event->subject, -1);
	*to++ = variable("POOL", event->subject, pool);
	*to++ = variable("BACKEND", slash ? slash + 1 : "", -1);
	*to++ = variable("FROM", event->from, -1);
	*to++ = variable("TO", event->to, -1);
	*to++ = variable("WHY", event->why, -1);
	*to++ = variable("TIME", gw_time_format(event->time_ms, time), -1);
	for (size_t i = 0; i < ENVIRONMENT; i++) {
		if (!waiting->environment[i]) {
			waiting_free(waiting);
			return NULL;
		}
	}
	return waiting;
}

void gw_hook_run(struct gw_hook *hook, const struct gw_hook_event *event)
{
	struct waiting *waiting;

	if (!hook->program || hook->closing)
		return;
	waiting = waiting_make(event);
	if (!waiting) {
		gw_log_warning("hooks.transition: out of memory, %s is not told", event->subject);
		return;
	}
	*hook->last = waiting;
	hook->last = &waiting->next;
	if (++hook->count > GW_HOOK_WAITING_MAX) {
		waiting_free(waiting_take(hook));
		if (!hook->overflowed)
			gw_log_warning("hooks.transition: more than %d transitions wait for %s: "
				       "the oldest are dropped",
				GW_HOOK_WAITING_MAX, hook->program);
		hook->overflowed = true;
	}
	next_run(hook);
}

void gw_hook_close(struct gw_hook *hook)
{
	if (!hook)
		return;
	hook->closing = true;
	if (hook->running && !uv_is_closing((uv_handle_t *)&hook->process)) {
		process_kill(hook);
		uv_close((uv_handle_t *)&hook->process, process_closed);
	}
	uv_close((uv_handle_t *)&hook->timer, handle_closed);
}
