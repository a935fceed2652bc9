/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes through both steps of the parser; what it says must be true of the frame: lengths
 * inside it, a known result, a transport header that is whole. The sanitizers watch the reads.
 */
#include "abi/parse.h"

#include "abi/encap.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void packet_check(const struct gw_packet *packet, size_t size)
{
	require(packet->family == GW_IPV4 || packet->family == GW_IPV6);
	require(packet->l3_offset >= GW_ETH_HEADER && packet->l3_offset <= GW_ETH_HEADER + 8);
	require(packet->l3_offset + packet->l3_length <= size);
	require(packet->l4_offset >= packet->l3_offset + GW_IPV4_HEADER);
	require(packet->l4_offset <= packet->l3_offset + packet->l3_length);
	require(packet->fragment != GW_FRAGMENT_LATER && !packet->link_multicast);
	require(packet->fragment || !packet->fragment_id);
	require(packet->key.protocol == packet->protocol);
	require(!packet->key.zero[0] && !packet->key.zero[1] && !packet->key.zero[2]);
}

/* The outer header must fit its place and say the right length for whatever was parsed. */
static void encap_check(const struct gw_packet *packet)
{
	struct gw_backend backend = {.encap = (uint8_t)(packet->ip_id % GW_ENCAP_L2),
		.flags = GW_BACKEND_GUE_CHECKSUM | GW_BACKEND_FLOW_LABEL};
	uint8_t out[GW_ENCAP_MAX_BYTES];

	backend.family = GW_IPV4;
	backend.overhead = (uint8_t)gw_encap_overhead_of(backend.encap, GW_IPV4);
	if (!gw_encap_too_big(packet, &backend, UINT16_MAX)) {
		gw_encap_outer_v4(out, &backend, packet, 0x0123456789abcdefull);
		require(gw_wire_load16(out + 2) == packet->l3_length + backend.overhead);
	}
	backend.family = GW_IPV6;
	backend.overhead = (uint8_t)gw_encap_overhead_of(backend.encap, GW_IPV6);
	if (!gw_encap_too_big(packet, &backend, UINT16_MAX)) {
		gw_encap_outer_v6(out, &backend, packet, 0x0123456789abcdefull, 0xabcd);
		require(gw_wire_load16(out + 4) + GW_IPV6_HEADER ==
			packet->l3_length + backend.overhead);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gw_packet packet;
	int result = gw_parse_destination(data, data + size, &packet);

	require((result == GW_DROP_MALFORMED) == (size < GW_ETH_HEADER));
	if (result != GW_PARSE_OK)
		return 0;
	result = gw_parse_transport(data, data + size, (uint32_t)size, &packet);
	require(result >= GW_PARSE_LATE && result != GW_PARSE_HOST && result < GW_DROP_COUNT);
	if (result != GW_PARSE_OK)
		return 0;
	packet_check(&packet, size);
	encap_check(&packet);
	return 0;
}
