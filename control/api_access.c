/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who asks. At a Unix socket the kernel has let in those whom the socket's permissions allow, and
 * tells their uid; over TCP a token is shown. Tokens are known by their SHA-256 only, and every
 * one is compared, in a time that does not depend on where they differ.
 */
#include "api_routes.h"
#include "base/log.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define REFUSALS_QUIET_MS 10000 /* between two lines in the log */

static const struct gw_config_token *token_find(const struct gw_config_tcp *tcp, const char *text)
{
	const struct gw_config_token *found = NULL;
	uint8_t digest[GW_TOKEN_DIGEST];

	SHA256((const unsigned char *)text, strlen(text), digest);
	for (size_t i = 0; i < tcp->token_count; i++)
		if (tcp->tokens[i].present &&
			!CRYPTO_memcmp(tcp->tokens[i].digest, digest, sizeof(digest)))
			found = &tcp->tokens[i];
	return found;
}

static const char *bearer_text(const struct gw_http_request *request)
{
	const char *header = gw_http_header(request, "Authorization");

	if (!header || strncasecmp(header, "Bearer ", 7) != 0)
		return NULL;
	return header + 7 + strspn(header + 7, " ");
}

/* A line now and then: whoever guesses tokens must not fill the disk. */
static void refusal_tell(struct gw_daemon *daemon, const struct gw_http_request *request)
{
	int64_t now = gw_time_wall_ms();

	daemon->api.refused++;
	if (now - daemon->api.refused_told_ms < REFUSALS_QUIET_MS)
		return;
	daemon->api.refused_told_ms = now;
	gw_log_warning("API: no valid token from %s (refused so far: %llu)", request->peer.address,
		(unsigned long long)daemon->api.refused);
}

/* "root", or "uid 1234" where the user has no name. */
static void local_name(struct api_caller *caller, uid_t uid)
{
	struct passwd entry, *found = NULL;
	char buffer[1024];

	getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found);
	if (found)
		snprintf(caller->name, sizeof(caller->name), "%s", found->pw_name);
	else
		snprintf(caller->name, sizeof(caller->name), "uid %u", uid);
	snprintf(caller->origin, sizeof(caller->origin), "uid %u", uid);
}

bool api_caller_find(struct gw_daemon *daemon, enum gw_door door,
	const struct gw_http_request *request, struct api_caller *caller)
{
	const char *text;

	*caller = (struct api_caller){.scope = GW_CONFIG_SCOPE_VIEW};
	if (door != GW_DOOR_TCP) {
		if (door == GW_DOOR_CONTROL)
			caller->scope = GW_CONFIG_SCOPE_ADMIN;
		local_name(caller, request->peer.uid);
		return true;
	}
	text = bearer_text(request);
	caller->token = text ? token_find(&daemon->config->api.tcp, text) : NULL;
	if (!caller->token) {
		refusal_tell(daemon, request);
		return false;
	}
	caller->scope = caller->token->scope;
	snprintf(caller->name, sizeof(caller->name), "token %s", caller->token->name);
	snprintf(caller->origin, sizeof(caller->origin), "%s", request->peer.address);
	return true;
}

/* A part of a pool (health by service address) is its pool's. */
static bool pool_allowed(
	const struct gw_daemon *daemon, const struct gw_config_token *token, const char *name)
{
	const struct gw_build_pool *pool = gw_build_pool_find(daemon->build, name);

	for (size_t i = 0; i < token->pool_count; i++)
		if (!strcmp(token->pools[i], pool ? pool->base : name))
			return true;
	return false;
}

bool api_caller_may(const struct gw_daemon *daemon, const struct api_call *call,
	const struct gw_api_route *route, enum gw_door door, struct gw_http_reply *reply)
{
	const struct api_caller *caller = &call->caller;

	if (caller->scope < route->scope) {
		if (door == GW_DOOR_READ_ONLY)
			api_error(reply, 403,
				"this socket is for reading only; changes go through api.unix");
		else
			api_error(reply, 403, "%s has scope %s; this needs %s", caller->name,
				gw_config_scope_name(caller->scope),
				gw_config_scope_name(route->scope));
		return false;
	}
	if (caller->scope == GW_CONFIG_SCOPE_DRAIN && route->scope == GW_CONFIG_SCOPE_DRAIN &&
		!pool_allowed(daemon, caller->token, call->words[0])) {
		api_error(reply, 403, "%s may drain in other pools, not in \"%s\"", caller->name,
			call->words[0]);
		return false;
	}
	return true;
}
