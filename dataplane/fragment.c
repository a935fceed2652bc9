/* SPDX-License-Identifier: BSD-2-Clause */
/* Fragments: the first one's decision is remembered, the later ones follow it. */
#include "pipeline.h"

void gw_fragment_first(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	(void)worker;
	(void)burst;
	(void)i;
}

bool gw_fragment_later(struct gw_worker *worker, struct gw_burst *burst, uint8_t i)
{
	(void)worker;
	gw_result_drop(&burst->result[i], GW_DROP_FRAG_EARLY);
	return false;
}
