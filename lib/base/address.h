/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses as text and as 16 bytes. Everywhere in Guideway an address is 16 bytes in network
 * order; an IPv4 address is ::ffff:a.b.c.d (RFC 4291, 2.5.5.2). The text of an address is part of
 * what nodes must agree on (it is a member's key when the file gives none), so it is made here and
 * not by the C library, whose versions differ (glibc writes ::1:2 as ::0.1.0.2).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Room for the longest text and its NUL: 8 groups of 4 digits, 7 colons; a prefix adds "/128". */
#define GW_ADDRESS_TEXT 40
#define GW_PREFIX_TEXT	44

/* An address block; length counts from the 128-bit form's first bit, so 10.0.0.0/8 has length 104.
 */
struct gw_prefix {
	uint8_t address[16];
	uint8_t length;
};

/*
 * Reads "192.0.2.1" or "2001:db8::1" and nothing around it: no zone, no brackets, no blanks, no
 * leading zeros in an IPv4 number. IPv6 text that spells an IPv4-mapped address is refused: such
 * packets do not exist on the wire, and one address would have two names. Returns 0 or -EINVAL.
 */
int gw_address_parse(const char *text, uint8_t address[static 16]);

/* Writes the text: dotted for IPv4, RFC 5952 (section 4) for IPv6. Returns text. */
char *gw_address_format(const uint8_t address[static 16], char text[static GW_ADDRESS_TEXT]);

/*
 * Reads "203.0.113.0/24", "2001:db8::/32" or a bare address (a block of one). Returns 0, -EINVAL
 * for what is no address, -ERANGE for a length that is no number of the family's range, -EDOM when
 * bits after the length are set.
 */
int gw_prefix_parse(const char *text, struct gw_prefix *prefix);

/* Writes the text with the family's own length; a block of one as a bare address. Returns text. */
char *gw_prefix_format(const struct gw_prefix *prefix, char text[static GW_PREFIX_TEXT]);

/* True when the address lies in the block. */
bool gw_prefix_contains(const struct gw_prefix *prefix, const uint8_t address[static 16]);
