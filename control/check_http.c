/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP probes by libcurl's multi interface, driven by the event loop: curl names the sockets and
 * the timeout it waits for (socket_wanted, timeout_wanted), the loop tells it what happened, and
 * finished transfers are collected after each call into curl, so that no owner is called from
 * inside one.
 */
#include "check_http.h"

#include "abi/types.h"
#include "base/address.h"
#include "control/check.h"

#include <curl/curl.h>
#include <uv.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* The status decides; a longer body than this is not waited for. */
#define BODY_MAX 65536

struct gw_http_prober {
	uv_loop_t *loop;
	CURLM *multi;
	uv_timer_t *timer; /* own memory: it closes after the prober is freed */
};

struct probe_http {
	struct gw_probe probe;
	struct gw_http_prober *prober;
	CURL *easy;
	struct curl_slist *headers;
	const struct gw_check_target *target;
	gw_check_done *done;
	void *owner;
	size_t body;
	struct gw_check_target copy;
};

static void handle_free(uv_handle_t *handle)
{
	free(handle);
}

static void probe_free(struct probe_http *probe)
{
	if (probe->easy) {
		curl_multi_remove_handle(probe->prober->multi, probe->easy);
		curl_easy_cleanup(probe->easy);
	}
	curl_slist_free_all(probe->headers);
	free(probe);
}

static bool status_expected(const struct gw_config_check *check, long status)
{
	for (size_t i = 0; i < check->expect_count; i++)
		if (status >= check->expect[i].low && status <= check->expect[i].high)
			return true;
	return false;
}

static void outcome_fill(
	const struct probe_http *probe, CURLcode code, struct gw_check_outcome *outcome)
{
	const struct gw_config_check *check = probe->copy.check;
	long status = 0, os_error = 0;

	curl_easy_getinfo(probe->easy, CURLINFO_RESPONSE_CODE, &status);
	if (code == CURLE_WRITE_ERROR && probe->body > BODY_MAX)
		code = CURLE_OK; /* ours: enough of it was read */
	if (code == CURLE_OK) {
		outcome->success = status_expected(check, status);
		snprintf(outcome->text, sizeof(outcome->text), "http %ld", status);
		return;
	}
	outcome->success = false;
	curl_easy_getinfo(probe->easy, CURLINFO_OS_ERRNO, &os_error);
	if (code == CURLE_OPERATION_TIMEDOUT)
		snprintf(outcome->text, sizeof(outcome->text), "no %s in %u ms",
			status ? "end of the answer" : "answer", check->timeout_ms);
	else if (code == CURLE_COULDNT_CONNECT && os_error)
		snprintf(outcome->text, sizeof(outcome->text), "%s",
			uv_strerror(uv_translate_sys_error((int)os_error)));
	else
		snprintf(outcome->text, sizeof(outcome->text), "%s", curl_easy_strerror(code));
}

static void transfers_collect(struct gw_http_prober *prober)
{
	CURLMsg *message;
	int left;

	while ((message = curl_multi_info_read(prober->multi, &left))) {
		struct gw_check_outcome outcome;
		struct probe_http *probe;

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

static void multi_act(struct gw_http_prober *prober, curl_socket_t socket, int events)
{
	int running;

	curl_multi_socket_action(prober->multi, socket, events, &running);
	transfers_collect(prober);
}

static void socket_ready(uv_poll_t *poll, int status, int events)
{
	struct gw_http_prober *prober = poll->data;
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
	multi_act(prober, fd, flags);
}

static int socket_wanted(CURL *easy, curl_socket_t socket, int what, void *owner, void *attached)
{
	struct gw_http_prober *prober = owner;
	uv_poll_t *poll = attached;
	int events = 0;

	if (what == CURL_POLL_REMOVE) {
		if (poll) {
			curl_multi_assign(prober->multi, socket, NULL);
			uv_close((uv_handle_t *)poll, handle_free);
		}
		return 0;
	}
	if (!poll) {
		poll = calloc(1, sizeof(*poll));
		if (!poll || uv_poll_init(prober->loop, poll, socket)) {
			free(poll);
			return -1;
		}
		poll->data = prober;
		curl_multi_assign(prober->multi, socket, poll);
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
	struct gw_http_prober *prober = owner;

	if (timeout_ms < 0)
		return uv_timer_stop(prober->timer);
	return uv_timer_start(prober->timer, timer_ran_out, (uint64_t)timeout_ms, 0);
}

static size_t body_discard(char *data, size_t size, size_t count, void *owner)
{
	struct probe_http *probe = owner;

	probe->body += size * count;
	return probe->body > BODY_MAX ? 0 : size * count;
}

static int socket_linger(void *owner, curl_socket_t socket, curlsocktype purpose)
{
	struct linger linger = {.l_onoff = 1, .l_linger = 0};

	return setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger))
		       ? CURL_SOCKOPT_ERROR
		       : CURL_SOCKOPT_OK;
}

static int headers_make(struct probe_http *probe)
{
	const char *host = probe->copy.check->host;
	struct curl_slist *list = curl_slist_append(NULL, "Connection: close");
	struct curl_slist *longer = list;
	char line[320];

	if (list && host) {
		snprintf(line, sizeof(line), "Host: %s", host);
		longer = curl_slist_append(list, line);
	}
	if (!longer) {
		curl_slist_free_all(list);
		return -ENOMEM;
	}
	probe->headers = list;
	return 0;
}

static int url_set(struct probe_http *probe)
{
	const struct gw_config_check *check = probe->copy.check;
	char address[GW_ADDRESS_TEXT], *url;
	bool v6 = !gw_address_is_ipv4((const struct gw_address *)probe->copy.address);
	CURLcode code;

	gw_address_format(probe->copy.address, address);
	if (asprintf(&url, "http://%s%s%s:%u%s", v6 ? "[" : "", address, v6 ? "]" : "", check->port,
		    check->path ? check->path : "/") < 0)
		return -ENOMEM;
	code = curl_easy_setopt(probe->easy, CURLOPT_URL, url);
	free(url);
	return code ? -ENOMEM : 0;
}

static int easy_make(struct probe_http *probe)
{
	CURL *easy = probe->easy = curl_easy_init();

	if (!easy || headers_make(probe) || url_set(probe))
		return -ENOMEM;
	curl_easy_setopt(easy, CURLOPT_PRIVATE, probe);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, probe->headers);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "guideway-check/" GW_VERSION);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)probe->copy.check->timeout_ms);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)probe->copy.check->timeout_ms);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_discard);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, probe);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, socket_linger);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http");
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_PROXY, ""); /* whatever the environment says */
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	return 0;
}

static int http_start(struct gw_checker *checker, const struct gw_check_target *target,
	gw_check_done *done, void *owner, struct gw_probe **out)
{
	struct probe_http *probe = calloc(1, sizeof(*probe));
	int ret;

	if (!probe)
		return -ENOMEM;
	probe->probe.ops = &gw_check_http;
	probe->prober = gw_checker_http(checker);
	probe->copy = *target;
	probe->done = done;
	probe->owner = owner;
	ret = easy_make(probe);
	if (!ret && curl_multi_add_handle(probe->prober->multi, probe->easy))
		ret = -ENOMEM;
	if (ret) {
		probe_free(probe);
		return ret;
	}
	*out = &probe->probe;
	return 0;
}

static void http_cancel(struct gw_probe *base)
{
	probe_free((struct probe_http *)base);
}

const struct gw_check_ops gw_check_http = {
	.start = http_start,
	.cancel = http_cancel,
};

int gw_http_prober_new(uv_loop_t *loop, struct gw_http_prober **out)
{
	struct gw_http_prober *prober = calloc(1, sizeof(*prober));

	if (!prober)
		return -ENOMEM;
	prober->loop = loop;
	prober->timer = calloc(1, sizeof(*prober->timer));
	prober->multi = curl_multi_init();
	if (!prober->timer || !prober->multi) {
		curl_multi_cleanup(prober->multi);
		free(prober->timer);
		free(prober);
		return -ENOMEM;
	}
	uv_timer_init(loop, prober->timer);
	prober->timer->data = prober;
	curl_multi_setopt(prober->multi, CURLMOPT_SOCKETFUNCTION, socket_wanted);
	curl_multi_setopt(prober->multi, CURLMOPT_SOCKETDATA, prober);
	curl_multi_setopt(prober->multi, CURLMOPT_TIMERFUNCTION, timeout_wanted);
	curl_multi_setopt(prober->multi, CURLMOPT_TIMERDATA, prober);
	*out = prober;
	return 0;
}

void gw_http_prober_free(struct gw_http_prober *prober)
{
	if (!prober)
		return;
	curl_multi_cleanup(prober->multi);
	uv_close((uv_handle_t *)prober->timer, handle_free);
	free(prober);
}
