/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * One packet on its way through the steps of xdp_lb.bpf.c. What is rare (ICMP, fragments, packets
 * that are too big) is a global function of its own: the verifier takes each by itself, and the
 * common path stays short. Such a function gets the context and the state, finds maps and packet
 * anew, and returns a step like any other:
 *
 *	LB_OK         go on: the state names service, backend and hash, the packet goes there
 *	LB_HOST       the host's, untouched
 *	LB_REPLY      the frame has become our answer and goes back where it came from
 *	LB_CONSUMED   ours, and at its end
 *	LB_OTHER      as LB_OK, but lb_other has to write the headers
 *	from 0        the enum gw_drop
 */
#pragma once

#include "abi/parse.h"
#include "lb_choose.h"

#define LB_OK	     (-1)
#define LB_HOST	     (-2)
#define LB_ICMP	     (-3) /* from the parser: lb_icmp takes over */
#define LB_LATE	     (-4) /* from the parser: lb_fragment takes over */
#define LB_REPLY     (-5)
#define LB_CONSUMED  (-6)
#define LB_QUOTED    (-7)  /* from lb_icmp: lb_quoted takes over */
#define LB_UNCLAIMED (-8)  /* from lb_icmp: lb_unclaimed takes over */
#define LB_OTHER     (-9)  /* decided: lb_other takes over */
#define LB_SLOW	     (-10) /* from lb_fast: lb_whole takes over */

_Static_assert(LB_OK == GW_PARSE_OK && LB_OK == GW_CHOOSE_OK, "one language");
_Static_assert(LB_HOST == GW_PARSE_HOST && LB_ICMP == GW_PARSE_ICMP && LB_LATE == GW_PARSE_LATE,
	"one language");

struct lb_state {
	struct gw_packet packet;
	uint64_t hash;
	uint32_t service; /* GW_NONE: none matched */
	struct gw_choice choice;
	uint32_t vip_flags; /* of the service address, GW_VIP_*; known to lb_icmp */
	int action;	    /* for LB_OK: the program's return value */
	uint32_t reserved;
} __attribute__((aligned(8)));
_Static_assert(sizeof(struct lb_state) == 104, "no padding: global functions take it whole");

/* What the outer headers are made of, where they are not plain; and for whom. */
struct lb_outbound {
	uint64_t hash;
	struct gw_link link;
	uint32_t backend;
	uint32_t service;
	uint32_t slot;
	uint32_t l3_length; /* these as in struct gw_packet */
	uint16_t l3_offset;
	uint16_t ip_id;
	uint8_t family;
	uint8_t tos;
	bool dont_fragment;
	uint8_t flow; /* enum gw_trace_flow */
};
_Static_assert(sizeof(struct lb_outbound) == 48, "no padding: global functions take it whole");
