/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole model with the file's own keys, defaults filled in: what is in force, as the file could
 * say it. Written as YAML it loads again to the same model (JSON is YAML).
 */
#include "config.h"
#include "config_api.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* Sets a member unless the value is absent. */
static void put(json_t *object, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(object, key, value);
}

static json_t *text(const char *value)
{
	return value ? json_string(value) : NULL;
}

/* "1500ms" or "2s": the largest unit that says it exactly. */
static json_t *duration(uint64_t ms)
{
	return ms % 1000 ? json_sprintf("%" PRIu64 "ms", ms)
			 : json_sprintf("%" PRIu64 "s", ms / 1000);
}

static json_t *address(const uint8_t bytes[static 16])
{
	char words[GW_ADDRESS_TEXT];

	return json_string(gw_address_format(bytes, words));
}

static json_t *prefix(const struct gw_prefix *value)
{
	char words[GW_PREFIX_TEXT];

	return json_string(gw_prefix_format(value, words));
}

static json_t *node_json(const struct gw_config_node *node)
{
	json_t *out = json_object();

	put(out, "name", text(node->name));
	put(out, "source_ipv4", node->has_source_ipv4 ? address(node->source_ipv4) : NULL);
	put(out, "source_ipv6", node->has_source_ipv6 ? address(node->source_ipv6) : NULL);
	put(out, "source_prefix_ipv4",
		node->has_source_prefix_ipv4 ? prefix(&node->source_prefix_ipv4) : NULL);
	put(out, "source_prefix_ipv6",
		node->has_source_prefix_ipv6 ? prefix(&node->source_prefix_ipv6) : NULL);
	return out;
}

static json_t *interface_json(const struct gw_config_interface *interface, enum gw_config_path path)
{
	json_t *out = json_object();

	put(out, "name", text(interface->name));
	put(out, "pci", text(interface->pci));
	put(out, "vdev", text(interface->vdev));
	if (path == GW_CONFIG_PATH_XDP)
		put(out, "mode", text(gw_config_xdp_mode_name(interface->mode)));
	put(out, "vlan", interface->vlan ? json_integer(interface->vlan) : NULL);
	return out;
}

static json_t *dataplane_json(const struct gw_config_dataplane *dataplane)
{
	json_t *out = json_object();
	json_t *interfaces = json_array();

	put(out, "path", text(gw_config_path_name(dataplane->path)));
	for (size_t i = 0; i < dataplane->interface_count; i++)
		json_array_append_new(
			interfaces, interface_json(&dataplane->interfaces[i], dataplane->path));
	put(out, "interfaces", interfaces);
	put(out, "cpus", text(dataplane->cpus_text));
	put(out, "poll", text(dataplane->poll_busy ? "busy" : "adaptive"));
	put(out, "flows", json_integer(dataplane->flows));
	put(out, "socket", text(dataplane->socket));
	return out;
}

static json_t *timeouts_json(const struct gw_config_timeouts *timeouts)
{
	json_t *out = json_object();

	put(out, "tcp_new", duration(timeouts->tcp_new * 1000ull));
	put(out, "tcp_established", duration(timeouts->tcp_established * 1000ull));
	put(out, "tcp_closing", duration(timeouts->tcp_closing * 1000ull));
	put(out, "udp", duration(timeouts->udp * 1000ull));
	put(out, "sctp", duration(timeouts->sctp * 1000ull));
	put(out, "fragment", duration(timeouts->fragment_ms));
	return out;
}

static json_t *range_json(const struct gw_config_range *range)
{
	return range->low == range->high ? json_integer(range->low)
					 : json_sprintf("%u-%u", range->low, range->high);
}

/* Always as hexadecimal digits: not every byte is text. */
static json_t *bytes(const struct gw_config_bytes *value)
{
	char words[4 + 2 * 1024 + 1] = "hex:";

	for (size_t i = 0; i < value->length; i++)
		snprintf(words + 4 + 2 * i, 3, "%02x", value->data[i]);
	return value->length ? json_string(words) : NULL;
}

static void http_put(json_t *out, const struct gw_config_check *check)
{
	json_t *expect = json_array();

	for (size_t i = 0; i < check->expect_count; i++)
		json_array_append_new(expect, range_json(&check->expect[i]));
	put(out, "path", text(check->path));
	put(out, "host", text(check->host));
	put(out, "expect", expect);
	put(out, "body", bytes(&check->body));
	if (check->type != GW_CONFIG_CHECK_HTTPS)
		return;
	put(out, "sni", text(check->sni));
	put(out, "verify", text(check->verify ? "true" : "false"));
	put(out, "ca_file", text(check->ca_file));
}

static void dns_put(json_t *out, const struct gw_config_check *check)
{
	json_t *codes = json_array();

	for (size_t i = 0; i < check->rcode_count; i++)
		json_array_append_new(codes, text(gw_config_rcode_name(check->rcodes[i])));
	put(out, "query", text(check->query));
	put(out, "query_type", text(gw_config_query_type_name(check->query_type)));
	put(out, "rcode", codes);
	put(out, "answer", text(check->answer));
}

static json_t *check_json(const struct gw_config_check *check)
{
	json_t *out = json_object();

	put(out, "type", text(gw_config_check_type_name(check->type)));
	if (check->type == GW_CONFIG_CHECK_NONE)
		return out;
	put(out, "interval", duration(check->interval_ms));
	put(out, "fast_interval", duration(check->fast_interval_ms));
	put(out, "timeout", duration(check->timeout_ms));
	put(out, "rise", json_integer(check->rise));
	put(out, "fall", json_integer(check->fall));
	if (check->initial != GW_CONFIG_INITIAL_AUTO)
		put(out, "initial", text(check->initial == GW_CONFIG_INITIAL_UP ? "up" : "down"));
	put(out, "port", check->port ? json_integer(check->port) : NULL);
	put(out, "via", text(check->via == GW_CONFIG_VIA_TUNNEL ? "tunnel" : "direct"));
	switch (check->type) {
	case GW_CONFIG_CHECK_HTTP:
	case GW_CONFIG_CHECK_HTTPS:
		http_put(out, check);
		break;
	case GW_CONFIG_CHECK_UDP:
		put(out, "send", bytes(&check->send));
		put(out, "receive", bytes(&check->receive));
		break;
	case GW_CONFIG_CHECK_DNS:
		dns_put(out, check);
		break;
	case GW_CONFIG_CHECK_GRPC:
		put(out, "grpc_service", text(check->grpc_service));
		put(out, "host", text(check->host));
		break;
	default:
		break;
	}
	return out;
}

static json_t *backend_json(const struct gw_config_backend *backend)
{
	json_t *out = json_object();

	put(out, "name", text(backend->name));
	put(out, "address", address(backend->address));
	put(out, "key", backend->key_place.file ? text(backend->key) : NULL);
	put(out, "weight", json_integer(backend->weight));
	put(out, "state", text(gw_config_backend_state_name(backend->state)));
	put(out, "zone", text(backend->zone));
	return out;
}

static json_t *damping_json(const struct gw_config_damping *damping)
{
	json_t *out;

	if (!damping->after)
		return json_string("off");
	out = json_object();
	put(out, "after", json_integer(damping->after));
	put(out, "window", duration(damping->window_ms));
	put(out, "hold", duration(damping->hold_ms));
	put(out, "hold_max", duration(damping->hold_max_ms));
	return out;
}

static json_t *slow_start_json(const struct gw_config_slow_start *start)
{
	json_t *out;

	if (!start->duration_ms)
		return json_string("off");
	out = json_object();
	put(out, "duration", duration(start->duration_ms));
	put(out, "from", json_sprintf("%u%%", start->from));
	put(out, "steps", json_integer(start->steps));
	return out;
}

static json_t *enter_limit_json(const struct gw_config_enter_limit *limit)
{
	json_t *out;

	if (!limit->count)
		return json_string("off");
	out = json_object();
	put(out, "count", json_integer(limit->count));
	put(out, "per", duration(limit->per_ms));
	return out;
}

static json_t *pool_json(const struct gw_config_pool *pool)
{
	json_t *out = json_object();
	json_t *backends = json_array();

	put(out, "name", text(pool->name));
	put(out, "encap", text(gw_config_encap_name(pool->encap)));
	if (pool->encap == GW_ENCAP_GUE) {
		put(out, "gue_port", json_integer(pool->gue_port));
		put(out, "gue_checksum", json_boolean(pool->gue_checksum));
	}
	put(out, "entropy", json_boolean(pool->entropy));
	put(out, "mtu", pool->mtu ? json_integer(pool->mtu) : NULL);
	put(out, "table_size", json_integer(pool->table_size));
	put(out, "panic_below",
		pool->panic_below ? json_sprintf("%u%%", pool->panic_below) : json_string("off"));
	put(out, "on_down", text(pool->keep_on_down ? "keep" : "reassign"));
	put(out, "drain_timeout",
		pool->drain_timeout_ms ? duration(pool->drain_timeout_ms) : json_string("off"));
	put(out, "healthcheck", check_json(&pool->check));
	put(out, "damping", damping_json(&pool->damping));
	put(out, "slow_start", slow_start_json(&pool->slow_start));
	put(out, "enter_limit", enter_limit_json(&pool->enter_limit));
	for (size_t i = 0; i < pool->backend_count; i++)
		if (!pool->backends[i].removed)
			json_array_append_new(backends, backend_json(&pool->backends[i]));
	put(out, "members_file", text(pool->members_file));
	put(out, "backends", backends);
	return out;
}

static json_t *ports_json(const struct gw_config_service *service)
{
	json_t *out = json_array();

	for (size_t i = 0; i < service->port_count; i++) {
		const struct gw_config_range *range = &service->ports[i].range;

		if (range->low == 0 && range->high == UINT16_MAX)
			json_array_append_new(out, json_string("any"));
		else
			json_array_append_new(out, range_json(range));
	}
	return out;
}

static json_t *service_json(const struct gw_config_service *service)
{
	json_t *out = json_object();
	json_t *addresses = json_array();
	bool split = service->written != NULL;

	put(out, "name", text(service->name));
	for (size_t i = 0; i < (split ? service->written_count : service->address_count); i++)
		json_array_append_new(addresses, prefix(split ? &service->written[i].prefix
							      : &service->addresses[i].prefix));
	put(out, "addresses", addresses);
	put(out, "protocol", text(gw_config_protocol_name(service->protocol)));
	put(out, "ports", ports_json(service));
	put(out, "pool", text(service->pool_name));
	put(out, "affinity", text(gw_config_affinity_name(service->affinity)));
	put(out, "track_flows", json_boolean(service->track_flows));
	put(out, "announce", text(service->announce == GW_CONFIG_ANNOUNCE_L2 ? "l2" : "none"));
	put(out, "no_service",
		text(service->no_service == GW_CONFIG_NO_SERVICE_HOST ? "host" : "drop"));
	put(out, "echo",
		text(service->echo == GW_CONFIG_ECHO_NEVER	   ? "never"
			: service->echo == GW_CONFIG_ECHO_WHILE_UP ? "while_up"
								   : "always"));
	return out;
}

json_t *gw_config_dump(const struct gw_config *config)
{
	json_t *out = json_object();
	json_t *pools = json_array();
	json_t *services = json_array();

	put(out, "version", json_integer(1));
	put(out, "node", node_json(&config->node));
	/* Beyond 2^63-1 as text: the reader takes decimal digits either way. */
	if (config->hash_seed_file)
		put(out, "hash_seed_file", text(config->hash_seed_file));
	else if (config->hash_seed <= INT64_MAX)
		put(out, "hash_seed", json_integer((json_int_t)config->hash_seed));
	else
		put(out, "hash_seed", json_sprintf("%" PRIu64, config->hash_seed));
	put(out, "dataplane", dataplane_json(&config->dataplane));
	put(out, "xdp", json_pack("{s:s}", "pin_dir", config->xdp_pin_dir));
	put(out, "timeouts", timeouts_json(&config->timeouts));
	put(out, "healthcheck_mark",
		json_pack("{s:o, s:I}", "bits", json_sprintf("0x%x", config->probe_mark.bits),
			"table", (json_int_t)config->probe_mark.table));
	if (config->hooks.program)
		put(out, "hooks",
			json_pack("{s:s, s:o}", "transition", config->hooks.program, "timeout",
				duration(config->hooks.timeout_ms)));
	put(out, "state_dir", text(config->state_dir));
	put(out, "control_lost",
		json_pack("{s:o, s:s}", "after", duration(config->control_lost.after_s * 1000),
			"action", config->control_lost.withdraw ? "withdraw" : "keep"));
	put(out, "shutdown",
		json_pack("{s:o}", "drain",
			config->shutdown_drain_ms ? duration(config->shutdown_drain_ms)
						  : json_string("off")));
	put(out, "api", config_api_dump(&config->api));
	if (config->metrics.text)
		put(out, "metrics", json_pack("{s:s}", "listen", config->metrics.text));
	/* What config_expand.h made of them is not of the file. */
	for (size_t i = 0; i < config->pool_count; i++)
		if (!config->pools[i].base)
			json_array_append_new(pools, pool_json(&config->pools[i]));
	put(out, "pools", pools);
	for (size_t i = 0; i < config->service_count; i++)
		if (!config->services[i].base)
			json_array_append_new(services, service_json(&config->services[i]));
	put(out, "services", services);
	return out;
}
