/* SPDX-License-Identifier: BSD-2-Clause */
#include "model.h"

#include "config_arena.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

void gw_config_free(struct gw_config *config)
{
	if (config)
		gw_arena_free(config->arena); /* config itself lies in it */
}

static int pool_compare(const void *name, const void *element)
{
	const struct gw_config_pool *const *pool = element;

	return strcmp(name, (*pool)->name);
}

static int service_compare(const void *name, const void *element)
{
	const struct gw_config_service *const *service = element;

	return strcmp(name, (*service)->name);
}

static int backend_compare(const void *name, const void *element)
{
	const struct gw_config_backend *const *backend = element;

	return strcmp(name, (*backend)->name);
}

/* bsearch may not be handed a NULL array, not even an empty one. */
static void *index_find(
	const char *name, void *by_name, size_t count, int (*compare)(const void *, const void *))
{
	void **found = count ? bsearch(name, by_name, count, sizeof(void *), compare) : NULL;

	return found ? *found : NULL;
}

struct gw_config_pool *gw_config_pool_find(const struct gw_config *config, const char *name)
{
	return index_find(name, config->pools_by_name, config->pool_count, pool_compare);
}

struct gw_config_service *gw_config_service_find(const struct gw_config *config, const char *name)
{
	return index_find(name, config->services_by_name, config->service_count, service_compare);
}

struct gw_config_backend *gw_config_backend_find(
	const struct gw_config_pool *pool, const char *name)
{
	return index_find(name, pool->by_name, pool->backend_count, backend_compare);
}

const char *gw_config_path_name(enum gw_config_path path)
{
	return path == GW_CONFIG_PATH_DPDK ? "dpdk" : "xdp";
}

const char *gw_config_xdp_mode_name(enum gw_config_xdp_mode mode)
{
	static const char *const names[] = {"auto", "native", "generic"};

	return names[mode];
}

const char *gw_config_check_type_name(enum gw_config_check_type type)
{
	static const char *const names[] = {
		"none", "tcp", "http", "https", "udp", "dns", "icmp", "grpc"};

	return names[type];
}

const char *gw_config_backend_state_name(enum gw_config_backend_state state)
{
	static const char *const names[] = {"active", "drain", "disabled"};

	return names[state];
}

const char *gw_config_encap_name(enum gw_encap encap)
{
	static const char *const names[] = {"ipip", "gue", "gre", "l2"};

	return names[encap];
}

const char *gw_config_affinity_name(enum gw_affinity affinity)
{
	static const char *const names[] = {"5tuple", "source_ip", "source_ip_service"};

	return names[affinity];
}

const char *gw_config_protocol_name(uint8_t protocol)
{
	switch (protocol) {
	case IPPROTO_TCP:
		return "tcp";
	case IPPROTO_UDP:
		return "udp";
	case IPPROTO_SCTP:
		return "sctp";
	default:
		return "any";
	}
}
