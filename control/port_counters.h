/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel counts of an interface that the XDP program is attached to. */
#pragma once

#include "abi/dataplane_socket.h"

/* One question to rtnetlink, in the process's own network namespace. Returns 0 or -errno; on
 * failure *counters is untouched. */
int gw_port_counters_read(uint32_t ifindex, struct gw_port_stats *counters);
