/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs an XDP program instruction by instruction in user space and counts: exact, and the same on
 * every machine, which no clock is. The kernel must have loaded the program's object, so that its
 * instructions name maps by descriptor; maps that can be mapped are the kernel's own memory, others
 * are copied, looked up as they are now. Knows the instructions of -mcpu=v3 and the helpers that a
 * common packet calls; whoever meets another ends the program with its name. One thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct bpf_count;
struct bpf_object;
struct bpf_program;

struct bpf_count_sum {
	uint64_t instructions;
	uint64_t calls; /* of helpers, which cost more than an instruction and count as one above */
};

/*
 * `rodata` stands in for the object's constants and stays the caller's. The object is in use until
 * bpf_count_free.
 */
struct bpf_count *bpf_count_new(
	struct bpf_object *object, const struct bpf_program *program, const void *rodata);
void bpf_count_free(struct bpf_count *count);

/*
 * Runs the program once on a frame (at most 2000 bytes) that came in on the interface `ifindex`,
 * and adds what that took to *sum. Returns what the program returned.
 */
uint32_t bpf_count_frame(struct bpf_count *count, const void *frame, size_t length,
	uint32_t ifindex, struct bpf_count_sum *sum);

/* The frame as the last run left it, until the next. */
const void *bpf_count_output(const struct bpf_count *count, size_t *length);
