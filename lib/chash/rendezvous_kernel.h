/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inner loops of rendezvous hashing. rendezvous_kernel.c is compiled once for each set of
 * vector instructions; all give the same answers, bit for bit. Internal.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct rendezvous_kernel {
	/* Position of the largest mix(key ^ seed), the first of equals. count > 0. */
	size_t (*largest)(const uint64_t *seeds, size_t count, uint64_t key);
	/* Position of the smallest score below, the first of equals. count > 0. */
	size_t (*smallest)(
		const uint64_t *seeds, const double *periods, size_t count, uint64_t key);
	/* All scores, -ln(u) * period: u from mix(key ^ seed), period one over the weight. */
	void (*scores)(const uint64_t *seeds, const double *periods, size_t count, uint64_t key,
		double *scores);
};

extern const struct rendezvous_kernel rendezvous_kernel_base;
extern const struct rendezvous_kernel rendezvous_kernel_avx2;
extern const struct rendezvous_kernel rendezvous_kernel_avx512;
