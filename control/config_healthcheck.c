/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Health checks in the file. Each key but the common ones is of some types only (of_types): said
 * about another type it is an error, and one that the defaults bring along is dropped.
 */
#include "config_healthcheck.h"

#include "config_address.h"
#include "config_arena.h"
#include "config_check.h"
#include "config_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define WORDS(array)                                                                               \
	&(const struct config_words)                                                               \
	{                                                                                          \
		(array), COUNT(array)                                                              \
	}
#define FIELD(field)                                                                               \
	.offset = offsetof(struct gw_config_check, field),                                         \
	.size = sizeof(((struct gw_config_check *)0)->field)
#define LIST(field, count)                                                                         \
	.offset = offsetof(struct gw_config_check, field),                                         \
	.size = sizeof(*((struct gw_config_check *)0)->field),                                     \
	.count_offset = offsetof(struct gw_config_check, count)
#define PLACE(field) .place_offset = offsetof(struct gw_config_check, field)

#define TIMEOUT_DEFAULT_MS 1000u
#define MINUTE_MS	   60000u
#define HOUR_MS		   3600000u
#define TEXT_MAX	   255
#define BYTES_MAX	   1024
#define DNS_NAME_MAX	   253
#define DNS_LABEL_MAX	   63

static const struct config_word types[] = {
	{"none", GW_CONFIG_CHECK_NONE, NULL},
	{"tcp", GW_CONFIG_CHECK_TCP, NULL},
	{"http", GW_CONFIG_CHECK_HTTP, NULL},
	{"https", GW_CONFIG_CHECK_HTTPS, NULL},
	{"udp", GW_CONFIG_CHECK_UDP, NULL},
	{"dns", GW_CONFIG_CHECK_DNS, NULL},
	{"icmp", GW_CONFIG_CHECK_ICMP, NULL},
	{"grpc", GW_CONFIG_CHECK_GRPC, NULL},
};
static const struct config_word vias[] = {
	{"direct", GW_CONFIG_VIA_DIRECT, NULL},
	{"tunnel", GW_CONFIG_VIA_TUNNEL, NULL},
};
static const struct config_word initials[] = {
	{"down", GW_CONFIG_INITIAL_DOWN, NULL},
	{"up", GW_CONFIG_INITIAL_UP, NULL},
};
static const struct config_word bools[] = {{"false", false, NULL}, {"true", true, NULL}};
/* RFC 1035, 3596, 2782. */
static const struct config_word query_types[] = {
	{"A", 1, NULL},
	{"NS", 2, NULL},
	{"CNAME", 5, NULL},
	{"SOA", 6, NULL},
	{"PTR", 12, NULL},
	{"MX", 15, NULL},
	{"TXT", 16, NULL},
	{"AAAA", 28, NULL},
	{"SRV", 33, NULL},
};
static const char *const rcodes[] = {
	"NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"};

const char *gw_config_rcode_name(uint16_t code)
{
	return code < COUNT(rcodes) ? rcodes[code] : NULL;
}

const char *gw_config_query_type_name(uint16_t type)
{
	for (size_t i = 0; i < COUNT(query_types); i++)
		if (query_types[i].value == type)
			return query_types[i].name;
	return NULL;
}

/* Text as it stands, or "hex:0a1b…": bytes. */
static CONFIG_READER(bytes_read)
{
	struct gw_config_bytes *bytes = (void *)((char *)base + key->offset);
	const char *text = config_text(walk, node);
	bool hex = text && !strncmp(text, "hex:", 4);
	size_t length = text ? strlen(hex ? text + 4 : text) : 0;
	uint8_t *data;

	if (!text)
		return false;
	text += hex ? 4 : 0;
	if (hex && (length % 2 || strspn(text, "0123456789abcdefABCDEF") != length)) {
		config_bad(walk, node, "is not an even number of hexadecimal digits after hex:");
		return false;
	}
	length /= hex ? 2 : 1;
	if (!length || length > BYTES_MAX) {
		config_bad(walk, node, "is %zu bytes: 1 to %d are possible", length, BYTES_MAX);
		return false;
	}
	data = config_alloc(walk, length + 1, 1);
	if (!data)
		return false;
	for (size_t i = 0; hex && i < length; i++) {
		const char digits[3] = {text[2 * i], text[2 * i + 1], '\0'};

		data[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	if (!hex)
		memcpy(data, text, length);
	*bytes = (struct gw_config_bytes){.data = data, .length = length};
	return true;
}

/* A name of the DNS in its text form, "." for the root (RFC 1035, 2.3.4). */
static CONFIG_READER(dns_name_read)
{
	const char *text = config_text(walk, node);
	size_t label = 0, length = text ? strlen(text) : 0;
	char quoted[CONFIG_QUOTE_MAX];
	bool good = length && length <= DNS_NAME_MAX;

	if (!text)
		return false;
	for (size_t i = 0; good && i < length && strcmp(text, "."); i++) {
		bool dot = text[i] == '.';

		label = dot ? 0 : label + 1;
		good = dot ? i && text[i - 1] != '.' : label <= DNS_LABEL_MAX && isgraph(text[i]);
	}
	if (!good) {
		config_bad(walk, node, "\"%s\" is not a name of the DNS: labels of 1 to 63 bytes",
			config_quote(text, quoted));
		return false;
	}
	text = gw_arena_strndup(walk->config->arena, text, length);
	if (!text) {
		walk->status = -ENOMEM;
		return false;
	}
	memcpy((char *)base + key->offset, &text, sizeof(text));
	return true;
}

static bool rcode_element(struct config_walk *walk, yaml_node_t *node, void *item)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];

	for (uint16_t i = 0; text && i < COUNT(rcodes); i++) {
		if (!strcmp(text, rcodes[i])) {
			memcpy(item, &i, sizeof(i));
			return true;
		}
	}
	if (text)
		config_bad(walk, node,
			"\"%s\" is no response code: NOERROR, FORMERR, SERVFAIL, NXDOMAIN, NOTIMP "
			"or REFUSED",
			config_quote(text, quoted));
	return false;
}

static const struct config_key keys[] = {
	{"type", config_read_word, FIELD(type), .words = WORDS(types)},
	{"interval", config_read_duration, FIELD(interval_ms), .min = 100, .max = HOUR_MS},
	{"fast_interval", config_read_duration, FIELD(fast_interval_ms), .min = 100, .max = HOUR_MS,
		PLACE(fast_interval_place)},
	{"timeout", config_read_duration, FIELD(timeout_ms), .min = 10, .max = MINUTE_MS,
		PLACE(timeout_place)},
	{"rise", config_read_number, FIELD(rise), .min = 1, .max = 1000},
	{"fall", config_read_number, FIELD(fall), .min = 1, .max = 1000},
	{"initial", config_read_word, FIELD(initial), .words = WORDS(initials)},
	{"port", config_read_number, FIELD(port), .min = 1, .max = UINT16_MAX},
	{"path", config_read_url_path, FIELD(path), .max = 1024},
	{"host", config_read_text, FIELD(host), .min = 1, .max = TEXT_MAX},
	{"expect", config_read_scalars, LIST(expect, expect_count), .min = 1,
		.element = config_element_status},
	{"body", bytes_read, FIELD(body)},
	{"sni", dns_name_read, FIELD(sni)},
	{"verify", config_read_word, FIELD(verify), .words = WORDS(bools)},
	{"ca_file", config_read_path, FIELD(ca_file), .max = 4095},
	{"send", bytes_read, FIELD(send)},
	{"receive", bytes_read, FIELD(receive)},
	{"query", dns_name_read, FIELD(query)},
	{"query_type", config_read_word, FIELD(query_type), .words = WORDS(query_types)},
	{"rcode", config_read_scalars, LIST(rcodes, rcode_count), .min = 1,
		.element = rcode_element},
	{"answer", config_read_text, FIELD(answer), .min = 1, .max = TEXT_MAX},
	{"grpc_service", config_read_text, FIELD(grpc_service), .min = 1, .max = TEXT_MAX},
	{"via", config_read_word, FIELD(via), .words = WORDS(vias)},
};

#define OF(type)    (1u << GW_CONFIG_CHECK_##type)
#define OF_ANY_HTTP (OF(HTTP) | OF(HTTPS))
#define OF_PORTS                                                                                   \
	(OF(TCP) | OF(HTTP) | OF(HTTPS) | OF(UDP) | OF(DNS) | OF(GRPC) | OF(NONE)) /* not ICMP */

static const struct {
	const char *key;
	unsigned int types;
	size_t offset, size; /* what is zero when it is not given; size 0: the port, kept */
} of_types[] = {
#define KEY(name, field, mask)                                                                     \
	{                                                                                          \
		name, mask, offsetof(struct gw_config_check, field),                               \
			sizeof(((struct gw_config_check *)0)->field)                               \
	}
	KEY("port", port, OF_PORTS),
	KEY("path", path, OF_ANY_HTTP),
	KEY("host", host, OF_ANY_HTTP | OF(GRPC)),
	KEY("expect", expect, OF_ANY_HTTP),
	KEY("body", body, OF_ANY_HTTP),
	KEY("sni", sni, OF(HTTPS)),
	KEY("verify", verify, OF(HTTPS)),
	KEY("ca_file", ca_file, OF(HTTPS)),
	KEY("send", send, OF(UDP)),
	KEY("receive", receive, OF(UDP)),
	KEY("query", query, OF(DNS)),
	KEY("query_type", query_type, OF(DNS)),
	KEY("rcode", rcodes, OF(DNS)),
	KEY("answer", answer, OF(DNS)),
	KEY("grpc_service", grpc_service, OF(GRPC)),
#undef KEY
};

/* "http or https" */
static char *types_text(unsigned int mask, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int type = GW_CONFIG_CHECK_TCP; type < GW_CONFIG_CHECK_TYPES; type++) {
		if (!(mask & 1u << type))
			continue;
		mask &= ~(1u << type);
		used += (size_t)snprintf(text + used, size - used, "%s%s",
			!used		   ? ""
			: mask & ~OF(NONE) ? ", "
					   : " or ",
			gw_config_check_type_name(type));
	}
	return text;
}

/* What a check of the type does not look at must not be said about it. */
static void section_finish(struct config_walk *walk, yaml_node_t *mapping, void *base)
{
	struct gw_config_check *check = base;
	char only[64];

	if (check->type == GW_CONFIG_CHECK_NONE && !config_find(walk, mapping, "type"))
		check->type = GW_CONFIG_CHECK_TCP;
	check->port_bad = !check->port && config_find(walk, mapping, "port");
	check->query_bad = !check->query && config_find(walk, mapping, "query");
	for (size_t i = 0; i < COUNT(of_types); i++) {
		yaml_node_t *value = config_find(walk, mapping, of_types[i].key);

		if (value && !(of_types[i].types & 1u << check->type))
			config_bad_key(walk, of_types[i].key, value,
				"has no meaning in a check of type %s, only with type %s",
				gw_config_check_type_name(check->type),
				types_text(of_types[i].types, only, sizeof(only)));
	}
}

const struct config_section config_healthcheck = {
	.keys = keys,
	.count = COUNT(keys),
	.finish = section_finish,
	PLACE(place),
};

void config_healthcheck_defaults(struct gw_config_check *check)
{
	*check = (struct gw_config_check){
		.type = GW_CONFIG_CHECK_NONE,
		.interval_ms = 2000,
		.rise = 2,
		.fall = 3,
		.verify = true,
		.query_type = 1,
	};
}

/* The first port of the first service that uses the pool; 0: nobody says one. */
static uint16_t port_of_service(const struct gw_config *config, const struct gw_config_pool *pool)
{
	for (size_t i = 0; i < config->service_count; i++) {
		const struct gw_config_service *service = &config->services[i];

		if (service->pool == pool && service->port_count && service->ports[0].range.low)
			return service->ports[0].range.low;
	}
	return 0;
}

/* What the defaults bring along for other types, dropped. */
static void foreign_drop(struct gw_config_check *check)
{
	for (size_t i = 0; i < COUNT(of_types); i++)
		if (!(of_types[i].types & 1u << check->type))
			memset((char *)check + of_types[i].offset, 0, of_types[i].size);
	if (!check->expect)
		check->expect_count = 0;
	if (!check->rcodes)
		check->rcode_count = 0;
}

static void http_complete(struct config_walk *walk, struct gw_config_check *check)
{
	if (!check->path)
		check->path = "/";
	if (check->expect_count)
		return;
	check->expect = config_alloc(walk, 1, sizeof(*check->expect));
	if (check->expect) {
		check->expect[0] = (struct gw_config_range){.low = 200, .high = 299};
		check->expect_count = 1;
	}
}

static void dns_complete(struct config_walk *walk, struct gw_config_pool *pool)
{
	struct gw_config_check *check = &pool->check;
	uint8_t address[16];
	bool ipv4 = check->query_type == 1, is_address = ipv4 || check->query_type == 28;
	char path[CONFIG_PATH_MAX];

	if (!check->query && !check->query_bad)
		config_bad_at(walk, &check->place,
			config_pool_path(walk, pool, ".healthcheck.query", path),
			"is missing: a check of type dns needs a name to ask for");
	if (is_address && check->answer &&
		(gw_address_parse(check->answer, address) < 0 ||
			gw_address_is_ipv4((const struct gw_address *)address) != ipv4))
		config_bad_at(walk, &check->place,
			config_pool_path(walk, pool, ".healthcheck.answer", path),
			"\"%.60s\" is not an IPv%d address, which the answer to this query is",
			check->answer, ipv4 ? 4 : 6);
	if (check->rcode_count)
		return;
	check->rcodes = config_alloc(walk, 1, sizeof(*check->rcodes)); /* 0: NOERROR */
	check->rcode_count = check->rcodes ? 1 : 0;
}

static void interval_check(struct config_walk *walk, const struct gw_config_pool *pool,
	const struct gw_place *place, const char *what, uint32_t interval_ms)
{
	const struct gw_config_check *check = &pool->check;
	char path[CONFIG_PATH_MAX];

	if (check->timeout_ms > interval_ms)
		config_bad_at(walk, place->file ? place : &check->place,
			config_pool_path(walk, pool, ".healthcheck.timeout", path),
			"%u ms is longer than the %s of %u ms: probes would overtake each "
			"other",
			check->timeout_ms, what, interval_ms);
}

static void times_complete(struct config_walk *walk, struct gw_config_pool *pool)
{
	struct gw_config_check *check = &pool->check;
	uint32_t shortest;

	if (!check->fast_interval_ms ||
		(check->fast_interval_ms > check->interval_ms && !check->fast_interval_place.file))
		check->fast_interval_ms = check->interval_ms;
	shortest = check->fast_interval_ms < check->interval_ms ? check->fast_interval_ms
								: check->interval_ms;
	if (!check->timeout_ms)
		check->timeout_ms = shortest < TIMEOUT_DEFAULT_MS ? shortest : TIMEOUT_DEFAULT_MS;
	interval_check(walk, pool, &check->timeout_place, "interval", check->interval_ms);
	if (check->fast_interval_ms < check->interval_ms)
		interval_check(walk, pool, &check->fast_interval_place, "fast interval",
			check->fast_interval_ms);
}

/* Probes to a service address come from the node's own address of the same family. */
static void tunnel_check(struct config_walk *walk, const struct gw_config_pool *pool)
{
	const struct gw_config *config = walk->config;
	char path[CONFIG_PATH_MAX], text[GW_PREFIX_TEXT];

	for (size_t s = 0; s < config->service_count; s++) {
		const struct gw_config_service *service = &config->services[s];

		for (size_t a = 0; service->pool == pool && a < service->address_count; a++) {
			const struct gw_prefix *prefix = &service->addresses[a].prefix;
			bool ipv4 = gw_address_is_ipv4((const struct gw_address *)prefix->address);

			if (ipv4 ? config->node.has_source_ipv4 : config->node.has_source_ipv6)
				continue;
			config_bad_at(walk, &pool->check.place,
				config_pool_path(walk, pool, ".healthcheck.via", path),
				"probes to %s through the tunnel come from the node's own address: "
				"set node.source_ipv%d",
				gw_prefix_format(prefix, text), ipv4 ? 4 : 6);
			return;
		}
	}
}

void config_healthcheck_check(struct config_walk *walk, struct gw_config_pool *pool)
{
	struct gw_config_check *check = &pool->check;
	char path[CONFIG_PATH_MAX];

	foreign_drop(check);
	if (check->type == GW_CONFIG_CHECK_NONE)
		return;
	times_complete(walk, pool);
	if (check->via == GW_CONFIG_VIA_TUNNEL && walk->flags & GW_CONFIG_DAEMON)
		tunnel_check(walk, pool);
	if (check->type == GW_CONFIG_CHECK_HTTP || check->type == GW_CONFIG_CHECK_HTTPS)
		http_complete(walk, check);
	if (check->type == GW_CONFIG_CHECK_DNS)
		dns_complete(walk, pool);
	if (check->type == GW_CONFIG_CHECK_ICMP)
		return;
	if (!check->port)
		check->port = port_of_service(walk->config, pool);
	if (!check->port && !check->port_bad && pool->backend_count &&
		walk->flags & GW_CONFIG_DAEMON)
		config_bad_at(walk, check->place.file ? &check->place : &pool->place,
			config_pool_path(walk, pool, ".healthcheck.port", path),
			"is missing, and no service that uses the pool names a port to probe "
			"instead");
}
