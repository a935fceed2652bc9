/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-bench: what is measured (a case), who measures it (a runner), and what comes out (a
 * sample).
 *
 * A case names one point of a sweep. A runner knows one path in one mode: it sets the case up and
 * then measures the balancer and the bound, a plain forwarder (receive, swap MACs, send) on the
 * same ports, as often as it is asked. It does not repeat, wait or judge: measure.c warms up,
 * interleaves the two, takes medians and refuses a figure whose packets were not all balanced.
 *
 *	main.c → plan.c (cases from the options) → measure.c → runner
 *	                                                     → report.c, report/json.c, report/svg.c
 */
#pragma once

#include "abi/flow_word.h"

#include <jansson.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BENCH_MESSAGE 256

enum bench_family {
	BENCH_IPV4 = 4,
	BENCH_IPV6 = 6,
};

/* Sizes count the frame check sequence, as RFC 2544 does: 64 is the shortest. */
#define BENCH_SIZE_IPV6 78u /* the shortest with TCP over IPv6 */
#define BENCH_SIZE_IMIX 0u  /* seven of 64, four of 594, one of 1518 */

struct bench_case {
	const char *path; /* "dpdk" or "xdp" */
	const char *mode; /* "cpu", "link" or "nic" */
	enum bench_family family;
	const char *encap;    /* as in a pool of the configuration: "ipip", "gue", "gre", "l2" */
	uint32_t packet_size; /* or BENCH_SIZE_IMIX */
	uint32_t asked_size;  /* what was asked for, if no frame is as short; else 0 */
	uint64_t flows;	      /* distinct ones, in random order */
	double new_share;     /* of all packets, that open a flow never seen before: 0 to 1 */
	uint32_t services;
	uint32_t pools;	   /* that the services share in turn; at most as many as services */
	uint32_t backends; /* of each pool */
	uint32_t table_size;
	uint64_t table_flows;	   /* room of the flow table; 0: twice `flows`, at least 65,536 */
	double table_fill;	   /* share of it that flows which never send take up at first */
	bool tracked;		   /* false: the services have track_flows: false */
	uint32_t workers;	   /* DPDK */
	uint32_t swaps_per_second; /* tables put in force while it is measured */
	double load;   /* link and nic: share of the highest rate, for latency; 0: all it takes */
	uint64_t rate; /* nic: frames a second, evenly, and no search; 0: search */
	uint32_t idle_us; /* link: single packets after a pause so long, for the latency of waking
			     up; 0: no pauses */
	bool adaptive;	  /* DPDK: idle workers sleep (`poll: adaptive`); else they poll always */
};

/* The room of the flow table: what the case says, or the default as far as a table can be so large.
 */
static inline uint64_t bench_table_flows(const struct bench_case *what)
{
	uint64_t room = 2 * what->flows > 65536 ? 2 * what->flows : 65536;

	if (what->table_flows)
		return what->table_flows;
	return room < GW_FLOW_FLOWS_MAX ? room : GW_FLOW_FLOWS_MAX;
}

/* What passed during one measurement of one subject. */
struct bench_sample {
	double seconds;
	uint64_t packets;     /* that the subject sent */
	uint64_t offered;     /* that it was given */
	uint64_t lost;	      /* given and not sent: drops of the subject, full rings */
	uint64_t overhead_ns; /* of the feeder for all packets, already taken off `seconds` */
	uint64_t cycles;      /* TSC, of the measuring core; 0: not known */
	uint64_t sampled;     /* frames of the output that were looked at … */
	uint64_t wrong;	      /* … and were not the encapsulation that the case asks for */
	uint64_t swaps;	      /* tables put in force meanwhile */
	/*
	 * Of the balancer, its own counters' growth (struct gw_counters): measure.c refuses the
	 * figure unless rx = tx + drops + other and tx = packets. All 0: it could not be read.
	 */
	uint64_t counted_rx, counted_tx, counted_drops;
	uint64_t counted_other; /* to_host, replied, consumed, held */
	uint64_t untracked;	/* of those sent: the flow table had no room */
	uint64_t flows_new;	/* of those sent: they made a flow known to the table */
	uint64_t remembered;	/* packets that ever did so, since this balancer started */
	double io_ns; /* of the bound: ns a packet when it leaves the frames alone; 0: not known */
	bool has_latency;
	double latency_ns[3]; /* p50, p99, p99.9 */
	double latency_max_ns;
	uint64_t late; /* sent well after the schedule had them due; latency counts from then */
	uint64_t never_sent; /* due, and not sent at all */
	bool unasked;	     /* the balancer has no counters that could be asked for */
	char note[96];	     /* "no_neighbour 12": what explains a loss; may be empty */
};

enum bench_subject {
	BENCH_BOUND,
	BENCH_BALANCER,
};

/* What the options say about this machine rather than about a case. */
struct bench_machine {
	int cpu;	   /* the measured core; workers beyond the first take the ones after it */
	int generator_cpu; /* link and nic */
	const char *gen, *dut; /* nic: the ports */
	const char *eal_args;  /* as typed, "" for none */
	bool huge_pages;       /* at least as many free as the case needs */
	double resolution;     /* nic: the search ends at that share of the highest rate; 0: 1 % */
	uint32_t repeats;      /* nic: of a trial that lost, before the search believes it */
	/* What goes on inside a measurement that takes minutes, a line each; NULL: nobody asks. */
	void (*tell)(void *owner, const char *line);
	void *tell_owner;
};

struct bench_runner {
	const char *path, *mode;
	const char *what; /* how it measures, for the report: "frames from memory through a vdev" */
	const char *bound; /* what the bound is, for the report */
	bool synthetic;	   /* no network card */
	bool primed;	   /* open sends each flow's first packets: no warm-up */
	/*
	 * Could this machine run it at all? Quick, changes nothing. 0, or -errno with why not and
	 * what to do ("needs root"). NULL: always.
	 */
	int (*able)(const struct bench_machine *machine, char message[BENCH_MESSAGE]);
	/*
	 * Opens the ports as `open` would for this case, and lets go of them: once a run, before
	 * anything is measured, so that a port that is not there is said once. 0, or -errno with a
	 * message. NULL: there is none that the user chooses.
	 */
	int (*try_ports)(const struct bench_machine *machine, const struct bench_case *what,
		char message[BENCH_MESSAGE]);
	/*
	 * Sets up what the case needs. 0, or -errno with a message that says what to do; -ENOTSUP
	 * for a case that the path cannot have. At most one is open at a time.
	 */
	int (*open)(const struct bench_machine *machine, const struct bench_case *what,
		void **state, char message[BENCH_MESSAGE]);
	/* One measurement of about `seconds`. 0; -ENODATA for a bound that there is none of; or
	 * -errno with a message. */
	int (*measure)(void *state, enum bench_subject subject, double seconds,
		struct bench_sample *sample, char message[BENCH_MESSAGE]);
	/*
	 * From now on the case's swaps are not made (or are again) while the balancer is measured:
	 * what they cost is the difference. NULL: they cannot be held, and are always made.
	 */
	void (*hold_swaps)(void *state, bool held);
	/* Removes everything that open made, also namespaces, pins and processes. NULL is fine. */
	void (*close)(void *state);
	/*
	 * Adds the driver, the device and whatever else a reader must know that is so for every
	 * case ("synthetic": true when it is no network card after all), and to `run` what was
	 * found in this one. May be NULL.
	 */
	void (*describe)(void *state, json_t *machine, json_t *run);
};

/* One file a runner; runners.c has the list of those that are compiled in, NULL at the end. */
extern const struct bench_runner *const bench_runners[];
/*
 * "02:00:00:00:00:02" as --dut: a balancer of another host's that cannot be asked. False: something
 * else. mac.c.
 */
bool bench_mac_read(const char *text, uint8_t mac[6]);
/* NULL: none of this path and mode. */
const struct bench_runner *bench_runner_find(const char *path, const char *mode);
/*
 * A runner may start this program again, with a hidden word that begins with @: what main() does
 * then. The exit status, or -1: no such word in this build.
 */
int bench_child_main(const char *word);
/* nic between two hosts, the balancer's side: until *stop. 0 or -errno with a message. */
int bench_serve(const struct bench_machine *machine, const char *address,
	const volatile sig_atomic_t *stop, char message[BENCH_MESSAGE]);
extern const struct bench_runner bench_dpdk_cpu;
extern const struct bench_runner bench_dpdk_link;
extern const struct bench_runner bench_dpdk_nic;
extern const struct bench_runner bench_xdp_cpu;
extern const struct bench_runner bench_xdp_link;

/*
 * The frames of a case, the same for every runner: flow f's frame, in network order, without the
 * check sequence. TCP over IPv4 or IPv6, all of a size (or IMIX), payload constant. frames.c.
 *
 *	source       198.18.0.0/15, 2001:2::/48 (RFC 2544, RFC 5180)    f mod 2^17
 *	source port  1024 upwards                                       (f / 2^17) mod 64512
 *	destination  203.0.113.1 upwards, 2001:db8:113::1 upwards; 80   f mod services
 *
 * so that 2^17 * 64512 flows are distinct; only these fields and the checksums (IPv4's header, TCP)
 * differ between two flows' frames of one size. An IPv6 frame has at least 78 - 4 bytes.
 */
#define BENCH_FRAME_MAX	    1514
#define BENCH_FLOWS	    (UINT64_C(64512) << 17)
#define BENCH_SOURCE_BITS   17
#define BENCH_SOURCE_PORT   1024u /* the lowest */
#define BENCH_SOURCE_PORTS  64512u
#define BENCH_SERVICE_PORT  80u
#define BENCH_SOURCE_IPV4   0xc6120000u /* 198.18.0.0, host order */
#define BENCH_SERVICE_IPV4  0xcb007101u /* 203.0.113.1: service 0 */
#define BENCH_BACKEND_IPV4  0x0a520100u /* 10.82.1.0: each pool's backend 0; IPv6 fd82::1:0 */
#define BENCH_BACKENDS_MAX  65000u	/* of one pool */
#define BENCH_BALANCER_IPV4 0x0a52000bu /* 10.82.0.11; IPv6 fd82::11 */
#define BENCH_MTU	    9000u	/* of the egress link: nothing is too big */

struct bench_frames {
	const struct bench_case *what;
	uint8_t destination_mac[6], source_mac[6]; /* of what goes in */
};

/* The balancer's own MAC as bench_build's next hops have it: frames must go to it. */
#define BENCH_OUR_MAC                                                                              \
	{                                                                                          \
		2, 0, 0, 0, 0, 2                                                                   \
	}

/* Length of the frame; `tcp_flags` 0 writes an ACK. `number` picks the size out of an IMIX. */
uint32_t bench_frame_write(const struct bench_frames *frames, uint64_t flow, uint64_t number,
	uint8_t tcp_flags, uint8_t frame[BENCH_FRAME_MAX]);
/* Of the frame that bench_frame_write would write. */
uint32_t bench_frame_length(const struct bench_frames *frames, uint64_t number);
/*
 * True when `out` is what the balancer must make of flow `flow`'s packet: its outer header is one
 * of the case's backends', its inner packet byte for byte the one that went in.
 */
bool bench_frame_right(const struct bench_frames *frames, uint64_t flow, uint64_t number,
	uint8_t tcp_flags, const uint8_t *out, uint32_t length);
/* The same of any of the case's flows and sizes, found out from the inner packet: for a runner that
 * sees frames come out in no known order. The flow is written unless NULL. */
bool bench_frame_judge(
	const struct bench_frames *frames, const uint8_t *out, uint32_t length, uint64_t *flow);

/*
 * The model of a case: `services` services that share `pools` pools of `backends` each, built by
 * control's builder; the caller frees it as any build (gw_build_free). Next hops are resolved: MAC
 * 02:00:00:00:00:01 (l2: 02:00:01:00 and the low 16 bits of the backend's address), from
 * BENCH_OUR_MAC, port 0, MTU BENCH_MTU. Successive `version`s (from 1) differ by the weight of one
 * backend of each pool, so that each is a swap of every table. It takes milliseconds and more:
 * whoever swaps often builds two before and puts them in force in turn, renumbered
 * (gw_build_renumber). model.c.
 */
struct gw_build;
int bench_build(const struct bench_case *what, uint32_t version, struct gw_build **build,
	char message[BENCH_MESSAGE]);
/* The configuration itself, with what else another host's balancer needs as comments. */
void bench_print_config(const struct bench_case *what, FILE *out);
