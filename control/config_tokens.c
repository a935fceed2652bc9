/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tokens come from files and stay there: the model keeps their SHA-256 only, messages name the file
 * and never what is in it, and what was read is wiped. A file that others could read or change is
 * refused.
 */
#include "config_api.h"
#include "config_check.h"
#include "private_file.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(GW_TOKEN_DIGEST == SHA256_DIGEST_LENGTH, "a token's digest is its SHA-256");

/* The token within the text: one word, blanks around it left out. */
static bool token_find(const char *text, size_t length, const char **token, size_t *token_length)
{
	while (length && isspace((unsigned char)text[0])) {
		text++;
		length--;
	}
	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	for (size_t i = 0; i < length; i++)
		if (!isgraph((unsigned char)text[i]))
			return false;
	*token = text;
	*token_length = length;
	return length >= GW_TOKEN_BYTES_MIN && length <= GW_TOKEN_BYTES_MAX;
}

static void token_read(
	struct config_walk *walk, const yaml_node_t *at, struct gw_config_token *token)
{
	char error[GW_PRIVATE_ERROR], *text;
	size_t length, found_length;
	const char *found;

	if (gw_private_read(token->file, &text, &length, error)) {
		config_bad(walk, at, "%s", error);
		return;
	}
	if (token_find(text, length, &found, &found_length)) {
		SHA256((const unsigned char *)found, found_length, token->digest);
		token->present = true;
	} else {
		config_bad(walk, at,
			"%s does not hold one token: %u to %u printable characters without blanks, "
			"such as `openssl rand -hex 32` makes",
			token->file, GW_TOKEN_BYTES_MIN, GW_TOKEN_BYTES_MAX);
	}
	gw_private_wipe(text, length);
}

void config_token_read(struct config_walk *walk, yaml_node_t *at, struct gw_config_token *token)
{
	if (token->file && walk->flags & GW_CONFIG_DAEMON && !(walk->flags & GW_CONFIG_NO_FILES))
		token_read(walk, at, token);
}

void config_tokens_differ(struct config_walk *walk, const struct gw_config_tcp *tcp)
{
	for (size_t i = 0; i < tcp->token_count; i++)
		for (size_t j = 0; j < i; j++) {
			const struct gw_config_token *one = &tcp->tokens[i],
						     *other = &tcp->tokens[j];

			if (one->name && other->name && !strcmp(one->name, other->name))
				config_bad_at(walk, &one->place, "api.tcp.tokens",
					"two tokens are named \"%s\"", one->name);
			if (one->present && other->present &&
				!memcmp(one->digest, other->digest, GW_TOKEN_DIGEST))
				config_bad_at(walk, &one->place, "api.tcp.tokens",
					"%s and %s hold the same token", other->file, one->file);
		}
}
