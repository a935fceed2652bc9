/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A case as a configuration, which goes the way of any user's: text, loader, builder. So a case
 * that a configuration could not say cannot be measured either.
 */
#include "bench.h"
#include "control/builder.h"
#include "control/config.h"
#include "control/config_yaml.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB 1048576u

static void write_head(FILE *text, const struct bench_case *what)
{
	fprintf(text,
		"version: 1\n"
		"node: {name: bench, source_ipv4: 10.82.0.11, source_ipv6: \"fd82::11\"}\n"
		"dataplane: {path: %s}\n"
		"defaults: {healthcheck: {type: none}}\n",
		what->path);
}

static void write_backend(FILE *text, const struct bench_case *what, uint32_t i, uint32_t weight)
{
	uint32_t ipv4 = BENCH_BACKEND_IPV4 + i;

	fprintf(text, "  - {name: b%u, ", i);
	if (weight != 1)
		fprintf(text, "weight: %u, ", weight);
	fputs("address: ", text);
	if (what->family == BENCH_IPV6)
		fprintf(text, "\"fd82::1:%x\"}\n", i);
	else
		fprintf(text, "%u.%u.%u.%u}\n", ipv4 >> 24, ipv4 >> 16 & 255, ipv4 >> 8 & 255,
			ipv4 & 255);
}

static void write_pools(FILE *text, const struct bench_case *what, uint32_t version)
{
	fputs("pools:\n", text);
	for (uint32_t pool = 0; pool < what->pools; pool++) {
		fprintf(text, "- name: p%u\n  encap: %s\n  table_size: %u\n  backends:\n", pool,
			what->encap, what->table_size);
		for (uint32_t i = 0; i < what->backends; i++)
			write_backend(text, what, i, i == 0 && version % 2 == 0 ? 2 : 1);
	}
}

static void write_services(FILE *text, const struct bench_case *what)
{
	fputs("services:\n", text);
	for (uint32_t i = 0; i < what->services; i++) {
		uint32_t ipv4 = BENCH_SERVICE_IPV4 + i;

		fprintf(text,
			"- {name: s%u, protocol: tcp, ports: [%u], pool: p%u, track_flows: %s, "
			"addresses: [",
			i, BENCH_SERVICE_PORT, i % what->pools, what->tracked ? "true" : "false");
		if (what->family == BENCH_IPV6)
			fprintf(text, "\"2001:db8:113::%x:%x\"]}\n", (i + 1) >> 16,
				(i + 1) & 0xffff);
		else
			fprintf(text, "%u.%u.%u.%u]}\n", ipv4 >> 24, ipv4 >> 16 & 255,
				ipv4 >> 8 & 255, ipv4 & 255);
	}
}

/* Every next hop is there from the start; with l2 each backend has a MAC of its own. */
static void tunnel_hint(void *owner, struct gw_next_hop *hop)
{
	gw_link_hint_fixed(owner, hop);
	hop->mtu = BENCH_MTU;
}

static void l2_hint(void *owner, struct gw_next_hop *hop)
{
	const uint8_t *address = hop->address.bytes;
	const uint8_t mac[6] = {2, 0, 1, 0, address[14], address[15]};

	tunnel_hint(owner, hop);
	memcpy(hop->link.destination_mac, mac, sizeof(mac));
}

static int load(
	const char *text, size_t length, struct gw_config **config, char message[BENCH_MESSAGE])
{
	struct gw_config_errors errors = {0};
	int status =
		gw_config_load_string("case", text, length, GW_CONFIG_NO_FILES, config, &errors);

	if (status && errors.count)
		gw_config_error_format(&errors.list[0], message, BENCH_MESSAGE);
	else if (status)
		snprintf(message, BENCH_MESSAGE, "the case's configuration: %s", strerror(-status));
	gw_config_errors_free(&errors);
	return status;
}

/* What the balancer's host needs besides, as comments: its next hop is the generator. */
static void write_neighbours(FILE *text, const struct bench_case *what)
{
	bool ipv6 = what->family == BENCH_IPV6;

	fprintf(text,
		"# guideway-bench --mode nic --dut MAC: the configuration of the balancer with "
		"that MAC.\n"
		"# Give it its own dataplane (path, ports), and its host these, PORT being its "
		"port:\n"
		"#\tip address add %s dev PORT\n"
		"#\tip neighbour replace %s lladdr 02:00:00:00:00:01 nud permanent dev PORT\n"
		"#\tip route add %s via %s dev PORT\n",
		ipv6 ? "fd82::11/112" : "10.82.0.11/24", ipv6 ? "fd82::1" : "10.82.0.1",
		ipv6 ? "fd82::1:0/112" : "10.82.0.0/16", ipv6 ? "fd82::1" : "10.82.0.1");
	if (!strcmp(what->encap, "l2"))
		fputs("# With l2 each backend is its own next hop, with the MAC 02:00:01:00 and "
		      "the last\n"
		      "# two bytes of its address: a permanent neighbour each instead of the "
		      "route.\n",
			text);
}

void bench_print_config(const struct bench_case *what, FILE *out)
{
	write_neighbours(out, what);
	write_head(out, what);
	write_pools(out, what, 1);
	write_services(out, what);
}

static int load_case(const struct bench_case *what, uint32_t version, struct gw_config **config,
	char message[BENCH_MESSAGE])
{
	char *text = NULL;
	size_t length = 0;
	FILE *stream = open_memstream(&text, &length);
	int status;

	if (!stream)
		return -ENOMEM;
	write_head(stream, what);
	write_pools(stream, what, version);
	write_services(stream, what);
	if (fclose(stream)) {
		free(text);
		return -ENOMEM;
	}
	if (length > CONFIG_BYTES_MAX) {
		snprintf(message, BENCH_MESSAGE,
			"%u pools of %u backends make a configuration of %.1f MiB, but one has at "
			"most %zu MiB: give fewer --pools or --backends",
			what->pools, what->backends, (double)length / MIB, CONFIG_BYTES_MAX / MIB);
		free(text);
		return -EFBIG;
	}
	status = load(text, length, config, message);
	free(text);
	return status;
}

int bench_build(const struct bench_case *what, uint32_t version, struct gw_build **build,
	char message[BENCH_MESSAGE])
{
	gw_link_hint *hint = strcmp(what->encap, "l2") ? tunnel_hint : l2_hint;
	struct gw_config *config = NULL;
	struct gw_build *made = NULL;
	char error[GW_BUILD_ERROR] = "";
	int status = load_case(what, version, &config, message);

	if (status)
		return status;
	status = gw_build_offline(config, NULL, 0, hint, &made, error);
	gw_config_free(config);
	if (status) {
		snprintf(message, BENCH_MESSAGE, "%s", error[0] ? error : strerror(-status));
		return status;
	}
	gw_build_renumber(made, version);
	*build = made;
	return 0;
}
