/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/output.h"
#include "cli.h"

int main(int argc, char **argv)
{
	return gw_output_finish("guideway", cli_main(argc, argv));
}
