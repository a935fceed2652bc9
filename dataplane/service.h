/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which service a packet is for (abi/objects.h, "Service match"): service address by hash, full
 * addresses first, then prefixes from the longest; then the protocol's spans by binary search.
 */
#pragma once

#include "generation.h"

/*
 * Builds the two hashes of a view from its vip array. Returns 0, -EEXIST when one prefix stands
 * twice, or -ENOMEM. `serial` makes the hashes' names unique.
 */
int gw_vip_index_build(struct gw_view *view, int socket, uint32_t serial);
void gw_vip_index_free(struct gw_view *view);

/* The service of a protocol and a port (host order) of one service address; GW_NONE: none. */
uint32_t gw_vip_service(
	const struct gw_view *view, const struct gw_vip *vip, uint8_t protocol, uint16_t port);

/* The service address that an address falls under; NULL: none. */
const struct gw_vip *gw_vip_find(const struct gw_view *view, const struct gw_address *address);

/* The first `bits` bits of an address, the rest zero. */
static inline void gw_address_mask(
	struct gw_address *out, const struct gw_address *address, uint32_t bits)
{
	for (uint32_t i = 0; i<sizeof(out->bytes); i++, bits -= bits> 8 ? 8 : bits)
		out->bytes[i] = bits >= 8 ? address->bytes[i]
					  : (uint8_t)(address->bytes[i] & (0xff00u >> bits));
}
