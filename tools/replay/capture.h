/* SPDX-License-Identifier: BSD-2-Clause */
/* Captures in and out, by libpcap: Ethernet, nanosecond stamps. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct capture_in;
struct capture_out;

/* NULL after a message that names the file and what is wrong with it. */
struct capture_in *capture_open(const char *path);
/* 1 and the frame, valid until the next call; 0 at the end; -1 after a message. */
int capture_read(struct capture_in *in, const uint8_t **frame, size_t *length, uint64_t *time_ns);
void capture_close(struct capture_in *in);

struct capture_out *capture_create(const char *path);
void capture_write(struct capture_out *out, const uint8_t *frame, size_t length, uint64_t time_ns);
/* 0, or -1 after a message when not all was written. NULL is fine. */
int capture_finish(struct capture_out *out);
