/* SPDX-License-Identifier: BSD-2-Clause */
/* The parent's side of a child (ends/wire.h): start it, ask it, end it. One thread. */
#pragma once

#include "bench/ends/wire.h"

#include <sys/types.h>

struct bench_child {
	const char *name; /* "generator", for messages */
	pid_t pid;	  /* 0: none here */
	int fd;		  /* -1: none */
};

/*
 * Starts this program again with the hidden word, and hands it its setup. Answers what the child
 * says about its port. 0 or -errno with a message. On success the caller ends it.
 */
int bench_child_start(struct bench_child *child, const char *word,
	const struct bench_link_setup *setup, struct bench_port_facts *facts,
	char message[BENCH_MESSAGE]);

/* What both hosts say first: they must be the same program. */
struct bench_hello {
	char magic[8];
	char version[16];
	uint32_t setup_size, ask_size, answer_size, reserved;
};
void bench_hello_make(struct bench_hello *hello);

/* Of "192.0.2.1:7110", "[2001:db8::1]:7110" or a name; NULL: there is none. For freeaddrinfo. */
struct addrinfo;
struct addrinfo *bench_address_find(const char *address);

/* The same for a child of guideway-bench --listen at "ADDRESS:PORT". */
int bench_child_connect(struct bench_child *child, const char *address,
	const struct bench_link_setup *setup, struct bench_port_facts *facts,
	char message[BENCH_MESSAGE]);

/* The whole of a message, also from a stream. 0, -EPIPE when the other side has gone, or -errno. */
int bench_wire_read(int fd, void *data, size_t size);
int bench_wire_write(int fd, const void *data, size_t size);

/*
 * One ask and its answer. -EPIPE when the child has died, -ETIMEDOUT when it says nothing for
 * `patience` seconds (then it is of no more use), or the error that it answers.
 */
int bench_child_talk(struct bench_child *child, const struct bench_ask *ask, double patience,
	struct bench_answer *answer, char message[BENCH_MESSAGE]);

/* Ends the child and waits for it. Fine for one that was never started. */
void bench_child_end(struct bench_child *child);
