/* SPDX-License-Identifier: BSD-2-Clause */
/* The HTTP server with real clients: libcurl in a thread of its own, over a real Unix socket. */
#include "control/http_server.h"

#include "control/http_listen.h"
#include "suite.h"

#include <curl/curl.h>
#include <uv.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[64];
static char path[96];
static uv_loop_t loop;
static struct gw_http_server *server;
static uid_t seen_uid;

/* Echoes what it got. */
static void handler(void *owner, const struct gw_http_request *request, struct gw_http_reply *reply)
{
	const char *argument = gw_http_argument(request, "name");

	seen_uid = request->peer.uid;
	reply->status = request->oversized ? 413 : strcmp(request->path, "/missing") ? 200 : 404;
	reply->json = json_pack("{s:s, s:s, s:I, s:s?}", "method", request->method, "path",
		request->path, "length", (json_int_t)request->body_length, "argument", argument);
}

#define BODY_MAX (2u << 20)

static size_t body_limit(void *owner, const struct gw_http_request *request)
{
	return BODY_MAX;
}

/* As the daemon does: a listening socket, and a server on it. */
static int server_open(const char *at, struct gw_http_server **out)
{
	const struct gw_config_socket wanted = {.path = at, .mode = 0640};
	const struct gw_http_handler handlers = {.body_limit = body_limit, .answer = handler};
	struct gw_http_options options = {.unix_path = at, .connections = 8};

	options.listener = gw_http_listen_unix(&wanted);
	return options.listener < 0 ? options.listener
				    : gw_http_server_open(&loop, &options, &handlers, out);
}

static void server_start(void)
{
	strcpy(folder, "/tmp/gw-test-api-XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/below/control.sock", folder);
	uv_loop_init(&loop);
	CU_ASSERT_EQUAL_FATAL(server_open(path, &server), 0);
}

static void server_stop(void)
{
	char below[96];

	gw_http_server_close(server);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	CU_ASSERT_NOT_EQUAL(access(path, F_OK), 0);
	unlink(path);
	snprintf(below, sizeof(below), "%s/below", folder);
	rmdir(below);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

/* One request in a thread while the loop runs. */
struct exchange {
	const char *url;
	const char *body; /* NULL: GET */
	size_t body_length;
	long status;
	CURLcode code;
	char answer[4096];
	size_t length;
	uv_async_t done;
};

static size_t answer_append(char *data, size_t size, size_t count, void *owner)
{
	struct exchange *exchange = owner;

	if (exchange->length + size * count < sizeof(exchange->answer)) {
		memcpy(exchange->answer + exchange->length, data, size * count);
		exchange->length += size * count;
	}
	return size * count;
}

static void client_run(void *argument)
{
	struct exchange *exchange = argument;
	CURL *easy = curl_easy_init();

	curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, path);
	curl_easy_setopt(easy, CURLOPT_URL, exchange->url);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 60000L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, answer_append);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, exchange);
	if (exchange->body) {
		curl_easy_setopt(
			easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)exchange->body_length);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, exchange->body);
	}
	exchange->code = curl_easy_perform(easy);
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &exchange->status);
	curl_easy_cleanup(easy);
	uv_async_send(&exchange->done);
}

static void exchange_done(uv_async_t *async)
{
	uv_close((uv_handle_t *)async, NULL);
	uv_stop(&loop);
}

static void exchange_run(struct exchange *exchange)
{
	uv_thread_t thread;

	uv_async_init(&loop, &exchange->done, exchange_done);
	uv_thread_create(&thread, client_run, exchange);
	uv_run(&loop, UV_RUN_DEFAULT);
	uv_thread_join(&thread);
}

static json_t *answer_json(const struct exchange *exchange)
{
	return json_loadb(exchange->answer, exchange->length, 0, NULL);
}

static void a_request_reaches_the_handler_and_its_answer_the_caller(void)
{
	struct exchange exchange = {.url = "http://x/v1/a%20b?name=tcp%201"};
	json_t *answer;

	server_start();
	exchange_run(&exchange);
	CU_ASSERT_EQUAL(exchange.status, 200);
	answer = answer_json(&exchange);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(answer, "method")), "GET");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(answer, "path")), "/v1/a b");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(answer, "argument")), "tcp 1");
	CU_ASSERT_EQUAL(seen_uid, getuid());
	json_decref(answer);
	server_stop();
}

static void the_handlers_status_is_sent(void)
{
	struct exchange exchange = {.url = "http://x/missing"};

	server_start();
	exchange_run(&exchange);
	CU_ASSERT_EQUAL(exchange.status, 404);
	server_stop();
}

static void a_body_of_a_megabyte_arrives_whole(void)
{
	struct exchange exchange = {.url = "http://x/v1/p", .body_length = 1 << 20};
	char *body = calloc(1, exchange.body_length);
	json_t *answer;

	server_start();
	exchange.body = body;
	exchange_run(&exchange);
	answer = answer_json(&exchange);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(answer, "length")), 1 << 20);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(answer, "method")), "POST");
	json_decref(answer);
	server_stop();
	free(body);
}

static void a_body_beyond_the_limit_is_refused_with_a_word(void)
{
	struct exchange exchange = {.url = "http://x/v1/p", .body_length = BODY_MAX + 1};
	char *body = calloc(1, exchange.body_length);
	json_t *answer;

	server_start();
	exchange.body = body;
	exchange_run(&exchange);
	CU_ASSERT_EQUAL(exchange.status, 413);
	answer = answer_json(&exchange);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(answer, "length")), 0);
	json_decref(answer);
	server_stop();
	free(body);
}

static void the_socket_has_the_mode_it_was_given(void)
{
	struct stat info;

	server_start();
	CU_ASSERT_EQUAL(stat(path, &info), 0);
	CU_ASSERT_EQUAL(info.st_mode & 0777, 0640);
	server_stop();
}

static void a_living_servers_socket_is_not_taken(void)
{
	struct gw_http_server *second = NULL;
	struct exchange exchange = {.url = "http://x/v1/still"};

	server_start();
	CU_ASSERT_EQUAL(server_open(path, &second), -EADDRINUSE);
	exchange_run(&exchange);
	CU_ASSERT_EQUAL(exchange.status, 200);
	server_stop();
}

static void a_dead_servers_socket_is_replaced(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct exchange exchange = {.url = "http://x/v1/new"};
	struct gw_http_server *second;
	int fd;

	server_start();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/dead.sock", folder);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	CU_ASSERT_EQUAL_FATAL(server_open(address.sun_path, &second), 0);
	gw_http_server_close(server);
	server = second;
	strcpy(path, address.sun_path);
	exchange_run(&exchange);
	CU_ASSERT_EQUAL(exchange.status, 200);
	gw_http_server_close(server);
	uv_run(&loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	snprintf(path, sizeof(path), "%s/below", folder);
	rmdir(path);
	CU_ASSERT_EQUAL(rmdir(folder), 0);
}

static void a_file_that_is_no_socket_is_left_alone(void)
{
	char file[128];
	struct gw_http_server *second;

	server_start();
	snprintf(file, sizeof(file), "%s/file", folder);
	fclose(fopen(file, "w"));
	CU_ASSERT_NOT_EQUAL(server_open(file, &second), 0);
	CU_ASSERT_EQUAL(access(file, F_OK), 0);
	unlink(file);
	server_stop();
}

static void a_path_too_long_for_a_socket_is_an_error(void)
{
	struct gw_http_server *second;
	char longer[200];

	server_start();
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = 0;
	CU_ASSERT_EQUAL(server_open(longer, &second), -ENAMETOOLONG);
	server_stop();
}

static const struct gw_test tests[] = {
	GW_TEST(a_request_reaches_the_handler_and_its_answer_the_caller),
	GW_TEST(the_handlers_status_is_sent),
	GW_TEST(a_body_of_a_megabyte_arrives_whole),
	GW_TEST(a_body_beyond_the_limit_is_refused_with_a_word),
	GW_TEST(the_socket_has_the_mode_it_was_given),
	GW_TEST(a_living_servers_socket_is_not_taken),
	GW_TEST(a_dead_servers_socket_is_replaced),
	GW_TEST(a_file_that_is_no_socket_is_left_alone),
	GW_TEST(a_path_too_long_for_a_socket_is_an_error),
};

GW_SUITE("http_server", tests)
