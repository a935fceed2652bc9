/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * curl names the sockets and the timeout it waits for (socket_wanted, timeout_wanted), the loop
 * tells it what happened, and finished transfers are collected after each call into curl, so that
 * no owner is called from inside one. How long a probe may take is not curl's business, which would
 * look at the clock before it looks at what has come (check_deadline.h).
 */
#include "check_curl.h"

#include "abi/types.h"
#include "base/address.h"
#include "check_socket.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Certificate authorities are read again after this many seconds. */
#define CA_CACHE_S 300L

struct gw_check_curl {
	uv_loop_t *loop;
	CURLM *multi;
	uv_timer_t *timer; /* own memory: it closes after the rest is freed */
};

static void handle_free(uv_handle_t *handle)
{
	free(handle);
}

static void probe_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void probe_free(struct check_curl *probe)
{
	if (probe->easy) {
		curl_multi_remove_handle(probe->curl->multi, probe->easy);
		curl_easy_cleanup(probe->easy);
	}
	curl_slist_free_all(probe->headers);
	curl_slist_free_all(probe->connect_to);
	free(probe->body);
	if (probe->begun)
		uv_close((uv_handle_t *)&probe->deadline.timer, probe_closed);
	else
		free(probe);
}

static void failure_fill(struct check_curl *probe, CURLcode code, struct gw_check_outcome *outcome)
{
	long status = 0, os_error = 0;

	outcome->success = false;
	curl_easy_getinfo(probe->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(probe->easy, CURLINFO_OS_ERRNO, &os_error);
	if (code == CURLE_OPERATION_TIMEDOUT)
		snprintf(outcome->text, sizeof(outcome->text), "no %s in %u ms",
			status ? "end of the answer" : "answer", probe->target.check->timeout_ms);
	else if (code == CURLE_COULDNT_CONNECT && os_error)
		snprintf(outcome->text, sizeof(outcome->text), "%s",
			uv_strerror(uv_translate_sys_error((int)os_error)));
	else if (code == CURLE_PEER_FAILED_VERIFICATION && probe->error[0])
		snprintf(outcome->text, sizeof(outcome->text), "%.120s", probe->error);
	else
		snprintf(outcome->text, sizeof(outcome->text), "%s", curl_easy_strerror(code));
}

static void outcome_fill(struct check_curl *probe, CURLcode code, struct gw_check_outcome *outcome)
{
	if (code == CURLE_WRITE_ERROR && probe->body_size > CHECK_BODY_MAX)
		code = CURLE_OK; /* ours: enough of it was read */
	if (code == CURLE_OK)
		probe->judge(probe, outcome);
	else
		failure_fill(probe, code, outcome);
}

static void time_is_up(struct check_deadline *deadline)
{
	struct check_curl *probe = deadline->timer.data;
	struct gw_check_outcome outcome;

	failure_fill(probe, CURLE_OPERATION_TIMEDOUT, &outcome);

	gw_check_done *done = probe->done;
	void *owner = probe->owner;

	probe_free(probe);
	done(owner, &outcome);
}

static void transfers_collect(struct gw_check_curl *curl)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(curl->multi, &left))) {
		struct gw_check_outcome outcome;
		struct check_curl *probe;

		if (message->msg != CURLMSG_DONE)
			continue;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&probe);
		outcome_fill(probe, message->data.result, &outcome);

		gw_check_done *done = probe->done;
		void *owner = probe->owner;

		probe_free(probe);
		done(owner, &outcome);
	}
}

static void multi_act(struct gw_check_curl *curl, curl_socket_t socket, int events)
{
	int running;

	curl_multi_socket_action(curl->multi, socket, events, &running);
	transfers_collect(curl);
}

static void socket_ready(uv_poll_t *poll, int status, int events)
{
	struct gw_check_curl *curl = poll->data;
	uv_os_fd_t fd;
	int flags = 0;

	if (uv_fileno((uv_handle_t *)poll, &fd))
		return;
	if (status < 0)
		flags = CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	multi_act(curl, fd, flags);
}

static int socket_wanted(CURL *easy, curl_socket_t socket, int what, void *owner, void *attached)
{
	struct gw_check_curl *curl = owner;
	uv_poll_t *poll = attached;
	int events = 0;

	if (what == CURL_POLL_REMOVE) {
		if (poll) {
			curl_multi_assign(curl->multi, socket, NULL);
			uv_close((uv_handle_t *)poll, handle_free);
		}
		return 0;
	}
	if (!poll) {
		poll = calloc(1, sizeof(*poll));
		if (!poll || uv_poll_init(curl->loop, poll, socket)) {
			free(poll);
			return -1;
		}
		poll->data = curl;
		curl_multi_assign(curl->multi, socket, poll);
	}
	if (what & CURL_POLL_IN)
		events |= UV_READABLE;
	if (what & CURL_POLL_OUT)
		events |= UV_WRITABLE;
	return uv_poll_start(poll, events, socket_ready) ? -1 : 0;
}

static void timer_ran_out(uv_timer_t *timer)
{
	multi_act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int timeout_wanted(CURLM *multi, long timeout_ms, void *owner)
{
	struct gw_check_curl *curl = owner;

	if (timeout_ms < 0)
		return uv_timer_stop(curl->timer);
	return uv_timer_start(curl->timer, timer_ran_out, (uint64_t)timeout_ms, 0);
}

static size_t body_take(char *data, size_t size, size_t count, void *owner)
{
	struct check_curl *probe = owner;
	size_t length = size * count, room = CHECK_BODY_MAX - probe->body_length;

	probe->body_size += length;
	if (!probe->body && probe->target.check->type != GW_CONFIG_CHECK_GRPC &&
		!probe->target.check->body.length)
		return probe->body_size > CHECK_BODY_MAX ? 0 : length; /* nobody will look at it */
	if (!probe->body)
		probe->body = malloc(CHECK_BODY_MAX);
	if (!probe->body)
		return 0;
	room = length < room ? length : room;
	memcpy(probe->body + probe->body_length, data, room);
	probe->body_length += room;
	return probe->body_size > CHECK_BODY_MAX ? 0 : length;
}

static curl_socket_t socket_open(void *owner, curlsocktype purpose, struct curl_sockaddr *address)
{
	const struct check_curl *probe = owner;
	int fd = gw_check_socket_open(&probe->target, SOCK_STREAM);

	return fd < 0 ? CURL_SOCKET_BAD : fd;
}

int check_curl_header(struct check_curl *probe, const char *format, ...)
{
	struct curl_slist *longer;
	char line[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	longer = curl_slist_append(probe->headers, line);
	if (!longer)
		return -ENOMEM;
	probe->headers = longer;
	return 0;
}

int check_curl_url(struct check_curl *probe, const char *scheme, const char *name, const char *path)
{
	char address[GW_ADDRESS_TEXT], host[GW_ADDRESS_TEXT + 2], *text;
	bool v6 = !gw_address_is_ipv4((const struct gw_address *)probe->target.address);
	uint16_t port = probe->target.check->port;
	CURLcode code;

	gw_address_format(probe->target.address, address);
	snprintf(host, sizeof(host), "%s%s%s", v6 ? "[" : "", address, v6 ? "]" : "");
	if (asprintf(&text, "%s://%s:%u%s", scheme, name ? name : host, port, path) < 0)
		return -ENOMEM;
	code = curl_easy_setopt(probe->easy, CURLOPT_URL, text);
	free(text);
	if (code || !name)
		return code ? -ENOMEM : 0;
	/* "NAME:PORT:ADDRESS:PORT": the name is not looked up. */
	if (asprintf(&text, "%s:%u:%s:%u", name, port, host, port) < 0)
		return -ENOMEM;
	probe->connect_to = curl_slist_append(NULL, text);
	free(text);
	if (!probe->connect_to)
		return -ENOMEM;
	curl_easy_setopt(probe->easy, CURLOPT_CONNECT_TO, probe->connect_to);
	return 0;
}

struct check_curl *check_curl_make(struct gw_checker *checker, const struct gw_check_target *target,
	const struct gw_check_ops *ops, gw_check_done *done, void *owner)
{
	struct check_curl *probe = calloc(1, sizeof(*probe));
	CURL *easy = curl_easy_init();

	if (!probe || !easy) {
		curl_easy_cleanup(easy);
		free(probe);
		return NULL;
	}
	probe->probe.ops = ops;
	probe->curl = gw_checker_curl(checker);
	probe->easy = easy;
	probe->target = *target;
	probe->done = done;
	probe->owner = owner;
	curl_easy_setopt(easy, CURLOPT_PRIVATE, probe);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, probe->error);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "guideway-check/" GW_VERSION);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_take);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, probe);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, socket_open);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, probe);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* whatever the environment says */
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0L); /* else each start walks all of it */
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 4096L);
	curl_easy_setopt(easy, CURLOPT_CA_CACHE_TIMEOUT, CA_CACHE_S);
	curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	return probe;
}

int check_curl_begin(struct check_curl *probe, struct gw_probe **out)
{
	curl_easy_setopt(probe->easy, CURLOPT_HTTPHEADER, probe->headers);
	if (curl_multi_add_handle(probe->curl->multi, probe->easy)) {
		probe_free(probe);
		return -ENOMEM;
	}
	check_deadline_start(
		probe->curl->loop, &probe->deadline, probe->target.check->timeout_ms, time_is_up);
	probe->deadline.timer.data = probe;
	probe->begun = true;
	*out = &probe->probe;
	return 0;
}

void check_curl_cancel(struct gw_probe *base)
{
	probe_free((struct check_curl *)base);
}

int gw_check_curl_new(uv_loop_t *loop, struct gw_check_curl **out)
{
	struct gw_check_curl *curl = calloc(1, sizeof(*curl));

	if (!curl)
		return -ENOMEM;
	curl->loop = loop;
	curl->timer = calloc(1, sizeof(*curl->timer));
	curl->multi = curl_multi_init();
	if (!curl->timer || !curl->multi) {
		curl_multi_cleanup(curl->multi);
		free(curl->timer);
		free(curl);
		return -ENOMEM;
	}
	uv_timer_init(loop, curl->timer);
	curl->timer->data = curl;
	curl_multi_setopt(curl->multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
	curl_multi_setopt(curl->multi, CURLMOPT_SOCKETDATA, curl);
	curl_multi_setopt(curl->multi, CURLMOPT_TIMERFUNCTION, timeout_wanted);
	curl_multi_setopt(curl->multi, CURLMOPT_TIMERDATA, curl);
	*out = curl;
	return 0;
}

void gw_check_curl_free(struct gw_check_curl *curl)
{
	if (!curl)
		return;
	curl_multi_cleanup(curl->multi);
	uv_close((uv_handle_t *)curl->timer, handle_free);
	free(curl);
}
