/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network of xdp/link: a veth pair in a network namespace without a name, which ends with the
 * process, however that ends. One end is the generator's, the other the one of the subject.
 */
#pragma once

#include "bench/core/bench.h"

#include <sys/types.h>

struct xdp_link_net {
	int home; /* the namespace that the thread came from, -1 while there is none */
	int inside;
	int generator, subject; /* interfaces */
	char generator_name[16], subject_name[16];
	pid_t thread; /* the kernel's, of the subject's end; 0 before it is pinned */
};

/* Makes it; the calling thread is where it was before. 0 or -errno with a message. */
int xdp_link_net_init(struct xdp_link_net *net, char message[BENCH_MESSAGE]);
void xdp_link_net_fini(struct xdp_link_net *net);

/* Takes the calling thread inside and back. */
int xdp_link_net_enter(const struct xdp_link_net *net);
void xdp_link_net_leave(const struct xdp_link_net *net);

/*
 * Frames that reach the subject's end are its own thread's work, and that thread's CPU is `cpu`.
 * Its program must be attached. Call inside. 0 or -errno with a message.
 */
int xdp_link_net_pin(struct xdp_link_net *net, int cpu, char message[BENCH_MESSAGE]);

/* CPU time of that thread so far, in ns; 0: not known. */
uint64_t xdp_link_net_busy(const struct xdp_link_net *net);
