/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The network of the XDP publisher's tests: eth1 with its far end wire1, eth2 with wire2, in a
 * namespace that the test has entered. The test speaks and listens on wire1 as the network would.
 */
#pragma once

#include "frames.h"

#include <linux/bpf.h>

#include <CUnit/CUnit.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static int wire = -1;

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "xdp_publisher: %s: cannot go on\n", what);
	exit(EXIT_FAILURE);
}

static void shell(const char *command)
{
	require(system(command) == 0, command);
}

static void neighbours_make(void)
{
	shell("for b in 101 102 103; do ip neigh replace 10.82.0.$b dev eth1 nud permanent "
	      "lladdr 02:00:00:00:00:$(printf %x $b); done");
}

static void network_make(void)
{
	struct sockaddr_ll bound = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};

	shell("ip link set lo up");
	for (int i = 1; i <= 2; i++) {
		char command[320];

		snprintf(command, sizeof(command),
			"ip link add eth%d type veth peer name wire%d && "
			"ip link set eth%d address 02:00:00:00:00:0b && "
			"ethtool -K eth%d rxvlan off && "
			"ip link set eth%d up && ip link set wire%d up",
			i, i, i, i, i, i);
		shell(command);
	}
	shell("ip address add 10.82.0.11/24 dev eth1");
	neighbours_make();
	wire = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
	bound.sll_ifindex = (int)if_nametoindex("wire1");
	require(bind(wire, (struct sockaddr *)&bound, sizeof(bound)) == 0, "bind to wire1");
}

static void wire_drain(void)
{
	char bytes[2048];

	while (recv(wire, bytes, sizeof(bytes), MSG_DONTWAIT) >= 0)
		;
}

/* How long an answer is waited for that should come, and one that should not. */
#define WIRE_ANSWER_MS 10000
#define WIRE_SILENT_MS 300

/*
 * Sends the frame into eth1 and waits for the encapsulated one that comes back. Returns its length,
 * 0 when none came within the time.
 */
static size_t wire_ask(const struct frame *frame, uint8_t answer[2048], int milliseconds)
{
	struct sockaddr_ll from;
	struct pollfd readable = {.fd = wire, .events = POLLIN};

	wire_drain();
	CU_ASSERT_EQUAL(send(wire, frame->bytes, frame->length, 0), (ssize_t)frame->length);
	while (poll(&readable, 1, milliseconds) > 0) {
		socklen_t size = sizeof(from);
		ssize_t length = recvfrom(wire, answer, 2048, 0, (struct sockaddr *)&from, &size);

		if (length > 34 && from.sll_pkttype != PACKET_OUTGOING && answer[12] == 0x08 &&
			answer[13] == 0x00 && answer[23] == GW_PROTO_IPV4)
			return (size_t)length;
	}
	return 0;
}

/* The last byte of the outer destination, 0 when nothing came; its MAC's last in *mac. */
static int wire_backend(uint8_t *mac)
{
	struct frame frame = frame_v4();
	uint8_t answer[2048] = {0};

	if (!wire_ask(&frame, answer, WIRE_ANSWER_MS))
		return 0;
	CU_ASSERT_EQUAL(memcmp(answer + 34, frame.bytes + 14, 45), 0);
	if (mac)
		*mac = answer[5];
	return answer[33];
}

/* Nothing comes back. */
static bool wire_silent(void *of)
{
	struct frame frame = frame_v4();
	uint8_t answer[2048];

	(void)of;
	return wire_ask(&frame, answer, WIRE_SILENT_MS) == 0;
}

static bool wire_answers(void *of)
{
	return !wire_silent(of);
}

/* Whether the answer goes to the MAC whose last byte is *of. */
static bool wire_goes_to(void *of)
{
	struct frame frame = frame_v4();
	uint8_t answer[2048];

	return wire_ask(&frame, answer, WIRE_SILENT_MS) && answer[5] == *(const uint8_t *)of;
}

static uint32_t program_on(const char *interface)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, options);

	CU_ASSERT_EQUAL(bpf_xdp_query((int)if_nametoindex(interface), 0, &options), 0);
	return options.drv_prog_id ? options.drv_prog_id : options.skb_prog_id;
}
