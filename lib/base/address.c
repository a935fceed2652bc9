/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/address.h"

#include "abi/types.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_ipv4(const uint8_t address[16])
{
	return gw_address_is_ipv4((const struct gw_address *)address);
}

int gw_address_parse(const char *text, uint8_t address[static 16])
{
	struct gw_address parsed;
	uint8_t four[4];

	if (inet_pton(AF_INET, text, four) == 1)
		gw_address_set_ipv4(&parsed, four);
	else if (inet_pton(AF_INET6, text, parsed.bytes) != 1 || gw_address_is_ipv4(&parsed))
		return -EINVAL;
	memcpy(address, parsed.bytes, 16);
	return 0;
}

/* Finds the first of the longest runs of two or more zero groups (RFC 5952, 4.2). */
static void zero_run_find(const uint16_t groups[8], int *first, int *end)
{
	*first = *end = -1;
	for (int i = 0; i < 8; i++) {
		int j = i;

		while (j < 8 && !groups[j])
			j++;
		if (j - i >= 2 && j - i > *end - *first) {
			*first = i;
			*end = j;
		}
		if (j > i)
			i = j - 1;
	}
}

char *gw_address_format(const uint8_t address[static 16], char text[static GW_ADDRESS_TEXT])
{
	uint16_t groups[8];
	int first, end;
	char *at = text;

	if (is_ipv4(address)) {
		snprintf(text, GW_ADDRESS_TEXT, "%u.%u.%u.%u", address[12], address[13],
			address[14], address[15]);
		return text;
	}
	for (int i = 0; i < 8; i++)
		groups[i] = (uint16_t)(address[2 * i] << 8 | address[2 * i + 1]);
	zero_run_find(groups, &first, &end);
	for (int i = 0; i < 8; i++) {
		if (i == first) {
			at = stpcpy(at, "::");
			i = end - 1;
			continue;
		}
		if (i && i != end)
			*at++ = ':';
		at += sprintf(at, "%x", groups[i]);
	}
	return text;
}

/* Reads the digits after the slash: no sign, no leading zero, at most max. */
static int length_parse(const char *text, unsigned int max, unsigned int *length)
{
	unsigned int value = 0;

	if (!*text || (text[0] == '0' && text[1]))
		return -ERANGE;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return -ERANGE;
		value = value * 10 + (unsigned int)(*text - '0');
		if (value > max)
			return -ERANGE;
	}
	*length = value;
	return 0;
}

/* Keeps the first length bits. */
static void address_mask(uint8_t address[16], unsigned int length)
{
	for (unsigned int i = 0; i < 16; i++) {
		if (8 * i >= length)
			address[i] = 0;
		else if (length < 8 * (i + 1))
			address[i] &= (uint8_t)(0xff00 >> (length - 8 * i));
	}
}

int gw_prefix_parse(const char *text, struct gw_prefix *prefix)
{
	const char *slash = strchr(text, '/');
	size_t head = slash ? (size_t)(slash - text) : strlen(text);
	char bare[GW_PREFIX_TEXT + 16];
	uint8_t address[16], masked[16];
	unsigned int length = 128;

	if (head >= sizeof(bare))
		return -EINVAL;
	memcpy(bare, text, head);
	bare[head] = '\0';
	if (gw_address_parse(bare, address))
		return -EINVAL;
	if (slash) {
		bool ipv4 = is_ipv4(address);

		if (length_parse(slash + 1, ipv4 ? 32 : 128, &length))
			return -ERANGE;
		length += ipv4 ? 96 : 0;
	}
	memcpy(masked, address, 16);
	address_mask(masked, length);
	if (memcmp(masked, address, 16))
		return -EDOM;
	memcpy(prefix->address, address, 16);
	prefix->length = (uint8_t)length;
	return 0;
}

char *gw_prefix_format(const struct gw_prefix *prefix, char text[static GW_PREFIX_TEXT])
{
	bool ipv4 = is_ipv4(prefix->address) && prefix->length >= 96;

	gw_address_format(prefix->address, text);
	if (prefix->length < 128)
		sprintf(text + strlen(text), "/%u", prefix->length - (ipv4 ? 96u : 0u));
	return text;
}

bool gw_prefix_contains(const struct gw_prefix *prefix, const uint8_t address[static 16])
{
	uint8_t masked[16];

	memcpy(masked, address, 16);
	address_mask(masked, prefix->length);
	return !memcmp(masked, prefix->address, 16);
}
