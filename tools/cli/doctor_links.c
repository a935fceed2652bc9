/* SPDX-License-Identifier: BSD-2-Clause */
/* Interfaces and the ways to the backends: up, routes, room for the outer headers, VIPs at home. */
#include "abi/encap.h"
#include "base/address.h"
#include "base/rtnetlink.h"
#include "doctor.h"

#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINKS_MAX 1024
#define NAMED_MAX 3 /* backends named in a message */

struct link {
	struct gw_link_report report;
	uint32_t needs;	    /* the largest packet with outer headers; 0: none goes there */
	unsigned int leads; /* backends that need more than it has */
	char example[160];  /* some of their names */
};

struct survey {
	struct doctor *doctor;
	struct link *links;
	size_t link_count;
	const struct gw_config_backend **backends;
	const struct gw_config_pool **pools;
	struct gw_address *addresses;
	size_t count;
	unsigned int routeless;
	char routeless_names[160];
};

static void link_take(void *context, const struct gw_link_report *report)
{
	struct survey *survey = context;

	if (report->gone || survey->link_count == LINKS_MAX)
		return;
	survey->links[survey->link_count++] = (struct link){.report = *report};
}

static struct link *link_find(struct survey *survey, uint32_t ifindex)
{
	for (size_t i = 0; i < survey->link_count; i++)
		if (survey->links[i].report.ifindex == ifindex)
			return &survey->links[i];
	return NULL;
}

static const struct link *link_named(const struct survey *survey, const char *name)
{
	for (size_t i = 0; i < survey->link_count; i++)
		if (!strcmp(survey->links[i].report.name, name))
			return &survey->links[i];
	return NULL;
}

static bool switched_on(const struct doctor *doctor, const char *interface)
{
	char flags[32];

	return !doctor_read(doctor, flags, sizeof(flags), "/sys/class/net/%s/flags", interface) &&
	       (strtoul(flags, NULL, 16) & IFF_UP);
}

static void look_up(struct survey *survey, const struct doctor_interface *interface)
{
	static const char why[] = "packets for the services come in there";
	const struct link *link = link_named(survey, interface->name);
	json_t *finding;

	if (!link) {
		finding = doctor_finding(survey->doctor, "interface", interface->name, why,
			"there is no interface %s", interface->name);
		doctor_advise(
			finding, "name another one in dataplane.interfaces, or make this one");
		return;
	}
	if (link->report.up) {
		doctor_well(
			survey->doctor, "interface", interface->name, "%s is up", interface->name);
		return;
	}
	finding = doctor_finding(
		survey->doctor, "interface", interface->name, why, "%s is down", interface->name);
	if (switched_on(survey->doctor, interface->name))
		doctor_advise(finding, "it is switched on and has no carrier: look at the cable");
	else
		doctor_fix(finding, "ip", "link", "set", "dev", interface->name, "up", NULL);
}

static void name_add(char *text, size_t size, unsigned int before, const char *name)
{
	size_t used = strlen(text);

	if (before < NAMED_MAX)
		snprintf(text + used, size - used, "%s%s", before ? ", " : "", name);
	else if (before == NAMED_MAX)
		snprintf(text + used, size - used, ", ...");
}

/* What a full packet of a client becomes; a pool with an MTU of its own has said what it wants. */
static uint32_t need_of(const struct gw_config_pool *pool, const uint8_t address[static 16])
{
	uint8_t family = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address) ? GW_IPV4 : GW_IPV6;

	return pool->mtu ? pool->mtu
			 : GW_DEFAULT_MTU + gw_encap_overhead_of((uint8_t)pool->encap, family);
}

static void route_take(void *context, size_t index, const struct gw_route *route)
{
	struct survey *survey = context;
	const struct gw_config_backend *backend = survey->backends[index];
	uint32_t need = need_of(survey->pools[index], backend->address);

	if (!route->path_count) {
		name_add(survey->routeless_names, sizeof(survey->routeless_names),
			survey->routeless++, backend->id);
		return;
	}
	for (uint32_t i = 0; i < route->path_count; i++) {
		struct link *link = link_find(survey, route->paths[i].ifindex);

		if (!link)
			continue;
		if (need > link->needs)
			link->needs = need;
		if (need > link->report.mtu)
			name_add(link->example, sizeof(link->example), link->leads++, backend->id);
	}
}

static void look_mtu(struct survey *survey, const struct link *link)
{
	const char *name = link->report.name;
	char mtu[16];
	json_t *finding;

	if (!link->needs)
		return;
	if (link->report.mtu >= link->needs) {
		doctor_well(survey->doctor, "mtu", name,
			"%s: MTU %u, and %u are needed towards its backends", name,
			link->report.mtu, link->needs);
		return;
	}
	finding = doctor_finding(survey->doctor, "mtu", name,
		"a client's packet of 1500 bytes does not fit with its outer headers: it is "
		"dropped "
		"(too_big), or the client is asked for smaller ones; what lies between here and "
		"the "
		"backends must carry as much",
		"%s: MTU %u, but %u are needed towards %u backends (%s)", name, link->report.mtu,
		link->needs, link->leads, link->example);
	snprintf(mtu, sizeof(mtu), "%u", link->needs);
	doctor_fix(finding, "ip", "link", "set", "dev", name, "mtu", mtu, NULL);
}

static void look_routes(struct survey *survey)
{
	json_t *finding;

	if (!survey->routeless) {
		doctor_well(survey->doctor, "route", "", "every backend has a route (%zu backends)",
			survey->count);
		return;
	}
	finding = doctor_finding(survey->doctor, "route", "",
		"packets for them are dropped (no_neighbour)", "%u backends have no route (%s)",
		survey->routeless, survey->routeless_names);
	doctor_advise(finding, "add a route: ip route add ADDRESS via NEXT_HOP");
}

static int backends_collect(struct survey *survey)
{
	const struct gw_config *config = survey->doctor->config;
	size_t total = 0;

	for (size_t p = 0; p < config->pool_count; p++)
		total += config->pools[p].backend_count;
	survey->links = calloc(LINKS_MAX, sizeof(*survey->links));
	survey->backends = calloc(total + 1, sizeof(*survey->backends));
	survey->pools = calloc(total + 1, sizeof(*survey->pools));
	survey->addresses = calloc(total + 1, sizeof(*survey->addresses));
	if (!survey->links || !survey->backends || !survey->pools || !survey->addresses)
		return -ENOMEM;
	for (size_t p = 0; p < config->pool_count; p++)
		for (size_t b = 0; b < config->pools[p].backend_count; b++) {
			const struct gw_config_backend *backend = &config->pools[p].backends[b];

			survey->backends[survey->count] = backend;
			survey->pools[survey->count] = &config->pools[p];
			memcpy(&survey->addresses[survey->count++], backend->address, 16);
		}
	return 0;
}

static int survey_make(struct survey *survey)
{
	const struct gw_rtnetlink_sink sink = {.context = survey, .link = link_take};
	struct gw_rtnetlink netlink;
	int error = backends_collect(survey);

	if (error)
		return error;
	error = gw_rtnetlink_open(&netlink);
	if (error)
		return error;
	error = gw_rtnetlink_dump(&netlink, RTM_GETLINK, &sink);
	if (!error && survey->count)
		error = gw_rtnetlink_lookup(
			&netlink, survey->addresses, survey->count, route_take, survey);
	gw_rtnetlink_close(&netlink);
	return error;
}

static void address_of(const struct sockaddr *given, uint8_t address[static 16])
{
	if (given->sa_family == AF_INET6) {
		memcpy(address, &((const struct sockaddr_in6 *)(const void *)given)->sin6_addr, 16);
		return;
	}
	memset(address, 0, 10);
	memset(address + 10, 0xff, 2);
	memcpy(address + 12, &((const struct sockaddr_in *)(const void *)given)->sin_addr, 4);
}

static bool is_vip(const struct gw_config *config, const uint8_t address[static 16])
{
	for (size_t s = 0; s < config->service_count; s++)
		for (size_t a = 0; a < config->services[s].address_count; a++)
			if (gw_prefix_contains(&config->services[s].addresses[a].prefix, address))
				return true;
	return false;
}

static int prefix_length(const struct sockaddr *mask, int whole)
{
	const uint8_t *bytes =
		mask && mask->sa_family == AF_INET6
			? ((const struct sockaddr_in6 *)(const void *)mask)->sin6_addr.s6_addr
			: (const uint8_t *)&((const struct sockaddr_in *)(const void *)mask)
				  ->sin_addr;
	int length = 0;

	if (!mask)
		return whole;
	for (int i = 0; i < whole / 8; i++)
		length += __builtin_popcount(bytes[i]);
	return length;
}

static void vip_told(struct doctor *doctor, const char *interface, const char *address, int length)
{
	json_t *finding = doctor_finding(doctor, "vip", interface,
		"the kernel answers for it here, in the place of the backends: a service address "
		"belongs on lo of the backends only",
		"%s has the service address %s", interface, address);
	char prefix[GW_ADDRESS_TEXT + 8];

	snprintf(prefix, sizeof(prefix), "%s/%d", address, length);
	doctor_fix(finding, "ip", "address", "del", prefix, "dev", interface, NULL);
}

static void look_vips(struct doctor *doctor)
{
	struct ifaddrs *list, *one;
	char text[GW_ADDRESS_TEXT];
	unsigned int found = 0;

	if (getifaddrs(&list))
		return;
	for (one = list; one; one = one->ifa_next) {
		uint8_t address[16];

		if (!one->ifa_addr || (one->ifa_addr->sa_family != AF_INET &&
					      one->ifa_addr->sa_family != AF_INET6))
			continue;
		address_of(one->ifa_addr, address);
		if (!is_vip(doctor->config, address))
			continue;
		found++;
		vip_told(doctor, one->ifa_name, gw_address_format(address, text),
			prefix_length(
				one->ifa_netmask, one->ifa_addr->sa_family == AF_INET6 ? 128 : 32));
	}
	freeifaddrs(list);
	if (!found)
		doctor_well(doctor, "vip", "", "no service address is configured on this machine");
}

void doctor_look_links(struct doctor *doctor)
{
	struct survey survey = {.doctor = doctor};
	int error = survey_make(&survey);

	if (error) {
		doctor_unseen(doctor, "interface", "", "netlink: %s", strerror(-error));
	} else {
		for (size_t i = 0; i < doctor->interface_count; i++)
			look_up(&survey, &doctor->interfaces[i]);
		look_routes(&survey);
		for (size_t i = 0; i < survey.link_count; i++)
			look_mtu(&survey, &survey.links[i]);
		look_vips(doctor);
	}
	free(survey.links);
	free(survey.backends);
	free(survey.pools);
	free(survey.addresses);
}
