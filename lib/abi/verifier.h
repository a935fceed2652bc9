/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Two words to the kernel's verifier; both are nothing in C.
 *
 * GW_BOUND(value, mask) is the same number with a bound that the verifier can see. The caller knows
 * that it never exceeds the mask; the compiler must not know, or it leaves the masking out.
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
#	define GW_FORGET(value, unknown) (value)
#endif
