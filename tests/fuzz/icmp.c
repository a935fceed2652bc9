/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a frame with ICMP, ARP or a solicitation, through all that reads or answers them.
 * Answers keep inside the frame; what they say must hold.
 */
#include "abi/announce.h"
#include "abi/path_mtu.h"
#include "abi/too_big.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_error(const uint8_t *frame, const struct gw_packet *packet)
{
	uint32_t length = packet->l3_offset + packet->l3_length - packet->l4_offset;
	uint32_t quoted = gw_icmp_quote_length(packet);
	struct gw_flow_key key = packet->key;
	struct gw_path_report report;
	uint8_t *quote = malloc(quoted);

	/* Exactly as much as there is, so that reads behind it are seen. */
	memcpy(quote, frame + packet->l4_offset + GW_ICMP_HEADER, quoted);
	if (gw_icmp_quoted_flow(quote, quoted, packet->family, &key)) {
		require(!memcmp(&key.destination, &packet->key.destination, 16));
		require(quoted >= GW_IPV4_HEADER);
	}
	free(quote);
	if (gw_path_report_read(frame + packet->l4_offset, length, packet->family,
		    &packet->key.destination, &report))
		require(!memcmp(&report.source, &packet->key.destination, 16));
}

static void answer_echo(uint8_t *frame, size_t size, const struct gw_packet *packet)
{
	struct gw_packet back;

	if (!gw_icmp_echo_allowed(frame, frame + size, packet) ||
		!gw_icmp_echo_answer(frame, frame + size, packet, false))
		return;
	require(gw_parse_destination(frame, frame + size, &back) == GW_PARSE_OK ||
		gw_address_is_ipv4(&packet->key.source));
	require(back.l3_offset == packet->l3_offset);
	require(!memcmp(&back.key.destination, &packet->key.source, 16));
	require(!memcmp(&back.key.source, &packet->key.destination, 16));
}

static void ask(uint8_t *frame, size_t size, uint32_t l3_offset)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 2};
	uint8_t *at = frame + l3_offset;
	struct gw_address target;

	if (size >= l3_offset + GW_ARP_BYTES && gw_arp_asks(at, &target)) {
		gw_arp_answer(at, mac);
		require(!gw_arp_asks(at, &target));
	}
	if (gw_nd_asks(at, frame + size, (uint32_t)(size - l3_offset)) &&
		size >= l3_offset + GW_ND_ADVERTISEMENT) {
		gw_nd_answer(at, mac);
		require(!gw_nd_asks(at, frame + size, (uint32_t)(size - l3_offset)));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *frame = malloc(size);
	struct gw_packet packet;

	memcpy(frame, data, size);
	if (gw_parse_destination(frame, frame + size, &packet) == GW_PARSE_OK &&
		gw_parse_transport(frame, frame + size, (uint32_t)size, &packet) == GW_PARSE_ICMP) {
		require(gw_too_big_quote(packet.family, packet.l3_length) <= packet.l3_length);
		read_error(frame, &packet);
		answer_echo(frame, size, &packet);
	} else if (packet.l3_offset && packet.l3_offset <= size) {
		ask(frame, size, packet.l3_offset);
	}
	free(frame);
	return 0;
}
