/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Frames that no service address claims: the host's, but for questions about announced addresses
 * (abi/announce.h) and what routers say about our tunnels (abi/path_mtu.h).
 */
#pragma once

#include "pipeline.h"

/*
 * A frame whose verdict is HOST: changes it to REPLY or CONSUMED if it is one of those. Needs
 * worker->view.
 */
void gw_unclaimed(struct gw_worker *worker, struct gw_burst *burst, uint8_t i);
