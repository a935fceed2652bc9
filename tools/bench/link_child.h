/* SPDX-License-Identifier: BSD-2-Clause */
/* The parent's side of a child (link_wire.h): start it, ask it, end it. One thread. */
#pragma once

#include "link_wire.h"

#include <sys/types.h>

struct bench_child {
	const char *name; /* "generator", for messages */
	pid_t pid;	  /* 0: none */
	int fd;
};

/*
 * Starts this program again with the hidden word, and hands it its setup. Answers what the child
 * says about its port. 0 or -errno with a message. On success the caller ends it.
 */
int bench_child_start(struct bench_child *child, const char *word,
	const struct bench_link_setup *setup, struct bench_port_facts *facts,
	char message[BENCH_MESSAGE]);

/*
 * One ask and its answer. -EPIPE when the child has died, -ETIMEDOUT when it says nothing for
 * `patience` seconds (then it is of no more use), or the error that it answers.
 */
int bench_child_talk(struct bench_child *child, const struct bench_ask *ask, double patience,
	struct bench_answer *answer, char message[BENCH_MESSAGE]);

/* Ends the child and waits for it. Fine for one that was never started. */
void bench_child_end(struct bench_child *child);
