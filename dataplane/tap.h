/* SPDX-License-Identifier: BSD-2-Clause */
/* A tap device: the kernel's end of a port that DPDK owns. It goes when its descriptor is closed.
 */
#pragma once

#include <rte_ether.h>

#include <stdint.h>

/*
 * Makes the device (name up to 15 characters), gives it the MAC and MTU and sets it up. Returns a
 * non-blocking descriptor that reads and writes one frame at a time, or -errno.
 */
int gw_tap_open(const char *name, const struct rte_ether_addr *mac, uint16_t mtu);
