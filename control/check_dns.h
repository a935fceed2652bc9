/* SPDX-License-Identifier: BSD-2-Clause */
/* Questions and answers of the DNS (RFC 1035), apart from any socket. */
#pragma once

#include "control/check.h"

#include <stddef.h>
#include <stdint.h>

#define GW_DNS_QUERY_MAX (12 + 255 + 4)

/* Writes a query for check->query with this id and returns its length. */
size_t gw_dns_query_make(
	const struct gw_config_check *check, uint16_t id, uint8_t query[static GW_DNS_QUERY_MAX]);

/*
 * Judges a message against the query it should answer. False: it answers something else, wait on.
 * True: *outcome says whether it is what the check expects. Any bytes are fine.
 */
bool gw_dns_answer_judge(const struct gw_config_check *check, const uint8_t *query,
	size_t query_length, const uint8_t *answer, size_t length,
	struct gw_check_outcome *outcome);
