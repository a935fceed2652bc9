/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bytes as a peer may send them, through a connected socket into the HTTP server and the API's
 * handlers, of a daemon that is whole but for a datapath. The first byte chooses the door: the
 * control socket, the reading one, TCP, metrics; the second where the bytes are cut into two
 * writes.
 *
 * Whatever comes, the connection ends, and an answer with a body of JSON is JSON.
 */
#include "base/log.h"
#include "control/api.h"
#include "control/daemon.h"
#include "control/metrics.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TURNS_MAX    2000
#define ANSWER_BYTES (1u << 20)

static const char config_text[] =
	"version: 1\n"
	"node: {name: lb1, source_ipv4: 10.82.0.11}\n"
	"dataplane: {path: dpdk, socket: %s/none.sock}\n"
	"state_dir: %s\n"
	"pools:\n"
	"  - {name: web, table_size: 251, backends: [{name: b1, address: 10.82.0.101},"
	" {name: b2, address: 10.82.0.102}]}\n"
	"services:\n"
	"  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80], pool: web}\n"
	"api:\n"
	"  unix: %s/control.sock\n"
	"  tcp: {listen: \"127.0.0.1:%u\", tokens: [{name: t, file: %s/token, scope: drain,"
	" pools: [web]}]}\n";

static uv_loop_t loop;
static struct gw_daemon *daemon_;
static struct gw_api_entry entries[GW_DOORS];
static struct gw_http_server *servers[GW_DOORS];
static char folder[] = "/dev/shm/gw-fuzz-api-XXXXXX";
static char answer[ANSWER_BYTES + 1];

static void folder_remove(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf -- %s", folder);
	if (system(command))
		abort();
}

static void file_write(const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

static unsigned int port_free(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, length) ||
		getsockname(fd, (struct sockaddr *)&at, &length))
		abort();
	close(fd);
	return ntohs(at.sin_port);
}

static void daemon_make(void)
{
	static char config[64];
	char text[2048];
	const struct gw_daemon_options options = {.config = config};

	if (!mkdtemp(folder) || atexit(folder_remove))
		abort();
	umask(077);
	file_write("token", "0123456789abcdef0123456789abcdef");
	snprintf(text, sizeof(text), config_text, folder, folder, folder, port_free(), folder);
	file_write("config.yaml", text);
	snprintf(config, sizeof(config), "%s/config.yaml", folder);
	gw_log_open("fuzz", GW_LOG_ERROR);
	if (uv_loop_init(&loop) || gw_daemon_open(&loop, &options, &daemon_))
		abort();
}

static void servers_make(void)
{
	for (enum gw_door door = 0; door < GW_DOORS; door++) {
		const struct gw_http_handler handler = {
			.owner = &entries[door],
			.body_limit =
				door == GW_DOOR_METRICS ? gw_metrics_body_limit : gw_api_body_limit,
			.answer = door == GW_DOOR_METRICS ? gw_metrics_answer : gw_api_answer,
		};
		const struct gw_http_options options = {
			.listener = -1,
			.unix_path = door < GW_DOOR_TCP ? "" : NULL,
			.connections = 8,
		};

		entries[door] = (struct gw_api_entry){daemon_, door};
		if (gw_http_server_open(&loop, &options, &handler, &servers[door]))
			abort();
	}
}

/* Turns the loop until the peer has closed; returns how much it said. */
static size_t answer_read(int fd)
{
	size_t length = 0;

	for (int turn = 0; turn < TURNS_MAX; turn++) {
		ssize_t got = recv(fd, answer + length, ANSWER_BYTES - length, MSG_DONTWAIT);

		if (!got || (got < 0 && errno != EAGAIN))
			return length;
		if (got > 0)
			length += (size_t)got;
		else
			uv_run(&loop, UV_RUN_NOWAIT);
	}
	abort(); /* a connection that does not end */
}

/* Of the first answer; what follows it may be one more. */
static void answer_check(size_t length)
{
	const char *body, *size;
	size_t body_length;
	json_t *json;

	answer[length] = 0;
	if (!length)
		return;
	if (strncmp(answer, "HTTP/1.", 7) != 0)
		abort();
	body = strstr(answer, "\r\n\r\n");
	size = strcasestr(answer, "\r\nContent-Length: ");
	if (!body || !size || size > body || !strcasestr(answer, "application/json"))
		return;
	body += 4;
	body_length = strtoul(size + strlen("\r\nContent-Length: "), NULL, 10);
	if (body_length > length - (size_t)(body - answer))
		return; /* cut off */
	json = json_loadb(body, body_length, JSON_DECODE_ANY, NULL);
	if (!json)
		abort();
	json_decref(json);
}

static void bytes_send(int fd, const uint8_t *data, size_t size)
{
	if (size && send(fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return; /* it has closed already */
	uv_run(&loop, UV_RUN_NOWAIT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int ends[2];
	size_t cut, length;

	if (!daemon_) {
		daemon_make();
		servers_make();
	}
	if (size < 2)
		return 0;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) ||
		gw_http_server_adopt(servers[data[0] % GW_DOORS], ends[1]))
		abort();
	cut = size - 2 ? data[1] % (size - 2) : 0;
	bytes_send(ends[0], data + 2, cut);
	bytes_send(ends[0], data + 2 + cut, size - 2 - cut);
	shutdown(ends[0], SHUT_WR);
	length = answer_read(ends[0]);
	if (!memmem(data + 2, size - 2, "HEAD", 4)) /* whose answer has a length, but no body */
		answer_check(length);
	close(ends[0]);
	return 0;
}
