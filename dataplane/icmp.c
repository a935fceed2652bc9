/* SPDX-License-Identifier: BSD-2-Clause */
/* ICMP and ICMPv6 to a service address. */
#include "pipeline.h"

bool gw_icmp(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	(void)worker;
	gw_result_drop(&burst->result[i], GW_DROP_ICMP_OTHER);
	return false;
}
