/* SPDX-License-Identifier: BSD-2-Clause */
/* One request of NETLINK_ROUTE (RFC 3549) and the kernel's word on it. */
#pragma once

struct nlmsghdr;

/*
 * Sends a request that is complete but for NLM_F_REQUEST, NLM_F_ACK and its sequence number, which
 * are set here, on a socket of its own, and waits for the acknowledgement: a system call's time.
 * The caller keeps the buffer. Any thread, in its own network namespace. 0 or -errno, the kernel's
 * answer included.
 */
int gw_netlink_request(struct nlmsghdr *request);
