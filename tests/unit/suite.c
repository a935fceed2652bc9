/* SPDX-License-Identifier: BSD-2-Clause */
#include "suite.h"

#include <CUnit/Basic.h>

#include <stdio.h>
#include <string.h>

int gw_suite_run(const char *name, const struct gw_test *tests, size_t count, int argc, char **argv)
{
	const char *only = argc > 1 ? argv[1] : "";
	CU_pSuite suite;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 1;
	suite = CU_add_suite(name, NULL, NULL);
	for (size_t i = 0; suite && i < count; i++)
		if (strstr(tests[i].name, only) && !CU_add_test(suite, tests[i].name, tests[i].run))
			suite = NULL;
	if (!suite) {
		fprintf(stderr, "%s: %s\n", name, CU_get_error_msg());
		CU_cleanup_registry();
		return 1;
	}
	CU_basic_set_mode(CU_BRM_NORMAL);
	CU_basic_run_tests();

	unsigned int failed = CU_get_number_of_tests_failed();
	unsigned int ran = CU_get_number_of_tests_run();
	CU_cleanup_registry();
	printf("%s: %u passed, %u failed\n", name, ran - failed, failed);
	return failed || !ran;
}
