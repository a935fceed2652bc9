/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The generator: sends the frames of a case's flows at a pace, or as fast as they go, and receives
 * what comes back.
 *
 *	generator.c         the process: port, buffers, asks
 *	generator_slots.c   the frames, made before: one slot a flow, in random order
 *	generator_run.c     the loop that sends and receives, one burst of each in turn
 *	pace.c              when a frame is due, and how late it is
 *	generator_number.c  what came back: ours? right?
 *
 * Each frame carries a number of its own where TCP has its sequence number, and the complement of
 * it where TCP has the acknowledgement: together they add nothing to the checksum, which therefore
 * is right for any number, and they tell our frames from others' at any size. A share of the
 * numbers is stamped with the time from which its latency counts; one frame in some of those that
 * come back is compared byte for byte.
 *
 * One thread, one core.
 */
#pragma once

#include "latency.h"
#include "wire.h"

#include <rte_mempool.h>

#include <string.h>

#define GENERATOR_NUMBER 4 /* its place in the TCP header */
#define GENERATOR_BURST	 32
#define GENERATOR_QUEUES 64
#define GENERATOR_STAMPS 8192 /* frames with a stamp that are on their way, at most */

struct generator_stamp {
	uint64_t tsc; /* 0: none */
	uint32_t number;
};

struct generator {
	struct bench_link_setup setup;
	struct bench_frames frames;
	uint16_t ethdev;
	uint16_t queues; /* of each direction */
	uint16_t mtu;	 /* the port's own, when it was changed; 0: it was not */
	struct rte_mempool *send_pool;
	double ticks_per_ns;

	/* Slots: the first `slot_size` bytes of each frame; the rest is payload, and is in every
	 * buffer of send_pool already. */
	uint8_t *slots;
	size_t slots_size;
	uint64_t slot_count;
	uint64_t position;   /* of the next frame's slot */
	uint32_t slot_size;  /* 64 or 80 */
	uint32_t length[12]; /* of the frame in slot p: [p % 12] */
	uint32_t tcp;	     /* offset of the TCP header in what goes out */
	uint64_t new_flow;   /* the next one never seen */
	double new_credit;
	uint32_t number; /* of the next frame */

	struct generator_stamp stamp[GENERATOR_STAMPS];
	struct bench_latency latency;
};

/* Makes the slots. 0 or -ENOMEM. */
int generator_slots_make(struct generator *generator);
void generator_slots_free(struct generator *generator);

/*
 * Writes the next frame, without its number, to `frame`, which holds payload behind the slot
 * already; returns its length. `flags` 0: as the slot has it, or an opening SYN of a new flow where
 * the case wants one.
 */
uint32_t generator_frame_next(struct generator *generator, uint8_t *frame, uint8_t flags);

/* Takes what bench_frame_write put in a number's place out of the frame's checksum. */
void generator_number_detach(const struct generator *generator, uint8_t *frame);

/* Gives a frame other TCP flags. */
void generator_flags_set(const struct generator *generator, uint8_t *frame, uint8_t flags);

/* Bytes that `subject` puts in front of the inner packet. */
uint32_t generator_shift(const struct generator *generator, enum bench_subject subject);

/* The same for a packet of any flow; `number` picks its size. */
uint32_t generator_frame_of(const struct generator *generator, uint8_t *frame, uint64_t flow,
	uint64_t number, uint8_t flags);

/* Puts a number into a frame that goes out. */
static inline void generator_number_put(
	const struct generator *generator, uint8_t *frame, uint32_t number)
{
	uint32_t both[2] = {number, ~number};

	memcpy(frame + generator->tcp + GENERATOR_NUMBER, both, sizeof(both));
}

/* The number in a frame that came back with `shift` bytes in front; false when it is not ours. */
static inline bool generator_number_get(const struct generator *generator, uint32_t shift,
	const uint8_t *frame, uint32_t length, uint32_t *number)
{
	uint32_t at = generator->tcp + shift + GENERATOR_NUMBER;
	uint32_t both[2];

	if (length < at + 16)
		return false;
	memcpy(both, frame + at, sizeof(both));
	*number = both[0];
	return both[0] == ~both[1];
}

/* Is this, byte for byte, what the subject must make of one of our frames? */
bool generator_frame_right(const struct generator *generator, enum bench_subject subject,
	const uint8_t *frame, uint32_t length);

/*
 * Each flow's SYN, then each flow's ACK, so that all are established; and before them those of the
 * flows that only fill the table.
 */
void generator_prime(struct generator *generator, struct bench_generated *out);

void generator_trial(struct generator *generator, enum bench_subject subject,
	const struct bench_trial *trial, struct bench_generated *out);
