/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_compare.h"

#include "model.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 512

static void values_differ(json_t *out, const char *path, const json_t *before, const json_t *after);

/* before and after may be NULL: not there. */
static void difference_add(json_t *out, const char *path, const json_t *before, const json_t *after)
{
	json_t *object = json_pack("{s:s}", "path", path);

	if (before)
		json_object_set(object, "before", (json_t *)before);
	if (after)
		json_object_set(object, "after", (json_t *)after);
	json_array_append_new(out, object);
}

static void objects_differ(json_t *out, const char *path, const json_t *before, const json_t *after)
{
	char inner[PATH_BYTES];
	const json_t *value;
	const char *key;

	json_object_foreach ((json_t *)before, key, value) {
		snprintf(inner, sizeof(inner), "%s%s%s", path, path[0] ? "." : "", key);
		values_differ(out, inner, value, json_object_get(after, key));
	}
	json_object_foreach ((json_t *)after, key, value) {
		if (json_object_get(before, key))
			continue;
		snprintf(inner, sizeof(inner), "%s%s%s", path, path[0] ? "." : "", key);
		difference_add(out, inner, NULL, value);
	}
}

static const char *name_of(const json_t *element)
{
	return json_string_value(json_object_get(element, "name"));
}

static const json_t *element_find(const json_t *list, const char *name)
{
	const json_t *element;
	size_t i;

	json_array_foreach (list, i, element)
		if (name_of(element) && !strcmp(name_of(element), name))
			return element;
	return NULL;
}

/* Lists of things with names; any other list is one value. */
static bool list_named(const json_t *list)
{
	const json_t *element;
	size_t i;

	json_array_foreach (list, i, element)
		if (!name_of(element))
			return false;
	return true;
}

static void lists_differ(json_t *out, const char *path, const json_t *before, const json_t *after)
{
	char inner[PATH_BYTES];
	const json_t *element;
	size_t i;

	json_array_foreach (before, i, element) {
		snprintf(inner, sizeof(inner), "%s[%s]", path, name_of(element));
		values_differ(out, inner, element, element_find(after, name_of(element)));
	}
	json_array_foreach (after, i, element) {
		if (element_find(before, name_of(element)))
			continue;
		snprintf(inner, sizeof(inner), "%s[%s]", path, name_of(element));
		difference_add(out, inner, NULL, element);
	}
}

static void values_differ(json_t *out, const char *path, const json_t *before, const json_t *after)
{
	if (!after)
		difference_add(out, path, before, NULL);
	else if (json_is_object(before) && json_is_object(after))
		objects_differ(out, path, before, after);
	else if (json_is_array(before) && json_is_array(after) && list_named(before) &&
		 list_named(after))
		lists_differ(out, path, before, after);
	else if (!json_equal(before, after))
		difference_add(out, path, before, after);
}

json_t *gw_config_differences(const struct gw_config *before, const struct gw_config *after)
{
	json_t *out = json_array();
	json_t *was = gw_config_dump(before), *is = gw_config_dump(after);

	if (out && was && is) {
		objects_differ(out, "", was, is);
		/* Seeds from a file are in no dump, and stay unsaid. */
		if ((before->hash_seed_file || after->hash_seed_file) &&
			before->hash_seed != after->hash_seed)
			json_array_append_new(out, json_pack("{s:s}", "path", "hash_seed"));
	} else {
		json_decref(out);
		out = NULL;
	}
	json_decref(was);
	json_decref(is);
	return out;
}

static bool text_differs(const char *a, const char *b)
{
	return a != b && (!a || !b || strcmp(a, b));
}

json_t *gw_config_moves(const struct gw_config *before, const struct gw_config *after)
{
	json_t *lines = json_array();

	if (before->hash_seed != after->hash_seed)
		json_array_append_new(
			lines, json_string("hash_seed changes: nearly all flows get another slot"));
	for (size_t i = 0; i < after->pool_count; i++) {
		const struct gw_config_pool *is = &after->pools[i];
		const struct gw_config_pool *was = gw_config_pool_find(before, is->name);

		if (was && was->table_size != is->table_size)
			json_array_append_new(lines,
				json_sprintf("pools[%s].table_size changes from %u to %u: nearly "
					     "all its flows get another slot",
					is->name, was->table_size, is->table_size));
	}
	for (size_t i = 0; i < after->service_count; i++) {
		const struct gw_config_service *is = &after->services[i];
		const struct gw_config_service *was = gw_config_service_find(before, is->name);

		if (was && was->affinity != is->affinity)
			json_array_append_new(lines,
				json_sprintf("services[%s].affinity changes from %s to %s: nearly "
					     "all its flows get another slot",
					is->name, gw_config_affinity_name(was->affinity),
					gw_config_affinity_name(is->affinity)));
	}
	return lines;
}

static bool interfaces_differ(
	const struct gw_config_dataplane *old, const struct gw_config_dataplane *new)
{
	if (old->interface_count != new->interface_count)
		return true;
	for (size_t i = 0; i < old->interface_count; i++) {
		const struct gw_config_interface *a = &old->interfaces[i], *b = &new->interfaces[i];

		if (text_differs(a->name, b->name) || text_differs(a->pci, b->pci) ||
			text_differs(a->vdev, b->vdev) || a->mode != b->mode || a->vlan != b->vlan)
			return true;
	}
	return false;
}

static bool dpdk_differs(
	const struct gw_config_dataplane *old, const struct gw_config_dataplane *new)
{
	return text_differs(old->cpus_text, new->cpus_text) || old->poll_busy != new->poll_busy ||
	       text_differs(old->socket, new->socket);
}

json_t *gw_config_restarts(const struct gw_config *before, const struct gw_config *after)
{
	const struct gw_config_dataplane *old = &before->dataplane, *new = &after->dataplane;
	bool dpdk = new->path == GW_CONFIG_PATH_DPDK;
	const char *owner = dpdk ? "guideway-dataplane" : "guideway-control";
	json_t *lines = json_array();

	if (old->path != new->path)
		json_array_append_new(lines,
			json_sprintf("dataplane.path changed from %s to %s: restart "
				     "guideway-control for that",
				gw_config_path_name(old->path), gw_config_path_name(new->path)));
	if (interfaces_differ(old, new))
		json_array_append_new(lines,
			json_sprintf("dataplane.interfaces changed: restart %s for that", owner));
	if (old->flows != new->flows)
		json_array_append_new(lines,
			json_sprintf("dataplane.flows changed from %u to %u: restart %s for that, "
				     "which forgets tracked flows",
				old->flows, new->flows, owner));
	if (dpdk && old->path == new->path &&dpdk_differs(old, new))
		json_array_append_new(
			lines, json_string("dataplane.cpus, poll or socket changed: restart "
					   "guideway-dataplane for that"));
	if (text_differs(before->xdp_pin_dir, after->xdp_pin_dir))
		json_array_append_new(lines,
			json_string("xdp.pin_dir changed: restart guideway-control for that"));
	if (text_differs(before->state_dir, after->state_dir))
		json_array_append_new(lines,
			json_sprintf("state_dir changed to %s: restart guideway-control for that",
				after->state_dir));
	return lines;
}
