/* SPDX-License-Identifier: BSD-2-Clause */
/* Any text as a flow: what is read, written and read again, is the same flow. */
#include "control/lookup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char error[GW_LOOKUP_ERROR], text[GW_FLOW_TEXT];
	struct gw_flow_key key, again;
	char *input = malloc(size + 1);

	if (!input)
		return 0;
	memcpy(input, data, size);
	input[size] = '\0';
	if (gw_flow_parse(input, &key, error) == 0 &&
		(gw_flow_parse(gw_flow_format(&key, text), &again, error) < 0 ||
			memcmp(&key, &again, sizeof(key)) != 0))
		abort();
	free(input);
	return 0;
}
