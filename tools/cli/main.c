/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv);
}
