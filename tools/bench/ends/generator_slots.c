/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench/frames/frames.h"
#include "generator.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SLOT_IPV4    64
#define SLOT_IPV6    80
#define TCP_SYN	     0x02
#define SHUFFLE_SEED 0x9e3779b97f4a7c15u

_Static_assert(SLOT_IPV4 >= FRAME_ETH + FRAME_IPV4 + FRAME_TCP, "a slot holds the headers");
_Static_assert(SLOT_IPV6 >= FRAME_ETH + FRAME_IPV6 + FRAME_TCP, "a slot holds the headers");

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The flows in an order that is random, and the same in every run. */
static uint32_t *order_make(uint64_t flows)
{
	uint32_t *order = malloc(flows * sizeof(*order));
	uint64_t state = SHUFFLE_SEED;

	if (!order)
		return NULL;
	for (uint64_t i = 0; i < flows; i++)
		order[i] = (uint32_t)i;
	for (uint64_t i = flows - 1; i > 0; i--) {
		uint64_t other = random_next(&state) % (i + 1);
		uint32_t kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	return order;
}

/* Slots are a multiple of the sizes' cycle, so that a slot's frame has always one size. */
int generator_slots_make(struct generator *generator)
{
	const struct bench_case *what = generator->frames.what;
	uint8_t frame[BENCH_FRAME_MAX + SLOT_IPV6] = {0};
	uint32_t *order = order_make(what->flows);

	if (!order)
		return -ENOMEM;
	generator->tcp = FRAME_ETH + frame_ip_header(what);
	generator->slot_size = what->family == BENCH_IPV6 ? SLOT_IPV6 : SLOT_IPV4;
	generator->slot_count =
		(what->flows + FRAME_IMIX_CYCLE - 1) / FRAME_IMIX_CYCLE * FRAME_IMIX_CYCLE;
	generator->slots_size = generator->slot_count * generator->slot_size;
	generator->new_flow = what->flows;
	generator->slots = mmap(NULL, generator->slots_size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (generator->slots == MAP_FAILED) {
		generator->slots = NULL;
		free(order);
		return -ENOMEM;
	}
	madvise(generator->slots, generator->slots_size, MADV_HUGEPAGE);
	for (uint32_t i = 0; i < FRAME_IMIX_CYCLE; i++)
		generator->length[i] = bench_frame_length(&generator->frames, i);
	for (uint64_t i = 0; i < generator->slot_count; i++) {
		bench_frame_write(&generator->frames, order[i % what->flows], i, 0, frame);
		generator_number_detach(generator, frame);
		memcpy(generator->slots + i * generator->slot_size, frame, generator->slot_size);
	}
	free(order);
	return 0;
}

void generator_slots_free(struct generator *generator)
{
	if (generator->slots)
		munmap(generator->slots, generator->slots_size);
	generator->slots = NULL;
}

uint32_t generator_frame_of(const struct generator *generator, uint8_t *frame, uint64_t flow,
	uint64_t number, uint8_t flags)
{
	uint32_t length = bench_frame_write(&generator->frames, flow, number, flags, frame);

	generator_number_detach(generator, frame);
	return length;
}

uint32_t generator_frame_next(struct generator *generator, uint8_t *frame, uint8_t flags)
{
	uint64_t position = generator->position++;
	const uint8_t *slot = generator->slots + position * generator->slot_size;
	uint32_t length = generator->length[position % FRAME_IMIX_CYCLE];

	if (generator->position == generator->slot_count)
		generator->position = 0;
	generator->new_credit += generator->frames.what->new_share;
	if (!flags && generator->new_credit >= 1) {
		generator->new_credit -= 1;
		return generator_frame_of(
			generator, frame, generator->new_flow++, position, TCP_SYN);
	}
	__builtin_prefetch(slot + 8 * generator->slot_size);
	memcpy(frame, slot, SLOT_IPV4);
	if (generator->slot_size > SLOT_IPV4)
		memcpy(frame + SLOT_IPV4, slot + SLOT_IPV4, SLOT_IPV6 - SLOT_IPV4);
	if (flags)
		generator_flags_set(generator, frame, flags);
	return length;
}
