/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int gw_output_finish(const char *program, int status)
{
	int failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !failed)
		return status;
	fprintf(stderr, "%s: cannot write to standard output: %s\n", program,
		errno ? strerror(errno) : "an earlier write failed");
	return status ? status : 1;
}
