/* SPDX-License-Identifier: BSD-2-Clause */
/* A flow as text: "tcp 198.51.100.7:40000 203.0.113.10:80", and back. */
#include "base/address.h"
#include "control/lookup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint8_t number;
} protocols[] = {
	{"icmp", GW_PROTO_ICMP},
	{"igmp", 2},
	{"ipip", 4},
	{"tcp", GW_PROTO_TCP},
	{"udp", GW_PROTO_UDP},
	{"gre", 47},
	{"esp", 50},
	{"ah", 51},
	{"icmpv6", GW_PROTO_ICMPV6},
	{"sctp", GW_PROTO_SCTP},
};

static const char *protocol_name(uint8_t number)
{
	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++)
		if (protocols[i].number == number)
			return protocols[i].name;
	return NULL;
}

/* A decimal number of digits only, at most `max`. */
static bool number_parse(const char *text, unsigned int max, unsigned int *number)
{
	size_t length = strspn(text, "0123456789");
	unsigned long value;

	if (!length || length > 5 || text[length])
		return false;
	value = strtoul(text, NULL, 10);
	if (value > max)
		return false;
	*number = (unsigned int)value;
	return true;
}

static bool protocol_parse(const char *text, uint8_t *protocol)
{
	unsigned int number;

	for (size_t i = 0; i < sizeof(protocols) / sizeof(protocols[0]); i++) {
		if (!strcmp(text, protocols[i].name)) {
			*protocol = protocols[i].number;
			return true;
		}
	}
	if (!number_parse(text, 255, &number))
		return false;
	*protocol = (uint8_t)number;
	return true;
}

static bool has_ports(uint8_t protocol)
{
	return protocol == GW_PROTO_TCP || protocol == GW_PROTO_UDP || protocol == GW_PROTO_SCTP;
}

static int parse_fail(char error[static GW_LOOKUP_ERROR], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int parse_fail(char error[static GW_LOOKUP_ERROR], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error, GW_LOOKUP_ERROR, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* Cuts "[v6]:port", "v4:port", "[v6]", "v6" or "v4" in two; port NULL: none. */
static bool endpoint_split(char *text, char **address, char **port)
{
	char *colon = strchr(text, ':');

	*port = NULL;
	*address = text;
	if (*text == '[') {
		char *close = strchr(text, ']');

		if (!close || (close[1] && close[1] != ':'))
			return false;
		*address = text + 1;
		*close = '\0';
		if (close[1])
			*port = close + 2;
	} else if (colon && !strchr(colon + 1, ':')) {
		*colon = '\0';
		*port = colon + 1;
	}
	return true;
}

static int endpoint_parse(const char *word, uint8_t protocol, struct gw_address *address,
	__be16 *port, char error[static GW_LOOKUP_ERROR])
{
	char text[64], *address_text, *port_text;
	unsigned int number;

	snprintf(text, sizeof(text), "%s", word);
	if (strlen(word) >= sizeof(text) || !endpoint_split(text, &address_text, &port_text) ||
		gw_address_parse(address_text, address->bytes) < 0)
		return parse_fail(error,
			"\"%.60s\" is no address: write 198.51.100.7:40000 or [2001:db8::7]:40000",
			word);
	if (!has_ports(protocol)) {
		*port = 0;
		return port_text ? parse_fail(error, "\"%.60s\" has a port, its protocol has none",
					   word)
				 : 0;
	}
	if (!port_text)
		return parse_fail(error, "\"%.60s\" lacks a port: %s has them", word,
			protocol_name(protocol));
	if (!number_parse(port_text, 65535, &number))
		return parse_fail(
			error, "\"%.20s\" in \"%.60s\" is no port (0 to 65535)", port_text, word);
	*port = GW_HTONS(number);
	return 0;
}

int gw_flow_parse(const char *text, struct gw_flow_key *key, char error[static GW_LOOKUP_ERROR])
{
	struct gw_flow_key parsed = {0};
	char words[3][80] = {"", "", ""};
	char rest = '\0';
	int status;

	if (sscanf(text, "%79s %79s %79s %c", words[0], words[1], words[2], &rest) != 3)
		return parse_fail(error,
			"\"%.80s\" is no flow: write PROTOCOL SOURCE DESTINATION, for example tcp "
			"198.51.100.7:40000 203.0.113.10:80",
			text);
	if (!protocol_parse(words[0], &parsed.protocol))
		return parse_fail(error,
			"\"%.40s\" is no protocol: write tcp, udp, sctp, icmp, icmpv6, gre or a "
			"number up to 255",
			words[0]);
	status = endpoint_parse(
		words[1], parsed.protocol, &parsed.source, &parsed.source_port, error);
	if (!status)
		status = endpoint_parse(words[2], parsed.protocol, &parsed.destination,
			&parsed.destination_port, error);
	if (status < 0)
		return status;
	if (gw_address_is_ipv4(&parsed.source) != gw_address_is_ipv4(&parsed.destination))
		return parse_fail(
			error, "%.60s and %.60s are of different families", words[1], words[2]);
	*key = parsed;
	return 0;
}

static void endpoint_format(
	const struct gw_address *address, __be16 port, uint8_t protocol, char *text, size_t size)
{
	char plain[GW_ADDRESS_TEXT];

	gw_address_format(address->bytes, plain);
	if (!has_ports(protocol))
		snprintf(text, size, "%s", plain);
	else if (gw_address_is_ipv4(address))
		snprintf(text, size, "%s:%u", plain, GW_NTOHS(port));
	else
		snprintf(text, size, "[%s]:%u", plain, GW_NTOHS(port));
}

char *gw_flow_format(const struct gw_flow_key *key, char text[static GW_FLOW_TEXT])
{
	const char *name = protocol_name(key->protocol);
	char source[GW_ADDRESS_TEXT + 10], destination[GW_ADDRESS_TEXT + 10];

	endpoint_format(&key->source, key->source_port, key->protocol, source, sizeof(source));
	endpoint_format(&key->destination, key->destination_port, key->protocol, destination,
		sizeof(destination));
	if (name)
		snprintf(text, GW_FLOW_TEXT, "%s %s %s", name, source, destination);
	else
		snprintf(text, GW_FLOW_TEXT, "%u %s %s", key->protocol, source, destination);
	return text;
}
