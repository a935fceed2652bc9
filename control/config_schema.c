/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One line a key. A key or word with `refused` is known but cannot be used in this version: the
 * file that has it is told so, which is better than a key that is accepted and does nothing.
 * When a feature comes, its `refused` goes.
 */
#include "config_schema.h"

#include "abi/dataplane_socket.h"
#include "abi/flow_word.h"
#include "config_address.h"
#include "config_api.h"
#include "config_healthcheck.h"
#include "config_load.h"
#include "config_members.h"
#include "config_rules.h"
#include "config_values.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS(array)                                                                               \
	&(const struct config_words)                                                               \
	{                                                                                          \
		(array), COUNT(array)                                                              \
	}
/* Where the value goes: a field, or an array with its count. */
#define FIELD(type, field)                                                                         \
	.offset = offsetof(struct type, field), .size = sizeof(((struct type *)0)->field)
#define LIST(type, field, count)                                                                   \
	.offset = offsetof(struct type, field), .size = sizeof(*((struct type *)0)->field),        \
	.count_offset = offsetof(struct type, count)
#define PLACE(type, field) .place_offset = offsetof(struct type, field)

#define NOT_YET	       "is not available in this version"
#define SOCKET_MAX     (sizeof(((struct sockaddr_un *)0)->sun_path) - 1)
#define TEXT_MAX       255
#define MINUTE_MS      60000u
#define HOUR_MS	       3600000u
#define FLOWS_MIN      1024
#define FLOWS_MAX      (1u << 28) /* 4 GiB of words */
#define FLOW_TIMEOUT   .min = 1000, .max = GW_FLOW_TIMEOUT_MAX * 1000ull, .unit_ms = 1000
#define LOCAL_PATH_MAX 4095
#define MTU_MIN	       1280
#define VLAN_MAX       4094

static const struct config_word bools[] = {{"false", false, NULL}, {"true", true, NULL}};

static const struct config_key node_keys[] = {
	{"name", config_read_name, FIELD(gw_config_node, name)},
	{"source_ipv4", config_read_source, FIELD(gw_config_node, source_ipv4), .min = 4,
		.count_offset = offsetof(struct gw_config_node, has_source_ipv4)},
	{"source_ipv6", config_read_source, FIELD(gw_config_node, source_ipv6), .min = 6,
		.count_offset = offsetof(struct gw_config_node, has_source_ipv6)},
	{"source_prefix_ipv4", config_read_source_prefix, FIELD(gw_config_node, source_prefix_ipv4),
		.min = 4, .count_offset = offsetof(struct gw_config_node, has_source_prefix_ipv4)},
	{"source_prefix_ipv6", config_read_source_prefix, FIELD(gw_config_node, source_prefix_ipv6),
		.min = 6, .count_offset = offsetof(struct gw_config_node, has_source_prefix_ipv6)},
};
static const struct config_section node = {node_keys, COUNT(node_keys)};

static const struct config_word xdp_modes[] = {
	{"native", GW_CONFIG_XDP_NATIVE, NULL},
	{"generic", GW_CONFIG_XDP_GENERIC, NULL},
	{"auto", GW_CONFIG_XDP_AUTO, NULL},
};

static const struct config_key interface_keys[] = {
	{"name", config_read_interface, FIELD(gw_config_interface, name), .min = 1, .max = 15},
	{"pci", config_read_pci, FIELD(gw_config_interface, pci), .min = 1, .max = 12},
	{"vdev", config_read_text, FIELD(gw_config_interface, vdev), .min = 1, .max = TEXT_MAX},
	{"mode", config_read_word, FIELD(gw_config_interface, mode), .words = WORDS(xdp_modes)},
	{"vlan", config_read_number, FIELD(gw_config_interface, vlan), .min = 1, .max = VLAN_MAX},
};

/* A key that is there with a bad value has had its error. */
static void interface_finish(struct config_walk *walk, yaml_node_t *mapping, void *base)
{
	bool xdp = walk->config->dataplane.path == GW_CONFIG_PATH_XDP;
	bool name = config_find(walk, mapping, "name"), pci = config_find(walk, mapping, "pci");
	bool vdev = config_find(walk, mapping, "vdev");
	yaml_node_t *mode = config_find(walk, mapping, "mode");

	if (xdp && (pci || vdev))
		config_bad(walk, mapping,
			"pci and vdev are ports of DPDK: with path xdp an interface has a name");
	else if (name + pci + vdev != 1)
		config_bad(walk, mapping,
			xdp ? "name is missing" : "exactly one of name, pci and vdev is needed");
	if (!xdp && mode)
		config_bad_key(walk, "mode", mode,
			"has no meaning with path dpdk: it is how an XDP program is attached");
}

static const struct config_section interface = {
	.keys = interface_keys,
	.count = COUNT(interface_keys),
	.size = sizeof(struct gw_config_interface),
	.finish = interface_finish,
	PLACE(gw_config_interface, place),
};

static const struct config_word paths[] = {
	{"xdp", GW_CONFIG_PATH_XDP, NULL},
	{"dpdk", GW_CONFIG_PATH_DPDK, NULL},
};
static const struct config_word polls[] = {{"adaptive", false, NULL}, {"busy", true, NULL}};

static const struct config_key dataplane_keys[] = {
	{"path", config_read_word, FIELD(gw_config_dataplane, path), .words = WORDS(paths)},
	{"interfaces", config_read_sections, LIST(gw_config_dataplane, interfaces, interface_count),
		.section = &interface},
	{"cpus", config_read_cpus},
	{"poll", config_read_word, FIELD(gw_config_dataplane, poll_busy), .words = WORDS(polls)},
	{"flows", config_read_number, FIELD(gw_config_dataplane, flows), .min = FLOWS_MIN,
		.max = FLOWS_MAX},
	{"socket", config_read_path, FIELD(gw_config_dataplane, socket), .max = SOCKET_MAX},
};
static const struct config_section dataplane = {dataplane_keys, COUNT(dataplane_keys)};

static const struct config_key timeouts_keys[] = {
	{"tcp_new", config_read_duration, FIELD(gw_config_timeouts, tcp_new), FLOW_TIMEOUT},
	{"tcp_established", config_read_duration, FIELD(gw_config_timeouts, tcp_established),
		FLOW_TIMEOUT},
	{"tcp_closing", config_read_duration, FIELD(gw_config_timeouts, tcp_closing), FLOW_TIMEOUT},
	{"udp", config_read_duration, FIELD(gw_config_timeouts, udp), FLOW_TIMEOUT},
	{"sctp", config_read_duration, FIELD(gw_config_timeouts, sctp), FLOW_TIMEOUT},
	{"fragment", config_read_duration, FIELD(gw_config_timeouts, fragment_ms), .min = 100,
		.max = MINUTE_MS},
};
static const struct config_section timeouts = {timeouts_keys, COUNT(timeouts_keys)};

static const struct config_key defaults_keys[] = {
	{"healthcheck", config_read_section, FIELD(gw_config, default_check),
		.section = &config_healthcheck},
};
static const struct config_section defaults = {defaults_keys, COUNT(defaults_keys)};

static const struct config_word backend_states[] = {
	{"active", GW_CONFIG_ACTIVE, NULL},
	{"drain", GW_CONFIG_DRAIN, NULL},
	{"disabled", GW_CONFIG_DISABLED, NULL},
};

static const struct config_key backend_keys[] = {
	{"name", config_read_name, FIELD(gw_config_backend, name), .required = true},
	{"address", config_read_host, FIELD(gw_config_backend, address), .required = true,
		PLACE(gw_config_backend, address_place)},
	{"weight", config_read_number, FIELD(gw_config_backend, weight), .max = UINT32_MAX,
		PLACE(gw_config_backend, weight_place)},
	{"state", config_read_word, FIELD(gw_config_backend, state),
		.words = WORDS(backend_states)},
	{"key", config_read_text, FIELD(gw_config_backend, key), .min = 1, .max = GW_KEY_MAX,
		PLACE(gw_config_backend, key_place)},
	{"zone", config_read_name, FIELD(gw_config_backend, zone)},
	{"port", .refused = "a backend has no port: its answers go straight to the client (direct "
			    "server return), so the port cannot be translated and is always the "
			    "service's; remove the key"},
};

static void backend_init(struct config_walk *walk, void *base)
{
	struct gw_config_backend *backend = base;

	backend->weight = 1;
}

static const struct config_section backend = {
	.keys = backend_keys,
	.count = COUNT(backend_keys),
	.size = sizeof(struct gw_config_backend),
	.init = backend_init,
	PLACE(gw_config_backend, place),
};

/* What a members file holds: one key of a pool. */
static const struct config_key members_keys[] = {
	{"backends", config_read_sections, LIST(gw_config_pool, backends, backend_count),
		.section = &backend, .required = true},
};
const struct config_section config_members_section = {members_keys, COUNT(members_keys)};

static const struct config_word encaps[] = {
	{"ipip", GW_ENCAP_IPIP, NULL},
	{"gue", GW_ENCAP_GUE, NULL},
	{"gre", GW_ENCAP_GRE, NULL},
	{"l2", GW_ENCAP_L2, NULL},
};
static const struct config_word on_downs[] = {{"reassign", false, NULL}, {"keep", true, NULL}};

static const struct config_key pool_keys[] = {
	{"name", config_read_name, FIELD(gw_config_pool, name), .required = true},
	{"encap", config_read_word, FIELD(gw_config_pool, encap), .words = WORDS(encaps)},
	{"table_size", config_read_table_size, FIELD(gw_config_pool, table_size),
		PLACE(gw_config_pool, table_size_place)},
	{"panic_below", config_read_off_percent, FIELD(gw_config_pool, panic_below)},
	{"on_down", config_read_word, FIELD(gw_config_pool, keep_on_down), .words = WORDS(on_downs),
		PLACE(gw_config_pool, on_down_place)},
	{"drain_timeout", config_read_off_duration, FIELD(gw_config_pool, drain_timeout_ms),
		.min = 1000, .max = 24 * HOUR_MS},
	{"healthcheck", config_read_section, FIELD(gw_config_pool, check),
		.section = &config_healthcheck},
	{"damping", config_read_off_rules, FIELD(gw_config_pool, damping),
		.section = &config_damping},
	{"slow_start", config_read_off_rules, FIELD(gw_config_pool, slow_start),
		.section = &config_slow_start},
	{"enter_limit", config_read_off_rules, FIELD(gw_config_pool, enter_limit),
		.section = &config_enter_limit},
	{"backends", config_read_sections, LIST(gw_config_pool, backends, backend_count),
		.section = &backend},
	{"entropy", config_read_word, FIELD(gw_config_pool, entropy), .words = WORDS(bools),
		PLACE(gw_config_pool, entropy_place)},
	{"gue_port", config_read_number, FIELD(gw_config_pool, gue_port), .min = 1,
		.max = UINT16_MAX},
	{"gue_checksum", config_read_word, FIELD(gw_config_pool, gue_checksum),
		.words = WORDS(bools)},
	{"mtu", config_read_number, FIELD(gw_config_pool, mtu), .min = MTU_MIN, .max = UINT16_MAX},
	{"members_file", config_read_members_file},
};

static void pool_init(struct config_walk *walk, void *base)
{
	struct gw_config_pool *pool = base;

	pool->table_size = GW_DEFAULT_TABLE_SIZE;
	pool->drain_timeout_ms = 5 * MINUTE_MS;
	pool->gue_port = 6080;
	pool->gue_checksum = true;
	pool->check = walk->config->default_check;
	config_rules_defaults(pool);
}

/* A key of another encapsulation would do nothing, so whoever wrote it meant something else. */
static void pool_finish(struct config_walk *walk, yaml_node_t *mapping, void *base)
{
	static const char *const gue_keys[] = {"gue_port", "gue_checksum"};
	const struct gw_config_pool *pool = base;
	yaml_node_t *entropy = config_find(walk, mapping, "entropy");

	for (size_t i = 0; i < COUNT(gue_keys) && pool->encap != GW_ENCAP_GUE; i++) {
		yaml_node_t *value = config_find(walk, mapping, gue_keys[i]);

		if (value)
			config_bad_key(
				walk, gue_keys[i], value, "has no meaning without encap: gue");
	}
	if (pool->members_file && config_find(walk, mapping, "backends"))
		config_bad_key(walk, "members_file", config_find(walk, mapping, "members_file"),
			"excludes backends: remove one");
	if (entropy && pool->entropy && pool->encap == GW_ENCAP_L2)
		config_bad_key(walk, "entropy", entropy,
			"has no meaning with encap l2, which has no outer source to vary");
}

static const struct config_section pool = {
	.keys = pool_keys,
	.count = COUNT(pool_keys),
	.size = sizeof(struct gw_config_pool),
	.init = pool_init,
	.finish = pool_finish,
	PLACE(gw_config_pool, place),
};

static const struct config_word protocols[] = {
	{"tcp", IPPROTO_TCP, NULL},
	{"udp", IPPROTO_UDP, NULL},
	{"sctp", IPPROTO_SCTP, NULL},
	{"any", GW_CONFIG_PROTOCOL_ANY, NULL},
};
static const struct config_word affinities[] = {
	{"5tuple", GW_AFFINITY_5TUPLE, NULL},
	{"source_ip", GW_AFFINITY_SOURCE_IP, NULL},
	{"source_ip_service", GW_AFFINITY_SOURCE_IP_SERVICE, NULL},
};
static const struct config_word announces[] = {
	{"none", GW_CONFIG_ANNOUNCE_NONE, NULL},
	{"l2", GW_CONFIG_ANNOUNCE_L2, NULL},
	{"bgp", GW_CONFIG_ANNOUNCE_BGP, NOT_YET},
};
static const struct config_word echoes[] = {
	{"always", GW_CONFIG_ECHO_ALWAYS, NULL},
	{"while_up", GW_CONFIG_ECHO_WHILE_UP, NULL},
	{"never", GW_CONFIG_ECHO_NEVER, NULL},
};
static const struct config_word no_services[] = {
	{"drop", GW_CONFIG_NO_SERVICE_DROP, NULL},
	{"host", GW_CONFIG_NO_SERVICE_HOST, NULL},
};

static const struct config_key service_keys[] = {
	{"name", config_read_name, FIELD(gw_config_service, name), .required = true},
	{"addresses", config_read_scalars, LIST(gw_config_service, addresses, address_count),
		.required = true, .min = 1, .element = config_element_vip},
	{"protocol", config_read_word, FIELD(gw_config_service, protocol), .required = true,
		.words = WORDS(protocols), PLACE(gw_config_service, protocol_place)},
	{"ports", config_read_scalars, LIST(gw_config_service, ports, port_count), .min = 1,
		.element = config_element_ports, PLACE(gw_config_service, ports_place)},
	{"pool", config_read_name, FIELD(gw_config_service, pool_name), .required = true,
		PLACE(gw_config_service, pool_place)},
	{"affinity", config_read_word, FIELD(gw_config_service, affinity),
		.words = WORDS(affinities)},
	{"track_flows", config_read_word, FIELD(gw_config_service, track_flows),
		.words = WORDS(bools), PLACE(gw_config_service, track_flows_place)},
	{"announce", config_read_word, FIELD(gw_config_service, announce),
		.words = WORDS(announces)},
	{"no_service", config_read_word, FIELD(gw_config_service, no_service),
		.words = WORDS(no_services), PLACE(gw_config_service, no_service_place)},
	{"echo", config_read_word, FIELD(gw_config_service, echo), .words = WORDS(echoes),
		PLACE(gw_config_service, echo_place)},
};

static void service_init(struct config_walk *walk, void *base)
{
	struct gw_config_service *service = base;

	service->track_flows = true;
}

/* Only a service that knows its protocol can be asked for its ports. */
static void service_finish(struct config_walk *walk, yaml_node_t *mapping, void *base)
{
	struct gw_config_service *service = base;
	yaml_node_t *ports = config_find(walk, mapping, "ports");

	if (!service->protocol_place.file)
		return;
	if (service->protocol != GW_CONFIG_PROTOCOL_ANY) {
		if (!ports)
			config_bad_key(walk, "ports", mapping, "is missing");
		return;
	}
	if (service->ports_place.file &&
		(service->port_count != 1 || service->ports[0].range.low)) {
		config_bad_key(walk, "ports", ports,
			"must be any when the protocol is any: not every protocol has ports");
	} else if (!ports) {
		service->ports = config_alloc(walk, 1, sizeof(*service->ports));
		if (!service->ports)
			return;
		service->ports[0].range.high = UINT16_MAX;
		service->ports[0].place = service->place;
		service->port_count = 1;
	}
}

static const struct config_section service = {
	.keys = service_keys,
	.count = COUNT(service_keys),
	.size = sizeof(struct gw_config_service),
	.init = service_init,
	.finish = service_finish,
	PLACE(gw_config_service, place),
};

static const struct config_key xdp_keys[] = {
	{"pin_dir", config_read_path, FIELD(gw_config, xdp_pin_dir), .max = LOCAL_PATH_MAX},
};
static const struct config_section xdp = {xdp_keys, COUNT(xdp_keys)};

static const struct config_key shutdown_keys[] = {
	{"drain", config_read_off_duration, FIELD(gw_config, shutdown_drain_ms), .min = 1000,
		.max = 24 * HOUR_MS},
};
static const struct config_section ending = {shutdown_keys, COUNT(shutdown_keys)};

static const struct config_word control_lost_actions[] = {
	{"keep", false, NULL}, {"withdraw", true, NULL}};
static const struct config_key control_lost_keys[] = {
	{"after", config_read_duration, FIELD(gw_config_control_lost, after_s), .min = 5000,
		.max = 24 * HOUR_MS, .unit_ms = 1000},
	{"action", config_read_word, FIELD(gw_config_control_lost, withdraw),
		.words = WORDS(control_lost_actions)},
};
static const struct config_section control_lost = {control_lost_keys, COUNT(control_lost_keys)};

/* In the order in which they are read: pools need the defaults. */
static const struct config_key root_keys[] = {
	{"version", config_read_version, .required = true},
	{"include", config_read_include},
	{"node", config_read_section, FIELD(gw_config, node), .section = &node},
	{"hash_seed", config_read_seed, FIELD(gw_config, hash_seed)},
	{"hash_seed_file", config_read_seed_file, FIELD(gw_config, hash_seed_file)},
	{"dataplane", config_read_section, FIELD(gw_config, dataplane), .section = &dataplane},
	{"xdp", config_read_section, .section = &xdp},
	{"timeouts", config_read_section, FIELD(gw_config, timeouts), .section = &timeouts},
	{"defaults", config_read_section, .section = &defaults},
	{"healthcheck_mark", config_read_section, FIELD(gw_config, probe_mark),
		.section = &config_probe_mark},
	{"hooks", config_read_section, FIELD(gw_config, hooks), .section = &config_hooks},
	{"pools", config_read_sections, LIST(gw_config, pools, pool_count), .section = &pool},
	{"services", config_read_sections, LIST(gw_config, services, service_count),
		.section = &service},
	{"state_dir", config_read_path, FIELD(gw_config, state_dir), .max = LOCAL_PATH_MAX},
	{"control_lost", config_read_section, FIELD(gw_config, control_lost),
		.section = &control_lost},
	{"shutdown", config_read_section, .section = &ending},
	{"api", config_read_section, FIELD(gw_config, api), .section = &config_api_section},
	{"metrics", config_read_section, FIELD(gw_config, metrics),
		.section = &config_metrics_section},
};
const struct config_section config_root = {
	root_keys, COUNT(root_keys), .size = sizeof(struct gw_config)};

void config_defaults_set(struct gw_config *config)
{
	config->dataplane.flows = 1048576;
	config->dataplane.socket = GW_DATAPLANE_SOCKET;
	config->timeouts = (struct gw_config_timeouts){
		.tcp_new = 10,
		.tcp_established = 15 * 60,
		.tcp_closing = 60,
		.udp = 60,
		.sctp = 5 * 60,
		.fragment_ms = 2000,
	};
	config_healthcheck_defaults(&config->default_check);
	config->hooks.timeout_ms = 10000;
	config->probe_mark = (struct gw_config_probe_mark){.bits = 0xffff0000, .table = 7600};
	config->control_lost.after_s = 60;
	config->state_dir = "/var/lib/guideway";
	config->xdp_pin_dir = "/sys/fs/bpf/guideway";
	config->api.control.path = "/run/guideway/control.sock";
	config->api.control.mode = 0660;
	config->api.read_only.mode = 0666;
}

/* prefix holds at bytes of a name and has room for CONFIG_PATH_MAX. */
static void section_each(const struct config_section *section, char *prefix, size_t at,
	void (*visit)(void *owner, const char *name), void *owner)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct config_key *key = &section->keys[i];
		const char *mark = key->read == config_read_sections ? "[]." : ".";
		size_t end = at + (size_t)snprintf(prefix + at, CONFIG_PATH_MAX - at, "%s%s",
					  key->name, key->section ? mark : "");

		if (key->section)
			section_each(key->section, prefix, end, visit, owner);
		else if (!key->refused)
			visit(owner, prefix);
	}
}

void config_schema_each(void (*visit)(void *owner, const char *name), void *owner)
{
	char prefix[CONFIG_PATH_MAX];

	section_each(&config_root, prefix, 0, visit, owner);
}
