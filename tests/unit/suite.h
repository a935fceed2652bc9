/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What every unit test program shares: a table of named tests, run by CUnit, one exit status.
 * A test's name states the behaviour it holds: tracked_flow_stays_when_its_backend_drains.
 */
#pragma once

#include <CUnit/CUnit.h>

#include <stddef.h>

struct gw_test {
	const char *name;
	void (*run)(void);
};

#define GW_TEST(function)                                                                          \
	{                                                                                          \
#		function, function                                                                \
	}

/*
 * Runs the tests in order and prints "NAME: N passed, N failed" as the last line, counted in tests.
 * With a word as the program's argument only the tests whose names contain it run.
 * Returns the program's exit status: 0 when all that ran passed and at least one ran.
 */
int gw_suite_run(
	const char *name, const struct gw_test *tests, size_t count, int argc, char **argv);

#define GW_SUITE(name, tests)                                                                      \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		return gw_suite_run(name, tests, sizeof(tests) / sizeof((tests)[0]), argc, argv);  \
	}
