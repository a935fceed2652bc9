/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The ground that every header of lib/abi stands on: fixed-width types and byte order, for C and
 * for BPF alike. A header in this folder compiles in both worlds, holds no pointers in shared
 * structs, and calls nothing that BPF cannot call.
 *
 * Addresses are always 16 bytes; IPv4 is held as ::ffff:a.b.c.d (RFC 4291, section 2.5.5.2).
 */
#pragma once

#include <linux/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GW_INLINE static inline __attribute__((always_inline))

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#	define GW_HTONS(x) __builtin_bswap16((uint16_t)(x))
#	define GW_HTONL(x) __builtin_bswap32((uint32_t)(x))
#else
#	define GW_HTONS(x) ((uint16_t)(x))
#	define GW_HTONL(x) ((uint32_t)(x))
#endif
#define GW_NTOHS(x) GW_HTONS(x)
#define GW_NTOHL(x) GW_HTONL(x)

#define GW_CACHE_LINE 64

/* "No such index" in every 32-bit index field. */
#define GW_NONE 0xffffffffu

#define GW_IPV4 4
#define GW_IPV6 6

#define GW_PROTO_ICMP	1
#define GW_PROTO_TCP	6
#define GW_PROTO_UDP	17
#define GW_PROTO_ICMPV6 58
#define GW_PROTO_SCTP	132

struct gw_address {
	uint8_t bytes[16];
};

GW_INLINE bool gw_address_is_ipv4(const struct gw_address *a)
{
	uint64_t high;
	uint32_t middle;

	__builtin_memcpy(&high, a->bytes, 8);
	__builtin_memcpy(&middle, a->bytes + 8, 4);
	return high == 0 && middle == GW_HTONL(0x0000ffff);
}

GW_INLINE void gw_address_set_ipv4(struct gw_address *a, const void *four_bytes)
{
	uint32_t middle = GW_HTONL(0x0000ffff);

	__builtin_memset(a->bytes, 0, 8);
	__builtin_memcpy(a->bytes + 8, &middle, 4);
	__builtin_memcpy(a->bytes + 12, four_bytes, 4);
}
