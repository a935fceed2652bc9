/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as what a probed server answers: a message of the DNS, a frame of gRPC. */
#include "control/check_dns.h"
#include "control/check_grpc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The query's id and question in front, so that the rest is looked at. */
static void dns_try(uint16_t type, const char *answer, const uint8_t *data, size_t size)
{
	static uint16_t noerror;
	const struct gw_config_check check = {.query = "www.example.test",
		.query_type = type,
		.answer = answer,
		.rcodes = &noerror,
		.rcode_count = 1};
	uint8_t query[GW_DNS_QUERY_MAX], *message;
	size_t length = gw_dns_query_make(&check, 7, query);
	struct gw_check_outcome outcome;

	gw_dns_answer_judge(&check, query, length, data, size, &outcome);
	message = malloc(length + size);
	if (!message)
		return;
	memcpy(message, query, length);
	message[2] |= 0x80;
	message[7] = size ? data[0] : 0; /* how many answers there are said to be */
	memcpy(message + length, data, size);
	gw_dns_answer_judge(&check, query, length, message, length + size, &outcome);
	free(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		uint16_t type;
		const char *answer;
	} kinds[] = {{1, "192.0.2.7"}, {28, "2001:db8::7"}, {15, "mail.example.test"},
		{16, "green"}, {33, "a.example.test"}, {2, NULL}};
	uint64_t status;

	gw_grpc_status_read(data, size, &status);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		dns_try(kinds[i].type, kinds[i].answer, data, size);
	return 0;
}
