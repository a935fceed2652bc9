/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_check.h"

#include "abi/dataplane_socket.h"
#include "abi/xdp_maps.h"
#include "config_api.h"

#include <errno.h>
#include <string.h>

void config_bad_at(struct config_walk *walk, const struct gw_place *place, const char *path,
	const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (config_error_addv(walk->errors, place, path, format, args))
		walk->status = -ENOMEM;
	va_end(args);
}

static void element_path(
	char *path, const char *list, const char *name, size_t index, const char *key)
{
	if (name)
		snprintf(path, CONFIG_PATH_MAX, "%s[%s]%s", list, name, key);
	else
		snprintf(path, CONFIG_PATH_MAX, "%s[%zu]%s", list, index, key);
}

char *config_pool_path(const struct config_walk *walk, const struct gw_config_pool *pool,
	const char *key, char path[static CONFIG_PATH_MAX])
{
	element_path(path, "pools", pool->name, (size_t)(pool - walk->config->pools), key);
	return path;
}

char *config_backend_path(const struct config_walk *walk, const struct gw_config_pool *pool,
	const struct gw_config_backend *backend, const char *key, char path[static CONFIG_PATH_MAX])
{
	char list[GW_NAME_MAX + 32];

	if (pool->name)
		snprintf(list, sizeof(list), "pools[%s].backends", pool->name);
	else
		snprintf(list, sizeof(list), "pools[%zu].backends",
			(size_t)(pool - walk->config->pools));
	element_path(path, list, backend->name, (size_t)(backend - pool->backends), key);
	return path;
}

char *config_service_path(const struct config_walk *walk, const struct gw_config_service *service,
	const char *key, char path[static CONFIG_PATH_MAX])
{
	element_path(
		path, "services", service->name, (size_t)(service - walk->config->services), key);
	return path;
}

char *config_place_text(const struct gw_place *place, const struct gw_place *from,
	char text[static CONFIG_PLACE_TEXT])
{
	if (from && !strcmp(place->file, from->file))
		snprintf(text, CONFIG_PLACE_TEXT, "line %u", place->line);
	else
		snprintf(text, CONFIG_PLACE_TEXT, "%s line %u", place->file, place->line);
	return text;
}

static void count_check(struct config_walk *walk, const char *key, size_t count, size_t most)
{
	struct gw_place place = {.file = walk->sources.list[0]->name, .line = 1, .column = 1};

	if (count > most)
		config_bad_at(walk, &place, key, "%zu are more than the %zu that fit", count, most);
}

static bool text_equal(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

static bool interface_equal(
	const struct gw_config_interface *a, const struct gw_config_interface *b)
{
	return text_equal(a->name, b->name) || text_equal(a->pci, b->pci) ||
	       text_equal(a->vdev, b->vdev);
}

static void dataplane_check(struct config_walk *walk)
{
	const struct gw_config_dataplane *dataplane = &walk->config->dataplane;
	bool xdp = dataplane->path == GW_CONFIG_PATH_XDP;
	size_t most = xdp ? GW_XDP_MAX_PORTS : GW_HELLO_PORTS;
	struct gw_place start = {.file = walk->sources.list[0]->name, .line = 1, .column = 1};
	char path[CONFIG_PATH_MAX], first[CONFIG_PLACE_TEXT];

	count_check(walk, "dataplane.interfaces", dataplane->interface_count, most);
	if (dataplane->interface_count > most)
		return;
	for (size_t i = 0; i < dataplane->interface_count; i++) {
		const struct gw_config_interface *interface = &dataplane->interfaces[i];

		for (size_t j = 0; j < i; j++) {
			if (!interface_equal(interface, &dataplane->interfaces[j]))
				continue;
			element_path(path, "dataplane.interfaces", interface->name, i, "");
			config_bad_at(walk, &interface->place, path,
				"is the interface of %s once more",
				config_place_text(
					&dataplane->interfaces[j].place, &interface->place, first));
			break;
		}
	}
	if (xdp && walk->flags & GW_CONFIG_DAEMON && !dataplane->interface_count)
		config_bad_at(walk, &start, "dataplane.interfaces",
			"is missing: path xdp needs at least one interface, such as "
			"[{name: eth1}]");
}

void config_check(struct config_walk *walk)
{
	const struct gw_config *config = walk->config;
	size_t backends = 0;

	for (size_t i = 0; i < config->pool_count; i++)
		backends += config->pools[i].backend_count;
	count_check(walk, "pools", config->pool_count, GW_MAX_POOLS);
	count_check(walk, "services", config->service_count, GW_MAX_SERVICES);
	count_check(walk, "pools[].backends", backends, GW_FLOW_BACKEND_MAX);
	if (config->pool_count > GW_MAX_POOLS || config->service_count > GW_MAX_SERVICES ||
		backends > GW_FLOW_BACKEND_MAX)
		return;
	dataplane_check(walk);
	config_names_check(walk);
	if (!walk->status)
		config_pools_check(walk);
	if (!walk->status)
		config_services_check(walk);
	if (!walk->status)
		config_api_check(walk);
}
