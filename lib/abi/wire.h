/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Reading and writing headers in a frame, which has no alignment to speak of. In C a constant-size
 * copy becomes one load or store; clang for BPF would make it one a byte, so there the access is
 * written out (the kernel allows unaligned access to packets wherever the CPU does).
 */
#pragma once

#include "abi/types.h"
#include "abi/verifier.h"

#define GW_ETHERTYPE_IPV4 0x0800
#define GW_ETHERTYPE_IPV6 0x86dd
#define GW_ETHERTYPE_VLAN 0x8100 /* 802.1Q */
#define GW_ETHERTYPE_QINQ 0x88a8 /* 802.1ad */

#define GW_IPV4_HEADER 20 /* without options */
#define GW_IPV6_HEADER 40

#ifdef GW_BPF
#	define GW_WIRE_LOAD(type, from)       (*(const type *)(from))
#	define GW_WIRE_STORE(type, to, value) (*(type *)(to) = (value))
#else
#	define GW_WIRE_LOAD(type, from)                                                           \
		({                                                                                 \
			type loaded_;                                                              \
			__builtin_memcpy(&loaded_, from, sizeof(loaded_));                         \
			loaded_;                                                                   \
		})
#	define GW_WIRE_STORE(type, to, value)                                                     \
		({                                                                                 \
			type stored_ = (value);                                                    \
			__builtin_memcpy(to, &stored_, sizeof(stored_));                           \
		})
#endif

/* Network order in the frame, host order here. */
GW_INLINE uint16_t gw_wire_load16(const void *from)
{
	return GW_BOUND16(GW_NTOHS(GW_WIRE_LOAD(uint16_t, from)));
}

GW_INLINE uint32_t gw_wire_load32(const void *from)
{
	return GW_NTOHL(GW_WIRE_LOAD(uint32_t, from));
}

GW_INLINE void gw_wire_store16(void *to, uint16_t value)
{
	GW_WIRE_STORE(uint16_t, to, GW_HTONS(value));
}

GW_INLINE void gw_wire_store32(void *to, uint32_t value)
{
	GW_WIRE_STORE(uint32_t, to, GW_HTONL(value));
}

/* Two words next to each other, as they lie in memory; in C one store. */
GW_INLINE void gw_wire_store_words(void *to, uint32_t first, uint32_t second)
{
#ifdef GW_BPF
	GW_WIRE_STORE(uint32_t, to, first);
	GW_WIRE_STORE(uint32_t, (uint8_t *)to + 4, second);
#else
	GW_WIRE_STORE(uint64_t, to,
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint64_t)second << 32 | first
							  : (uint64_t)first << 32 | second);
#endif
}

/* Two halves next to each other, as they lie in memory, as the word that they are together. */
GW_INLINE uint32_t gw_wire_halves(uint16_t first, uint16_t second)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? (uint32_t)second << 16 | first
							 : (uint32_t)first << 16 | second;
}

/* Copies without a change of order. */
GW_INLINE void gw_wire_copy2(void *to, const void *from)
{
	GW_WIRE_STORE(uint16_t, to, GW_WIRE_LOAD(uint16_t, from));
}

GW_INLINE void gw_wire_copy4(void *to, const void *from)
{
	GW_WIRE_STORE(uint32_t, to, GW_WIRE_LOAD(uint32_t, from));
}

GW_INLINE void gw_wire_copy16(void *to, const void *from)
{
#ifdef GW_BPF
	for (int i = 0; i < 4; i++)
		gw_wire_copy4((uint8_t *)to + 4 * i, (const uint8_t *)from + 4 * i);
#else
	__builtin_memcpy(to, from, 16);
#endif
}
