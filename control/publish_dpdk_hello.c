/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/publish_dpdk_parts.h"

#include <jansson.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Is this port the interface that the configuration means? */
static bool port_matches(
	const struct gw_hello_port *port, const struct gw_config_interface *interface)
{
	size_t length;

	if (interface->name)
		return !strcmp(port->kernel, interface->name) ||
		       !strcmp(port->name, interface->name);
	if (interface->pci)
		return !strcmp(port->name, interface->pci) ||
		       (!strncmp(port->name, "0000:", 5) &&
			       !strcmp(port->name + 5, interface->pci));
	if (!interface->vdev)
		return false;
	length = strcspn(interface->vdev, ",");
	return strlen(port->name) == length && !memcmp(port->name, interface->vdev, length);
}

static void text_add(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void text_add(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	if (used)
		used += (size_t)snprintf(text + used, size - used, "; ");
	if (used >= size)
		return;
	va_start(arguments, format);
	vsnprintf(text + used, size - used, format, arguments);
	va_end(arguments);
}

static const char *interface_name(const struct gw_config_interface *interface)
{
	return interface->name	? interface->name
	       : interface->pci ? interface->pci
				: interface->vdev;
}

bool hello_differs(const struct gw_message_hello *hello,
	const struct gw_config_dataplane *dataplane, char *text, size_t size)
{
	text[0] = '\0';
	for (size_t i = 0; i < dataplane->interface_count; i++) {
		const struct gw_config_interface *interface = &dataplane->interfaces[i];
		bool found = false;

		for (uint32_t p = 0; p < hello->port_count; p++)
			found |= port_matches(&hello->ports[p], interface);
		if (!found)
			text_add(text, size, "it has no port for interface %s",
				interface_name(interface));
	}
	for (uint32_t p = 0; p < hello->port_count; p++) {
		bool found = false;

		for (size_t i = 0; i < dataplane->interface_count; i++)
			found |= port_matches(&hello->ports[p], &dataplane->interfaces[i]);
		if (!found)
			text_add(text, size, "its port %.63s is not in the configuration",
				hello->ports[p].name);
	}
	if (dataplane->cpu_count && dataplane->cpu_count != hello->worker_count)
		text_add(text, size, "it has %u workers, the configuration %zu CPUs",
			hello->worker_count, dataplane->cpu_count);
	if (hello->flow_capacity < dataplane->flows)
		text_add(text, size, "it has room for %llu flows, the configuration says %u",
			(unsigned long long)hello->flow_capacity, dataplane->flows);
	return text[0] != '\0';
}

static json_t *port_json(const struct gw_hello_port *port)
{
	char mac[18];

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", port->mac[0], port->mac[1],
		port->mac[2], port->mac[3], port->mac[4], port->mac[5]);
	return json_pack("{s:s,s:s,s:s,s:s,s:i,s:i,s:b}", "name", port->name, "kernel",
		port->kernel, "driver", port->driver, "mac", mac, "mtu", port->mtu, "queues",
		port->queues, "link_up", port->link_up);
}

json_t *hello_json(const struct gw_message_hello *hello)
{
	json_t *ports = json_array();

	for (uint32_t i = 0; ports && i < hello->port_count; i++) {
		if (json_array_append_new(ports, port_json(&hello->ports[i])) < 0) {
			json_decref(ports);
			return NULL;
		}
	}
	return json_pack("{s:i,s:s,s:i,s:I,s:I,s:o}", "pid", (int)hello->pid, "version",
		hello->version, "workers", (int)hello->worker_count, "flow_capacity",
		(json_int_t)hello->flow_capacity, "start_time_ns", (json_int_t)hello->start_time_ns,
		"ports", ports);
}
