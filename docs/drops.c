/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the manual page guideway-drops(7) to standard output, from the one list of reasons
 * (abi/verdict.h). A new reason is in the page by itself; what to do about it is said here.
 */
#include "abi/verdict.h"

#include <stdio.h>

static const char head[] = ".\\\" SPDX-License-Identifier: BSD-2-Clause\n"
			   ".\\\" Made from lib/abi/verdict.h by docs/drops.c.\n"
			   ".Dd November 30, 2026\n"
			   ".Dt GUIDEWAY-DROPS 7\n"
			   ".Os Guideway\n"
			   ".Sh NAME\n"
			   ".Nm guideway-drops\n"
			   ".Nd why Guideway drops packets\n"
			   ".Sh DESCRIPTION\n"
			   "Every packet that Guideway drops is counted under exactly one of the "
			   "reasons below, which are\n"
			   "the same in both datapaths.\n"
			   ".Ql guideway drops ,\n"
			   "the API's\n"
			   ".Pa /v1/drops\n"
			   "and the metric\n"
			   ".Li guideway_dropped_packets_total{reason=\"...\"}\n"
			   "show them by these names.\n"
			   ".Pp\n"
			   "In input packets, what was received is what was sent to backends, left "
			   "to the host, replied to,\n"
			   "consumed, is held, and was dropped: nothing goes uncounted.\n"
			   ".Bl -tag -width Ds\n";

static const char tail[] = ".El\n"
			   ".Sh SEE ALSO\n"
			   ".Xr guideway 1 ,\n"
			   ".Xr guideway.yaml 5 ,\n"
			   ".Xr guideway-control 8\n";

/* NULL: what the reason says is all there is to say. */
static const char *const advice[GW_DROP_COUNT] = {
	[GW_DROP_MALFORMED] =
		"Scans and broken senders; many from one place deserve a look with a capture.",
	[GW_DROP_MARTIAN] = "Spoofed sources; the network in front can filter them (BCP 38).",
	[GW_DROP_EXTHDR] = "No honest sender makes such packets.",
	[GW_DROP_ICMP_OTHER] =
		"Error messages that belong to flows are forwarded to their backends,\n"
		"and echo requests are answered; this is the rest.",
	[GW_DROP_NO_SERVICE] = "Scans, or a service that is missing in the file.\nWith\n"
			       ".Ic services[].no_service : host\n"
			       "such packets are the host's.",
	[GW_DROP_NO_BACKEND] = "All backends of the pool are down, drained or disabled: see\n"
			       ".Ql guideway backend list .\n"
			       "With\n"
			       ".Ic pools[].panic_below\n"
			       "those that are down are used rather than none.",
	[GW_DROP_NO_NEIGHBOUR] = "See the route and the neighbour of the backend's address with\n"
				 ".Ql ip route get\n"
				 "and\n"
				 ".Ql ip neigh .",
	[GW_DROP_TOO_BIG] = "Raise the MTU between balancer and backends by the encapsulation's\n"
			    "overhead, or lower the clients' segments (MSS).",
	[GW_DROP_HOST_FULL] = "More packets for the host itself than its path takes.",
};

int main(void)
{
	static const char *const names[] = {
#define NAME(NAME_, name, text) name,
		GW_DROP_REASONS(NAME)
#undef NAME
	};
	static const char *const texts[] = {
#define TEXT(NAME_, name, text) text,
		GW_DROP_REASONS(TEXT)
#undef TEXT
	};

	fputs(head, stdout);
	for (size_t i = 0; i < GW_DROP_COUNT; i++) {
		printf(".It Li %s\n%s.\n", names[i], texts[i]);
		if (advice[i])
			printf("%s\n", advice[i]);
	}
	fputs(tail, stdout);
	return ferror(stdout) || fflush(stdout);
}
