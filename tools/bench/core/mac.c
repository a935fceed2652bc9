/* SPDX-License-Identifier: BSD-2-Clause */
#include "bench.h"

#include <stdio.h>
#include <string.h>

#define MAC_TEXT 17

bool bench_mac_read(const char *text, uint8_t mac[6])
{
	uint8_t read[6];
	int used = 0;

	if (strlen(text) != MAC_TEXT ||
		sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &read[0], &read[1], &read[2],
			&read[3], &read[4], &read[5], &used) != 6 ||
		used != MAC_TEXT)
		return false;
	memcpy(mac, read, sizeof(read));
	return true;
}
