/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Link and nic: guideway-bench runs itself twice more, because each end of the wire is a DPDK
 * program of its own with its own memory and its own core.
 *
 *	guideway-bench ──asks──► subject    (subject.c): the dataplane's engine and
 *	      │                    ▲       workers, or the bound, on the port under test
 *	      │                    │ frames: memif, or two real ports
 *	      │                    ▼
 *	      └──────────asks──► generator  (generator.c): sends, receives, checks, times
 *
 * Each child has one end of a SEQPACKET socket as descriptor BENCH_CHILD_FD: it reads one
 * struct bench_link_setup, answers it, and then answers one ask after another until the socket
 * closes. A child dies with its parent. The structs are of one program, so they need no version.
 *
 * With two hosts the subject is a child of guideway-bench --listen on the other one, which hands
 * the same structs on over TCP (link/serve.c) when both say that they are the same program.
 */
#pragma once

#include "bench/core/bench.h"

#include <stdbool.h>
#include <stdint.h>

#define BENCH_CHILD_FD	3
#define BENCH_PORT_TEXT 256
#define BENCH_EAL_TEXT	512
#define BENCH_LATENCIES 4	     /* p50, p99, p99.9 and the longest */
#define BENCH_GENERATOR "@generator" /* the hidden first words */
#define BENCH_SUBJECT	"@subject"
#define BENCH_OTHER_MAC                                                                            \
	{                                                                                          \
		2, 0, 0, 0, 0, 1                                                                   \
	} /* the generator's: what bench_build's next hops are */

struct bench_link_setup {
	struct bench_case what; /* its texts are the ones below */
	char encap[16];
	char port[BENCH_PORT_TEXT]; /* a PCI address or a --vdev text */
	char eal_args[BENCH_EAL_TEXT];
	uint8_t balancer_mac[6]; /* where the generator sends to */
	int cpu;      /* the one that polls; a subject's further workers take the next ones */
	int main_cpu; /* a subject's main thread, which mostly sleeps */
	bool huge_pages;
};

enum bench_ask_kind {
	BENCH_ASK_START, /* subject: be `subject` on the port, until BENCH_ASK_STOP */
	BENCH_ASK_STOP,
	BENCH_ASK_PRIME, /* generator: each flow's first two packets, SYN and ACK */
	BENCH_ASK_TRIAL, /* generator: `trial` */
};

/* How a trial sends. */
struct bench_trial {
	double seconds;
	uint64_t rate;	  /* frames a second, evenly; 0: as fast as it goes */
	uint32_t window;  /* at most so many frames on their way; 0: no limit */
	uint32_t idle_us; /* single frames after a pause so long; overrules the two above */
};

struct bench_ask {
	enum bench_ask_kind kind;
	enum bench_subject subject;
	struct bench_trial trial;
};

/* What the generator saw. */
struct bench_generated {
	double seconds; /* from the first frame sent to the last one received */
	double sending; /* of which frames were sent */
	uint64_t sent;
	uint64_t received; /* ours, of this trial */
	uint64_t foreign;  /* others that arrived meanwhile */
	uint64_t sampled, wrong;
	uint64_t late;	/* of those sent: more than BENCH_LATE_US after they were due */
	uint64_t never; /* frames that a paced trial should have sent and did not */
	uint64_t timed; /* latencies measured */
	/* The port's own counters, of all frames; 0 where it has none. */
	uint64_t port_sent, port_received, port_missed;
	double latency_ns[BENCH_LATENCIES];
};

/* What the subject counted between START and STOP; its other fields are 0 for the bound. */
struct bench_counted {
	uint64_t rx, tx, drops, other;
	uint64_t busy_cycles, total_cycles;
	uint64_t swaps, flows_new, untracked;
	uint64_t remembered; /* flows_new since the subject began */
	char note[96];	     /* "no_neighbour 12": where drops come from */
};

/* Of the port, in the answer to the setup. */
struct bench_port_facts {
	char driver[32];
	char device[64];
	uint32_t mbps;	 /* 0: not known */
	bool is_virtual; /* no network card */
};

struct bench_answer {
	int error; /* 0 or -errno, then with a message */
	char message[BENCH_MESSAGE];
	union {
		struct bench_port_facts port;
		struct bench_generated generated;
		struct bench_counted counted;
	};
};

/* What main() calls for the hidden words; return the exit status. */
int bench_generator_main(void);
int bench_subject_main(void);

/*
 * A child's reading of its next message: 0; -EPIPE when the parent has closed or gone. A setup's
 * texts are put in place.
 */
int bench_child_setup(struct bench_link_setup *setup);
/* -EAGAIN when time is up (-1: never), -EINTR after a signal. */
int bench_child_ask(struct bench_ask *ask, int timeout_ms);
void bench_child_answer(const struct bench_answer *answer);
