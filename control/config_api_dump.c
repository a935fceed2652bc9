/* SPDX-License-Identifier: BSD-2-Clause */
/* The section api as a dump shows it: the files of secrets by name, never what is in them. */
#include "config_api.h"

#include <string.h>

const char *gw_config_scope_name(enum gw_config_scope scope)
{
	static const char *const names[] = {"view", "drain", "admin"};

	return names[scope];
}

bool gw_config_listen_local(const struct gw_config_listen *listen)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t loopback[16] = {[15] = 1};

	return !memcmp(listen->address, mapped, sizeof(mapped))
		       ? listen->address[12] == 127
		       : !memcmp(listen->address, loopback, sizeof(loopback));
}

static void socket_dump(json_t *object, const struct gw_config_socket *socket)
{
	json_object_set_new(object, "unix", json_string(socket->path));
	if (socket->group)
		json_object_set_new(object, "group", json_string(socket->group));
	json_object_set_new(object, "mode", json_sprintf("%04o", socket->mode));
}

static json_t *token_dump(const struct gw_config_token *token)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "name", token->name, "file", token->file,
		"scope", gw_config_scope_name(token->scope));
	json_t *pools;

	if (!token->pool_count)
		return object;
	pools = json_array();
	for (size_t i = 0; i < token->pool_count; i++)
		json_array_append_new(pools, json_string(token->pools[i]));
	json_object_set_new(object, "pools", pools);
	return object;
}

static json_t *tcp_dump(const struct gw_config_tcp *tcp)
{
	json_t *object = json_pack("{s:s}", "listen", tcp->listen.text);
	json_t *tokens = json_array();

	if (tcp->certificate) {
		json_object_set_new(object, "certificate", json_string(tcp->certificate));
		json_object_set_new(object, "key", json_string(tcp->key));
	}
	for (size_t i = 0; i < tcp->token_count; i++)
		json_array_append_new(tokens, token_dump(&tcp->tokens[i]));
	json_object_set_new(object, "tokens", tokens);
	return object;
}

json_t *config_api_dump(const struct gw_config_api *api)
{
	json_t *object = json_object();
	json_t *read_only;

	socket_dump(object, &api->control);
	if (api->read_only.path) {
		read_only = json_object();
		socket_dump(read_only, &api->read_only);
		json_object_set_new(object, "read_only", read_only);
	}
	if (api->tcp.listen.text)
		json_object_set_new(object, "tcp", tcp_dump(&api->tcp));
	return object;
}
