/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"

#include <curl/curl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 15000L

struct cli_client {
	CURL *easy;
	struct curl_slist *headers;
	char *answer;
	size_t length;
};

static size_t answer_append(char *data, size_t size, size_t count, void *owner)
{
	struct cli_client *client = owner;
	size_t bytes = size * count;
	char *grown = realloc(client->answer, client->length + bytes + 1);

	if (!grown)
		return 0;
	memcpy(grown + client->length, data, bytes);
	client->answer = grown;
	client->length += bytes;
	grown[client->length] = 0;
	return bytes;
}

static struct cli_client *client_open(struct cli *cli)
{
	struct cli_client *client = cli->client;

	if (client)
		return client;
	client = calloc(1, sizeof(*client));
	if (!client)
		return NULL;
	client->easy = curl_easy_init();
	if (!client->easy) {
		free(client);
		return NULL;
	}
	client->headers = curl_slist_append(NULL, "Content-Type: application/json");
	curl_easy_setopt(client->easy, CURLOPT_UNIX_SOCKET_PATH, cli->socket);
	curl_easy_setopt(client->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(client->easy, CURLOPT_TIMEOUT_MS, TIMEOUT_MS);
	curl_easy_setopt(client->easy, CURLOPT_WRITEFUNCTION, answer_append);
	curl_easy_setopt(client->easy, CURLOPT_WRITEDATA, client);
	cli->client = client;
	return client;
}

void cli_client_free(struct cli_client *client)
{
	if (!client)
		return;
	curl_easy_cleanup(client->easy);
	curl_slist_free_all(client->headers);
	free(client->answer);
	free(client);
}

char *cli_escape(struct cli *cli, const char *text)
{
	struct cli_client *client = client_open(cli);
	char *escaped = client ? curl_easy_escape(client->easy, text, 0) : NULL;
	char *copy = escaped ? strdup(escaped) : NULL;

	curl_free(escaped);
	return copy;
}

static int status_to_exit(long status)
{
	switch (status) {
	case 200:
		return CLI_DONE;
	case 400:
	case 405:
		return CLI_USAGE;
	case 404:
		return CLI_ABSENT;
	case 422:
		return CLI_INVALID;
	case 503:
		return CLI_UNREACHABLE;
	default:
		return CLI_FAILED;
	}
}

/* The HTTP status, or 0 when nobody answered (curl's code in *code). */
static long client_request(
	struct cli_client *client, const char *path, const char *body, CURLcode *code)
{
	char url[2048];
	long status = 0;

	if ((size_t)snprintf(url, sizeof(url), "http://guideway%s", path) >= sizeof(url)) {
		*code = CURLE_URL_MALFORMAT;
		return 0;
	}
	client->length = 0;
	curl_easy_setopt(client->easy, CURLOPT_URL, url);
	curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, body ? client->headers : NULL);
	if (body) {
		curl_easy_setopt(
			client->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
		curl_easy_setopt(client->easy, CURLOPT_POSTFIELDS, body);
	} else {
		curl_easy_setopt(client->easy, CURLOPT_HTTPGET, 1L);
	}
	*code = curl_easy_perform(client->easy);
	if (*code == CURLE_OK)
		curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static void unreachable_say(const struct cli *cli, struct cli_client *client, CURLcode code)
{
	long os_error = 0;

	if (cli->quiet)
		return;
	curl_easy_getinfo(client->easy, CURLINFO_OS_ERRNO, &os_error);
	cli_error("cannot reach guideway-control at %s: %s. Is it running? Another socket is named "
		  "by --socket or $GUIDEWAY_SOCKET.",
		cli->socket,
		code == CURLE_COULDNT_CONNECT && os_error ? strerror((int)os_error)
							  : curl_easy_strerror(code));
}

static int request(struct cli *cli, const char *path, json_t *body, bool quiet, json_t **out)
{
	struct cli_client *client = client_open(cli);
	char *text = body ? json_dumps(body, JSON_COMPACT) : NULL;
	json_t *answer = NULL;
	CURLcode code;
	long status;
	int ret;

	if (!client || (body && !text)) {
		json_decref(body);
		cli_error("out of memory");
		return CLI_FAILED;
	}
	json_decref(body);
	status = client_request(client, path, text, &code);
	free(text);
	if (!status) {
		unreachable_say(cli, client, code);
		return CLI_UNREACHABLE;
	}
	ret = status_to_exit(status);
	answer = client->length ? json_loadb(client->answer, client->length, JSON_DECODE_ANY, NULL)
				: NULL;
	if (!answer) {
		cli_error("guideway-control at %s answered %s with no JSON (status %ld)",
			cli->socket, path, status);
		return CLI_FAILED;
	}
	if (ret == CLI_DONE || quiet) {
		*out = answer;
		return ret;
	}
	const char *error = json_string_value(json_object_get(answer, "error"));

	cli_error("%s", error ? error : "guideway-control refused, without saying why");
	json_t *details = json_object_get(answer, "errors");
	size_t i;
	json_t *detail;

	json_array_foreach (details, i, detail)
		fprintf(stderr, "%s\n", json_string_value(detail));
	json_decref(answer);
	return ret;
}

int cli_get(struct cli *cli, const char *path, json_t **out)
{
	return request(cli, path, NULL, false, out);
}

int cli_post(struct cli *cli, const char *path, json_t *body, json_t **out)
{
	if (!body) {
		cli_error("out of memory");
		return CLI_FAILED;
	}
	return request(cli, path, body, false, out);
}

int cli_try(struct cli *cli, const char *path, json_t *body, json_t **out)
{
	*out = NULL;
	return request(cli, path, body, true, out);
}

int cli_print_json(const json_t *value)
{
	if (json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY) || putchar('\n') == EOF)
		return CLI_FAILED;
	return CLI_DONE;
}

int cli_print_json_line(const json_t *value)
{
	if (json_dumpf(value, stdout, JSON_COMPACT | JSON_ENCODE_ANY) || putchar('\n') == EOF)
		return CLI_FAILED;
	return CLI_DONE;
}
