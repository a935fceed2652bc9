/* SPDX-License-Identifier: BSD-2-Clause */
/* Packets that, once encapsulated, exceed the egress MTU. */
#include "pipeline.h"

void gw_too_big(struct gw_worker *worker, struct gw_burst *burst, uint8_t i, uint32_t mtu)
{
	(void)worker;
	(void)mtu;
	gw_result_drop(&burst->result[i], GW_DROP_TOO_BIG);
}
