/* SPDX-License-Identifier: BSD-2-Clause */
/* Arithmetic modulo a Maglev table's size, a prime below 2^23: products fit 64 bits with ease. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Trial division: at most 1,118 divisions for the largest size. */
static inline bool prime_check(uint64_t value)
{
	if (value < 4)
		return value >= 2;
	if (value % 2 == 0)
		return false;
	for (uint64_t d = 3; d * d <= value; d += 2)
		if (value % d == 0)
			return false;
	return true;
}

/* The x with value * x = 1 modulo prime, for 0 < value < prime. Extended Euclid. */
static inline uint32_t prime_inverse(uint32_t value, uint32_t prime)
{
	int32_t coefficient = 0, next = 1;
	uint32_t remainder = prime, divisor = value;

	while (divisor > 1) {
		uint32_t quotient = remainder / divisor;
		uint32_t rest = remainder - quotient * divisor;
		int32_t step = coefficient - (int32_t)quotient * next;

		remainder = divisor;
		divisor = rest;
		coefficient = next;
		next = step;
	}
	return next < 0 ? (uint32_t)(next + (int32_t)prime) : (uint32_t)next;
}
