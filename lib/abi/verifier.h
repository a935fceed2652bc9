/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Three words to the kernel's verifier; all are nothing in C.
 *
 * GW_BOUND(value, mask) is the same number with a bound that the verifier can see. The caller knows
 * that it never exceeds the mask; the compiler must not know, or it leaves the masking out.
 *
 * GW_BOUND16(value) is that for 65535, at the least cost: the masking that the type implies,
 * written out. The verifier of Linux 6.1 needs it after a change of byte order, of which it knows
 * no result.
 *
 * GW_ONCE(value) is the same number in one register from here on, of which the verifier learns what
 * comparisons tell: the compiler may otherwise compare one copy and use another.
 *
 * GW_FORGET(value, unknown) leaves the number as it is and makes the verifier forget what it knows
 * of it. Otherwise it walks the rest of the program once for every constant that a chain of
 * branches can yield. `unknown` is any number that it does not know, such as one read from a map.
 */
#pragma once

#include "abi/types.h"

#ifdef GW_BPF
#	define GW_BOUND(value, mask)                                                              \
		({                                                                                 \
			uint64_t bound_ = (value);                                                 \
			asm volatile("%0 &= %1" : "+r"(bound_) : "i"(mask));                       \
			bound_;                                                                    \
		})
#	define GW_BOUND16(value)                                                                  \
		({                                                                                 \
			uint64_t bound_ = (value);                                                 \
			asm volatile("" : "+r"(bound_));                                           \
			(uint16_t) bound_;                                                         \
		})
#	define GW_ONCE(value)                                                                     \
		({                                                                                 \
			uint64_t once_ = (value);                                                  \
			asm volatile("" : "+r"(once_));                                            \
			once_;                                                                     \
		})
#	define GW_FORGET(value, unknown)                                                          \
		({                                                                                 \
			uint64_t forget_ = (value);                                                \
			asm volatile("%0 ^= %1\n\t%0 ^= %1"                                        \
				     : "+r"(forget_)                                               \
				     : "r"((uint64_t)(unknown)));                                  \
			forget_;                                                                   \
		})
#else
#	define GW_BOUND(value, mask)	  (value)
#	define GW_BOUND16(value)	  (value)
#	define GW_ONCE(value)		  (value)
#	define GW_FORGET(value, unknown) (value)
#endif
