/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes against real sockets on loopback: a small server in the same event loop answers as told,
 * at once or a byte at a time, and notes what it was asked and how the connection ended.
 */
#include "control/check.h"

#include "base/address.h"
#include "loop_run.h"
#include "suite.h"

#include <uv.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DRIP_MS 20

/* For an answer that comes however slow the machine, and for one that never does. */
#define PATIENT_MS 20000
#define SHORT_MS   300
#define IN_TIME_MS (PATIENT_MS / 2)

struct server {
	uv_tcp_t listener;
	const char *answer; /* NULL: silence */
	size_t repeat;	    /* the answer's last part again and again, this many times */
	bool drip;
	uint16_t port;
	char request[2048];
	size_t request_length;
	int end; /* what ended the connection: UV_EOF, UV_ECONNRESET */
};

struct client {
	struct server *server;
	uv_tcp_t socket;
	uv_timer_t timer;
	uv_write_t write;
	size_t sent;
	int open_handles;
};

static uv_loop_t loop;
static struct server server;
static struct gw_checker *checker;
static struct gw_check_outcome outcome;
static int answers;
static uint64_t answered_at;

static void client_closed(uv_handle_t *handle)
{
	struct client *client = handle->data;

	if (--client->open_handles == 0)
		free(client);
}

static void client_close(struct client *client)
{
	if (uv_is_closing((uv_handle_t *)&client->socket))
		return;
	uv_close((uv_handle_t *)&client->socket, client_closed);
	uv_close((uv_handle_t *)&client->timer, client_closed);
}

static void drip(uv_timer_t *timer)
{
	struct client *client = timer->data;
	uv_buf_t byte = uv_buf_init((char *)client->server->answer + client->sent, 1);

	if (client->server->answer[client->sent] &&
		uv_try_write((uv_stream_t *)&client->socket, &byte, 1) == 1)
		client->sent++;
}

static void answer_whole(struct client *client)
{
	const char *answer = client->server->answer;
	uv_buf_t text = uv_buf_init((char *)answer, (unsigned int)strlen(answer));
	static char filler[65536];
	uv_buf_t more = uv_buf_init(filler, sizeof(filler));

	uv_try_write((uv_stream_t *)&client->socket, &text, 1);
	for (size_t i = 0; i < client->server->repeat; i++)
		uv_try_write((uv_stream_t *)&client->socket, &more, 1);
}

static void room_give(uv_handle_t *handle, size_t size, uv_buf_t *buffer)
{
	struct client *client = handle->data;

	*buffer = uv_buf_init(client->server->request + client->server->request_length,
		(unsigned int)(sizeof(client->server->request) - client->server->request_length -
			       1));
}

static void request_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer)
{
	struct client *client = stream->data;
	struct server *from = client->server;

	if (length < 0) {
		from->end = (int)length;
		client_close(client);
		return;
	}
	from->request_length += (size_t)length;
	if (!from->answer || !strstr(from->request, "\r\n\r\n"))
		return;
	if (from->drip)
		uv_timer_start(&client->timer, drip, 0, DRIP_MS);
	else
		answer_whole(client);
}

static void connected(uv_stream_t *listener, int status)
{
	struct client *client = calloc(1, sizeof(*client));

	client->server = listener->data;
	client->open_handles = 2;
	uv_tcp_init(&loop, &client->socket);
	uv_timer_init(&loop, &client->timer);
	client->socket.data = client->timer.data = client;
	uv_accept(listener, (uv_stream_t *)&client->socket);
	uv_read_start((uv_stream_t *)&client->socket, room_give, request_read);
}

static void server_open(const char *address)
{
	struct sockaddr_storage storage;
	int length = sizeof(storage);

	uv_loop_init(&loop);
	server = (struct server){.listener.data = &server};
	uv_tcp_init(&loop, &server.listener);
	server.listener.data = &server;
	if (strchr(address, ':'))
		uv_ip6_addr(address, 0, (struct sockaddr_in6 *)&storage);
	else
		uv_ip4_addr(address, 0, (struct sockaddr_in *)&storage);
	CU_ASSERT_EQUAL_FATAL(
		uv_tcp_bind(&server.listener, (const struct sockaddr *)&storage, 0), 0);
	CU_ASSERT_EQUAL_FATAL(uv_listen((uv_stream_t *)&server.listener, 8, connected), 0);
	uv_tcp_getsockname(&server.listener, (struct sockaddr *)&storage, &length);
	server.port = ntohs(((struct sockaddr_in *)&storage)->sin_port);
	CU_ASSERT_EQUAL_FATAL(gw_checker_new(&loop, &checker), 0);
	answers = 0;
}

static void close_any(uv_handle_t *handle, void *argument)
{
	if (uv_is_closing(handle))
		return;
	if (handle->data && handle->data != &server && handle->type == UV_TCP)
		client_close(handle->data);
	else if (handle == (uv_handle_t *)&server.listener)
		uv_close(handle, NULL);
}

/* Everything must close: a handle or byte left behind is found here and by the sanitizers. */
static void server_close(void)
{
	gw_checker_free(checker);
	uv_walk(&loop, close_any, NULL);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
}

static void answered(void *owner, const struct gw_check_outcome *result)
{
	outcome = *result;
	answers++;
	answered_at = uv_hrtime();
	uv_stop(&loop);
}

static struct gw_config_range expect_2xx[] = {{200, 299}};

static struct gw_config_check check_of(enum gw_config_check_type type)
{
	return (struct gw_config_check){
		.type = type,
		.port = server.port,
		.timeout_ms = PATIENT_MS,
		.path = "/healthz",
		.expect = expect_2xx,
		.expect_count = 1,
	};
}

/* Runs one probe to its end; the time it took in milliseconds. */
static uint64_t probe_run(const struct gw_config_check *check, const char *address)
{
	struct gw_check_target target = {.check = check};
	struct gw_probe *probe;
	uint8_t bytes[16];
	uint64_t start = uv_hrtime();

	CU_ASSERT_EQUAL_FATAL(gw_address_parse(address, bytes), 0);
	target.address = bytes;
	uv_update_time(&loop);
	CU_ASSERT_EQUAL_FATAL(
		gw_check_ops_find(check->type)->start(checker, &target, answered, NULL, &probe), 0);
	CU_ASSERT_EQUAL(answers, 0);
	loop_run_for(&loop, 2 * PATIENT_MS);
	CU_ASSERT_EQUAL_FATAL(answers, 1);
	return (answered_at - start) / 1000000;
}

static bool connection_ended(void *of)
{
	return ((const struct server *)of)->end != 0;
}

/* The same, but the process stands still for twice the timeout once the probe is under way. */
static void probe_run_late(const struct gw_config_check *check)
{
	struct gw_check_target target = {.check = check,
		.address = (const uint8_t[16]){[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};
	struct gw_probe *probe;

	CU_ASSERT_EQUAL_FATAL(
		gw_check_ops_find(check->type)->start(checker, &target, answered, NULL, &probe), 0);
	usleep(2 * check->timeout_ms * 1000);
	loop_run_for(&loop, 2 * PATIENT_MS);
	CU_ASSERT_EQUAL_FATAL(answers, 1);
}

static void http_run(const char *answer)
{
	struct gw_config_check check;

	server_open("127.0.0.1");
	server.answer = answer;
	check = check_of(GW_CONFIG_CHECK_HTTP);
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(loop_run_until(&loop, connection_ended, &server));
	server_close();
}

static void tcp_probe_succeeds_where_somebody_listens_and_ends_by_reset(void)
{
	struct gw_config_check check;

	server_open("127.0.0.1");
	check = check_of(GW_CONFIG_CHECK_TCP);
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	CU_ASSERT_TRUE(loop_run_until(&loop, connection_ended, &server));
	CU_ASSERT_EQUAL(server.end, UV_ECONNRESET);
	server_close();
}

static void tcp_probe_speaks_ipv6(void)
{
	struct gw_config_check check;

	server_open("::1");
	check = check_of(GW_CONFIG_CHECK_TCP);
	probe_run(&check, "::1");
	CU_ASSERT_TRUE(outcome.success);
	server_close();
}

static void tcp_probe_of_a_closed_port_is_refused(void)
{
	struct gw_config_check check;

	server_open("127.0.0.1");
	check = check_of(GW_CONFIG_CHECK_TCP);
	uv_close((uv_handle_t *)&server.listener, NULL);
	uv_run(&loop, UV_RUN_NOWAIT);
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_STRING_EQUAL(outcome.text, "connection refused");
	server_close();
}

static void http_probe_takes_an_expected_status(void)
{
	http_run("HTTP/1.1 204 No Content\r\n\r\n");
	CU_ASSERT_TRUE(outcome.success);
	CU_ASSERT_STRING_EQUAL(outcome.text, "http 204");
	CU_ASSERT_EQUAL(strncmp(server.request, "GET /healthz HTTP/1.1\r\n", 23), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(server.request, "Host: 127.0.0.1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(server.request, "Connection: close\r\n"));
	CU_ASSERT_EQUAL(server.end, UV_ECONNRESET);
}

static void http_probe_refuses_another_status(void)
{
	http_run("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_STRING_EQUAL(outcome.text, "http 503");
}

static void http_probe_follows_no_redirect(void)
{
	http_run("HTTP/1.1 302 Found\r\nLocation: /healthz\r\nContent-Length: 0\r\n\r\n");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_STRING_EQUAL(outcome.text, "http 302");
}

static void http_probe_refuses_what_is_no_http(void)
{
	http_run("SSH-2.0-OpenSSH_9.2\r\n");
	CU_ASSERT_FALSE(outcome.success);
}

static void http_probe_sends_the_host_it_is_told(void)
{
	struct gw_config_check check;

	server_open("::1");
	server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	check = check_of(GW_CONFIG_CHECK_HTTP);
	check.host = "www.example.net";
	probe_run(&check, "::1");
	CU_ASSERT_TRUE(outcome.success);
	CU_ASSERT_PTR_NOT_NULL(strstr(server.request, "\r\nHost: www.example.net\r\n"));
	server_close();
}

static void http_server_that_drips_fails_in_time(void)
{
	struct gw_config_check check;
	uint64_t took;

	server_open("127.0.0.1");
	server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	server.drip = true;
	check = check_of(GW_CONFIG_CHECK_HTTP);
	check.timeout_ms = SHORT_MS;
	took = probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_STRING_EQUAL(outcome.text, "no answer in 300 ms");
	CU_ASSERT_TRUE(took >= SHORT_MS - 10 && took < IN_TIME_MS);
	server_close();
}

static void http_answer_without_an_end_fails_in_time(void)
{
	struct gw_config_check check;

	server_open("127.0.0.1");
	server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\nok";
	check = check_of(GW_CONFIG_CHECK_HTTP);
	check.timeout_ms = 1000; /* time enough for the beginning */
	probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_STRING_EQUAL(outcome.text, "no end of the answer in 1000 ms");
	server_close();
}

static void http_body_beyond_the_bound_is_not_waited_for(void)
{
	struct gw_config_check check;
	uint64_t took;

	server_open("127.0.0.1");
	server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";
	server.repeat = 4;
	check = check_of(GW_CONFIG_CHECK_HTTP);
	took = probe_run(&check, "127.0.0.1");
	CU_ASSERT_TRUE(outcome.success);
	CU_ASSERT_STRING_EQUAL(outcome.text, "http 200");
	CU_ASSERT_TRUE(took < IN_TIME_MS);
	server_close();
}

static void silent_server_fails_in_time(void)
{
	struct gw_config_check check;
	uint64_t took;

	server_open("127.0.0.1");
	check = check_of(GW_CONFIG_CHECK_HTTP);
	check.timeout_ms = SHORT_MS;
	took = probe_run(&check, "127.0.0.1");
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_TRUE(took >= SHORT_MS - 10 && took < IN_TIME_MS);
	server_close();
}

static void our_own_delay_is_not_the_backends_failure(void)
{
	static const enum gw_config_check_type types[] = {
		GW_CONFIG_CHECK_TCP, GW_CONFIG_CHECK_HTTP};

	for (size_t i = 0; i < 2; i++) {
		struct gw_config_check check;

		server_open("127.0.0.1");
		server.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
		check = check_of(types[i]);
		check.timeout_ms = SHORT_MS;
		probe_run_late(&check);
		CU_ASSERT_TRUE(outcome.success);
		if (!outcome.success)
			printf("  %s\n", outcome.text);
		server_close();
	}
}

static void silence_is_found_out_though_we_were_late(void)
{
	struct gw_config_check check;

	server_open("127.0.0.1");
	check = check_of(GW_CONFIG_CHECK_HTTP);
	check.timeout_ms = SHORT_MS;
	probe_run_late(&check);
	CU_ASSERT_FALSE(outcome.success);
	CU_ASSERT_STRING_EQUAL(outcome.text, "no answer in 300 ms");
	server_close();
}

static void cancelled_probe_never_answers(void)
{
	static const enum gw_config_check_type types[] = {
		GW_CONFIG_CHECK_TCP, GW_CONFIG_CHECK_HTTP};

	for (size_t i = 0; i < 2; i++) {
		struct gw_check_target target = {
			.address = (const uint8_t[16]){
				[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};
		struct gw_config_check check;
		struct gw_probe *probe;

		server_open("127.0.0.1");
		check = check_of(types[i]);
		target.check = &check;
		CU_ASSERT_EQUAL_FATAL(gw_check_ops_find(types[i])->start(
					      checker, &target, answered, NULL, &probe),
			0);
		probe->ops->cancel(probe);
		loop_run_for(&loop, 100);
		CU_ASSERT_EQUAL(answers, 0);
		server_close();
	}
}

static const struct gw_test tests[] = {
	GW_TEST(tcp_probe_succeeds_where_somebody_listens_and_ends_by_reset),
	GW_TEST(tcp_probe_speaks_ipv6),
	GW_TEST(tcp_probe_of_a_closed_port_is_refused),
	GW_TEST(http_probe_takes_an_expected_status),
	GW_TEST(http_probe_refuses_another_status),
	GW_TEST(http_probe_follows_no_redirect),
	GW_TEST(http_probe_refuses_what_is_no_http),
	GW_TEST(http_probe_sends_the_host_it_is_told),
	GW_TEST(http_server_that_drips_fails_in_time),
	GW_TEST(http_answer_without_an_end_fails_in_time),
	GW_TEST(http_body_beyond_the_bound_is_not_waited_for),
	GW_TEST(silent_server_fails_in_time),
	GW_TEST(our_own_delay_is_not_the_backends_failure),
	GW_TEST(silence_is_found_out_though_we_were_late),
	GW_TEST(cancelled_probe_never_answers),
};

GW_SUITE("check", tests)
