/* SPDX-License-Identifier: BSD-2-Clause */
/* What reading reports (rtnetlink.c) and asking questions (rtnetlink_ask.c) share. */
#pragma once

#include "base/rtnetlink.h"

#include <libmnl/libmnl.h>

#include <sys/types.h>

/* Copies an attribute that holds one address of the family. Returns false for any other length. */
bool gw_rtnetlink_address(
	const struct nlattr *attribute, uint8_t family, struct gw_address *address);

static inline bool gw_rtnetlink_is_u32(const struct nlattr *attribute)
{
	return mnl_attr_get_payload_len(attribute) == sizeof(uint32_t);
}

/* One read from the questions' socket. Returns its length or -errno. */
ssize_t gw_rtnetlink_receive(struct gw_rtnetlink *netlink, char *buffer, size_t size);
