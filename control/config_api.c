/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_api.h"

#include "config_address.h"
#include "config_arena.h"
#include "config_check.h"
#include "config_schema.h"
#include "config_values.h"

#include <errno.h>
#include <string.h>
#include <sys/un.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FIELD(type, field)                                                                         \
	.offset = offsetof(struct type, field), .size = sizeof(((struct type *)0)->field)
#define SOCKET_MAX     (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)
#define LOCAL_PATH_MAX 4095
#define GROUP_MAX      32

/* Octal, as chmod has it; the daemon's own user keeps both. */
static CONFIG_READER(read_mode)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];
	unsigned int mode = 0;
	size_t length = 0;

	if (!text)
		return false;
	for (; text[length] >= '0' && text[length] <= '7' && length < 4; length++)
		mode = mode * 8 + (unsigned int)(text[length] - '0');
	if (text[length] || length < 3 || mode & ~0666u || (mode & 0600) != 0600) {
		config_bad(walk, node,
			"\"%s\" is not the mode of a socket: \"0600\", \"0660\" or \"0666\"",
			config_quote(text, quoted));
		return false;
	}
	config_field_store(key, base, mode);
	return true;
}

static bool element_pool(struct config_walk *walk, yaml_node_t *node, void *item)
{
	static const struct config_key name = {.size = sizeof(const char *)};

	return config_read_name(walk, &name, node, item);
}

static const struct config_key read_only_keys[] = {
	{"unix", config_read_path, FIELD(gw_config_socket, path), .required = true,
		.max = SOCKET_MAX},
	{"group", config_read_text, FIELD(gw_config_socket, group), .min = 1, .max = GROUP_MAX},
	{"mode", read_mode, FIELD(gw_config_socket, mode)},
};
static const struct config_section read_only = {read_only_keys, COUNT(read_only_keys)};

static const struct config_word scopes[] = {
	{"view", GW_CONFIG_SCOPE_VIEW, NULL},
	{"drain", GW_CONFIG_SCOPE_DRAIN, NULL},
	{"admin", GW_CONFIG_SCOPE_ADMIN, NULL},
};

static const struct config_key token_keys[] = {
	{"name", config_read_name, FIELD(gw_config_token, name), .required = true},
	{"file", config_read_path, FIELD(gw_config_token, file), .required = true,
		.max = LOCAL_PATH_MAX},
	{"scope", config_read_word, FIELD(gw_config_token, scope), .required = true,
		.words = &(const struct config_words){scopes, COUNT(scopes)}},
	{"pools", config_read_scalars, .offset = offsetof(struct gw_config_token, pools),
		.size = sizeof(const char *),
		.count_offset = offsetof(struct gw_config_token, pool_count), .min = 1,
		.element = element_pool},
};

static void token_finish(struct config_walk *walk, yaml_node_t *mapping, void *base)
{
	struct gw_config_token *token = base;
	yaml_node_t *pools = config_find(walk, mapping, "pools");
	bool drain = token->scope == GW_CONFIG_SCOPE_DRAIN;

	if (drain && !pools)
		config_bad_key(walk, "pools", mapping,
			"is missing: a token of scope drain is for the pools named");
	else if (!drain && pools)
		config_bad_key(walk, "pools", pools,
			"has no meaning with scope %s, only with scope drain",
			gw_config_scope_name(token->scope));
	config_token_read(walk, mapping, token);
}

static const struct config_section token = {
	.keys = token_keys,
	.count = COUNT(token_keys),
	.size = sizeof(struct gw_config_token),
	.finish = token_finish,
	.place_offset = offsetof(struct gw_config_token, place),
};

static const struct config_key tcp_keys[] = {
	{"listen", config_read_listen, FIELD(gw_config_tcp, listen), .required = true},
	{"certificate", config_read_path, FIELD(gw_config_tcp, certificate), .max = LOCAL_PATH_MAX},
	{"key", config_read_path, FIELD(gw_config_tcp, key), .max = LOCAL_PATH_MAX},
	{"tokens", config_read_sections, .offset = offsetof(struct gw_config_tcp, tokens),
		.size = sizeof(struct gw_config_token),
		.count_offset = offsetof(struct gw_config_tcp, token_count), .required = true,
		.section = &token},
};

static void tcp_finish(struct config_walk *walk, yaml_node_t *mapping, void *base)
{
	struct gw_config_tcp *tcp = base;
	yaml_node_t *list = config_find(walk, mapping, "tokens");
	yaml_node_t *certificate = config_find(walk, mapping, "certificate");
	yaml_node_t *key = config_find(walk, mapping, "key");

	if (!certificate != !key)
		config_bad_key(walk, certificate ? "key" : "certificate", mapping,
			"is missing: TLS needs certificate and key");
	else if (!certificate && tcp->listen.text && !gw_config_listen_local(&tcp->listen))
		config_bad_key(walk, "certificate", mapping,
			"is missing: outside loopback (%s) the API speaks TLS only",
			tcp->listen.text);
	if (!list)
		return;
	if (list->type == YAML_SEQUENCE_NODE &&
		list->data.sequence.items.start == list->data.sequence.items.top)
		config_bad_key(walk, "tokens", list, "is empty: nobody could use the API");
	config_tokens_differ(walk, tcp);
}

static const struct config_section tcp = {
	.keys = tcp_keys,
	.count = COUNT(tcp_keys),
	.finish = tcp_finish,
};

static const struct config_key api_keys[] = {
	{"unix", config_read_path, FIELD(gw_config_api, control.path), .max = SOCKET_MAX},
	{"group", config_read_text, FIELD(gw_config_api, control.group), .min = 1,
		.max = GROUP_MAX},
	{"mode", read_mode, FIELD(gw_config_api, control.mode)},
	{"read_only", config_read_section, FIELD(gw_config_api, read_only), .section = &read_only},
	{"tcp", config_read_section, FIELD(gw_config_api, tcp), .section = &tcp},
};

static void api_finish(struct config_walk *walk, yaml_node_t *mapping, void *base)
{
	const struct gw_config_api *made = base;

	if (made->control.path && made->read_only.path &&
		!strcmp(made->control.path, made->read_only.path))
		config_bad_key(walk, "read_only", config_find(walk, mapping, "read_only"),
			"has the path of api.unix: one socket cannot be both");
}

const struct config_section config_api_section = {
	.keys = api_keys,
	.count = COUNT(api_keys),
	.finish = api_finish,
};

static const struct config_key metrics_keys[] = {
	{"listen", config_read_listen, .size = sizeof(struct gw_config_listen), .required = true},
};
const struct config_section config_metrics_section = {metrics_keys, COUNT(metrics_keys)};

void config_api_check(struct config_walk *walk)
{
	const struct gw_config_tcp *said = &walk->config->api.tcp;

	if (walk->sources.incomplete)
		return;
	for (size_t i = 0; i < said->token_count; i++)
		for (size_t p = 0; p < said->tokens[i].pool_count; p++)
			if (!gw_config_pool_find(walk->config, said->tokens[i].pools[p]))
				config_bad_at(walk, &said->tokens[i].place, "api.tcp.tokens",
					"token \"%s\" is for pool \"%s\", which is not there",
					said->tokens[i].name ? said->tokens[i].name : "",
					said->tokens[i].pools[p]);
}
