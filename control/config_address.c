/* SPDX-License-Identifier: BSD-2-Clause */
#include "config_address.h"

#include "base/address.h"
#include "chash/chash.h"
#include "config_arena.h"
#include "config_values.h"

#include <ctype.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>

#define CPU_MAX 1023u

static bool is_ipv4(const uint8_t address[16])
{
	return gw_address_is_ipv4((const struct gw_address *)address);
}

static bool is_unspecified(const uint8_t address[16])
{
	static const uint8_t zero[16];

	return !memcmp(address + (is_ipv4(address) ? 12 : 0), zero, is_ipv4(address) ? 4 : 16);
}

/* Why no packet for the address can come by a balancer; NULL when it can. */
static const char *address_unusable(const uint8_t address[16])
{
	static const uint8_t loopback[16] = {[15] = 1};
	static const uint8_t broadcast[4] = {255, 255, 255, 255};

	if (is_ipv4(address)) {
		if (address[12] == 127)
			return "a loopback address";
		if ((address[12] & 0xf0) == 0xe0)
			return "a multicast address";
		return memcmp(address + 12, broadcast, 4) ? NULL : "the broadcast address";
	}
	if (!memcmp(address, loopback, 16))
		return "the loopback address";
	if (address[0] == 0xff)
		return "a multicast address";
	if (address[0] == 0xfe && (address[1] & 0xc0) == 0x80)
		return "a link-local address, which means nothing beyond one link";
	return NULL;
}

/* IPv4 written as ::ffff:192.0.2.1, or a prefix where one address is wanted, has its own word. */
static void address_bad(struct config_walk *walk, const yaml_node_t *node, const char *text)
{
	char quoted[CONFIG_QUOTE_MAX];

	config_quote(text, quoted);
	if (strchr(text, '/'))
		config_bad(walk, node, "\"%s\" is a prefix; one address is wanted here", quoted);
	else if (!strncasecmp(text, "::ffff:", 7))
		config_bad(walk, node,
			"\"%s\" is an IPv4 address in IPv6 dress: write it with dots alone",
			quoted);
	else
		config_bad(walk, node, "\"%s\" is not an IPv4 or IPv6 address", quoted);
}

/* A unicast address of a machine. */
static bool host_parse(struct config_walk *walk, const yaml_node_t *node, uint8_t address[16])
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];
	const char *why;

	if (!text)
		return false;
	if (gw_address_parse(text, address)) {
		address_bad(walk, node, text);
		return false;
	}
	why = is_unspecified(address) ? "the unspecified address" : address_unusable(address);
	if (why)
		config_bad(walk, node, "\"%s\" is %s", config_quote(text, quoted), why);
	return !why;
}

CONFIG_READER(config_read_host)
{
	uint8_t address[16];

	if (!host_parse(walk, node, address))
		return false;
	memcpy((char *)base + key->offset, address, sizeof(address));
	return true;
}

CONFIG_READER(config_read_source)
{
	unsigned int family = (unsigned int)key->min;
	uint8_t address[16];
	char text[GW_ADDRESS_TEXT];
	bool given = true;

	if (!host_parse(walk, node, address))
		return false;
	if (is_ipv4(address) != (family == 4)) {
		config_bad(walk, node, "\"%s\" is not an IPv%u address",
			gw_address_format(address, text), family);
		return false;
	}
	memcpy((char *)base + key->offset, address, sizeof(address));
	memcpy((char *)base + key->count_offset, &given, sizeof(given));
	return true;
}

/* The prefix that the text would be without its host bits. */
static void prefix_mask(const char *text, char masked[static GW_PREFIX_TEXT])
{
	const char *slash = strchr(text, '/');
	struct gw_prefix prefix;
	char address[GW_ADDRESS_TEXT];
	unsigned int length;

	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	gw_address_parse(address, prefix.address);
	length = (unsigned int)strtoul(slash + 1, NULL, 10) + (is_ipv4(prefix.address) ? 96 : 0);
	prefix.length = (uint8_t)length;
	for (unsigned int bit = length; bit < 128; bit++)
		prefix.address[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
	gw_prefix_format(&prefix, masked);
}

/* What is wrong with a service address that parses; NULL: nothing. */
static const char *vip_unusable(const struct gw_prefix *prefix)
{
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff};

	if (prefix->length == 128 && is_unspecified(prefix->address))
		return "the unspecified address";
	if (prefix->length < 96 && gw_prefix_contains(prefix, mapped))
		return "a prefix with all IPv4 addresses in it (::ffff:0:0/96): split it";
	return address_unusable(prefix->address);
}

static void prefix_bad(
	struct config_walk *walk, const yaml_node_t *node, const char *text, int error)
{
	char quoted[CONFIG_QUOTE_MAX], masked[GW_PREFIX_TEXT];

	config_quote(text, quoted);
	if (error == -EDOM) {
		prefix_mask(text, masked);
		config_bad(
			walk, node, "\"%s\" has host bits set: the prefix is %s", quoted, masked);
	} else if (error == -ERANGE) {
		config_bad(walk, node, "\"%s\" has no prefix length of its family: 0 to %d", quoted,
			strchr(text, ':') ? 128 : 32);
	} else if (strchr(text, '/')) {
		config_bad(walk, node, "\"%s\" is not an IPv4 or IPv6 prefix", quoted);
	} else {
		address_bad(walk, node, text);
	}
}

CONFIG_READER(config_read_source_prefix)
{
	unsigned int family = (unsigned int)key->min;
	const char *text = config_text(walk, node), *why;
	char quoted[CONFIG_QUOTE_MAX];
	struct gw_prefix prefix;
	bool given = true;
	int error;

	if (!text)
		return false;
	error = gw_prefix_parse(text, &prefix);
	if (error) {
		prefix_bad(walk, node, text, error);
		return false;
	}
	why = address_unusable(prefix.address);
	if (!why && is_ipv4(prefix.address) != (family == 4))
		why = family == 4 ? "not an IPv4 prefix" : "not an IPv6 prefix";
	if (!why && (prefix.length == 128 || prefix.length < (family == 4 ? 96 + 8 : 8)))
		why = family == 4 ? "no prefix of length 8 to 31, within which a source could vary"
				  : "no prefix of length 8 to 127, within which a source could "
				    "vary";
	if (why) {
		config_bad(walk, node, "\"%s\" is %s", config_quote(text, quoted), why);
		return false;
	}
	memcpy((char *)base + key->offset, &prefix, sizeof(prefix));
	memcpy((char *)base + key->count_offset, &given, sizeof(given));
	return true;
}

bool config_element_vip(struct config_walk *walk, yaml_node_t *node, void *item)
{
	struct gw_config_service_address *address = item;
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];
	const char *why;
	int error;

	if (!text)
		return false;
	error = gw_prefix_parse(text, &address->prefix);
	if (error) {
		prefix_bad(walk, node, text, error);
		return false;
	}
	why = vip_unusable(&address->prefix);
	if (why) {
		config_bad(walk, node, "\"%s\" is %s", config_quote(text, quoted), why);
		return false;
	}
	address->place = config_mark_place(walk->source, &node->start_mark);
	return true;
}

bool config_element_ports(struct config_walk *walk, yaml_node_t *node, void *item)
{
	struct gw_config_service_ports *ports = item;

	if (node->type == YAML_SCALAR_NODE && !strcmp((char *)node->data.scalar.value, "any")) {
		ports->range.low = 0;
		ports->range.high = UINT16_MAX;
	} else if (!config_range(walk, node, 1, UINT16_MAX, &ports->range)) {
		return false;
	}
	ports->place = config_mark_place(walk->source, &node->start_mark);
	return true;
}

bool config_element_status(struct config_walk *walk, yaml_node_t *node, void *item)
{
	return config_range(walk, node, 100, 599, item);
}

CONFIG_READER(config_read_listen)
{
	struct gw_config_listen *listen = (void *)((char *)base + key->offset);
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX], host[GW_ADDRESS_TEXT] = "";
	const char *colon = text ? strrchr(text, ':') : NULL;
	uint8_t address[16];
	uint64_t port = 0;
	bool bracket, good = false;

	if (!text)
		return false;
	bracket = text[0] == '[' && colon && colon > text + 1 && colon[-1] == ']';
	if (colon)
		snprintf(host, sizeof(host), "%.*s", (int)(colon - text) - 2 * bracket,
			text + bracket);
	/* an IPv6 address needs its brackets, an IPv4 address has none */
	if (colon && !gw_address_parse(host, address) && is_ipv4(address) == !bracket)
		good = !config_number_parse(colon + 1, false, 1, UINT16_MAX, &port);
	if (!good) {
		config_bad(walk, node,
			"\"%s\" is not address:port, such as 127.0.0.1:9391 or [::1]:9391",
			config_quote(text, quoted));
		return false;
	}
	memcpy(listen->address, address, sizeof(address));
	listen->port = (uint16_t)port;
	listen->text = gw_arena_strndup(walk->config->arena, text, strlen(text));
	if (!listen->text)
		walk->status = -ENOMEM;
	return listen->text;
}

/* Reads "N" or "N-N" up to a comma or the end; returns what comes after, NULL when it is neither.
 */
static const char *cpu_range_parse(const char *text, unsigned int *low, unsigned int *high)
{
	unsigned int *to = low;

	for (;; to = high, text++) {
		size_t digits = strspn(text, "0123456789");

		if (!digits || digits > 4)
			return NULL;
		*to = 0;
		for (; digits; digits--, text++)
			*to = *to * 10 + (unsigned int)(*text - '0');
		if (to == low)
			*high = *low;
		if (to == high || *text != '-')
			break;
	}
	if (*low > *high || *high > CPU_MAX)
		return NULL;
	return !*text || (*text == ',' && text[1]) ? text : NULL;
}

/* Fills cpus and returns their number; 0 when the text is no list of different CPUs. */
static size_t cpus_parse(const char *text, uint16_t cpus[static CPU_MAX + 1])
{
	bool used[CPU_MAX + 1] = {false};
	unsigned int low, high;
	size_t count = 0;

	do {
		text = cpu_range_parse(text, &low, &high);
		if (!text)
			return 0;
		for (unsigned int cpu = low; cpu <= high; cpu++) {
			if (used[cpu])
				return 0;
			used[cpu] = true;
			cpus[count++] = (uint16_t)cpu;
		}
	} while (*text++ == ',');
	return count;
}

CONFIG_READER(config_read_cpus)
{
	struct gw_config_dataplane *dataplane = base;
	const char *text = config_text(walk, node);
	uint16_t cpus[CPU_MAX + 1];
	char quoted[CONFIG_QUOTE_MAX];
	size_t count;

	if (!text)
		return false;
	count = cpus_parse(text, cpus);
	if (!count) {
		config_bad(walk, node,
			"\"%s\" is no list of different CPUs from 0 to %u, such as \"1\" or "
			"\"1-3,5\"",
			config_quote(text, quoted), CPU_MAX);
		return false;
	}
	dataplane->cpus = config_alloc(walk, count, sizeof(*cpus));
	dataplane->cpus_text = gw_arena_strndup(walk->config->arena, text, strlen(text));
	if (!dataplane->cpus || !dataplane->cpus_text) {
		walk->status = -ENOMEM;
		return false;
	}
	memcpy(dataplane->cpus, cpus, count * sizeof(*cpus));
	dataplane->cpu_count = count;
	return true;
}

CONFIG_READER(config_read_interface)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];

	if (!text)
		return false;
	/* as the kernel's dev_valid_name */
	if (!*text || strlen(text) >= IFNAMSIZ || strpbrk(text, "/: \t\n\r\v\f") ||
		!strcmp(text, ".") || !strcmp(text, "..")) {
		config_bad(walk, node, "\"%s\" cannot be the name of an interface (1 to %d bytes)",
			config_quote(text, quoted), IFNAMSIZ - 1);
		return false;
	}
	return config_read_text(walk, key, node, base);
}

/* Whether text is hexadecimal digits and signs as in pattern, where 'x' stands for a digit. */
static bool text_matches(const char *text, const char *pattern)
{
	for (; *pattern; pattern++, text++) {
		if (*pattern == 'x' ? !isxdigit((unsigned char)*text) : *text != *pattern)
			return false;
	}
	return !*text;
}

CONFIG_READER(config_read_pci)
{
	const char *text = config_text(walk, node);
	char quoted[CONFIG_QUOTE_MAX];

	if (!text)
		return false;
	if (!text_matches(text, "xxxx:xx:xx.x") && !text_matches(text, "xx:xx.x")) {
		config_bad(walk, node, "\"%s\" is no PCI address such as 0000:01:00.0",
			config_quote(text, quoted));
		return false;
	}
	return config_read_text(walk, key, node, base);
}

CONFIG_READER(config_read_table_size)
{
	uint64_t size, below, above;

	if (!config_number(walk, node, 2, GW_MAX_TABLE_SIZE, &size))
		return false;
	if (gw_chash_table_size_check(size)) {
		for (below = size; gw_chash_table_size_check(below); below--)
			;
		for (above = size; gw_chash_table_size_check(above); above++)
			;
		config_bad(walk, node, "\"%llu\" is not a prime; the nearest are %llu and %llu",
			(unsigned long long)size, (unsigned long long)below,
			(unsigned long long)above);
		return false;
	}
	config_field_store(key, base, size);
	return true;
}
