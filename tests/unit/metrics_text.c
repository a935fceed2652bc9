/* SPDX-License-Identifier: BSD-2-Clause */
/* The text that Prometheus reads: values, escapes, growth. */
#include "control/metrics_text.h"

#include "suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct metrics_text text;

static void expect(const char *wanted)
{
	bool same = text.length == strlen(wanted) && !memcmp(text.data, wanted, text.length);

	CU_ASSERT(same);
	if (!same)
		fprintf(stderr, "  wanted %s  got    %.*s\n", wanted, (int)text.length, text.data);
	free(text.data);
	text = (struct metrics_text){.room = 0};
}

static void expect_real(double value, const char *wanted)
{
	metrics_real(&text, value);
	expect(wanted);
}

static void numbers_are_written_as_they_are(void)
{
	metrics_count(&text, 0);
	expect("0\n");
	metrics_count(&text, UINT64_MAX);
	expect("18446744073709551615\n");
	expect_real(0, "0\n");
	expect_real(1, "1\n");
	expect_real(0.25, "0.25\n");
	expect_real(0.1, "0.1\n");
	expect_real(1e-9, "0.000000001\n");
	expect_real(0.333333333333, "0.333333333\n");
	expect_real(0.9999999999, "1\n");
	expect_real(12345.5, "12345.5\n");
	expect_real(999999.000000001, "999999.000000001\n");
	expect_real(1796030000.123, "1796030000.123\n");
	expect_real(-1.5, "-1.5\n");
	expect_real(INFINITY, "inf\n");
}

static void a_family_has_help_and_type_once(void)
{
	metrics_one_count(&text, "a_total", METRICS_COUNTER, "What it is.", 3);
	expect("# HELP a_total What it is.\n# TYPE a_total counter\na_total 3\n");
}

static void labels_are_escaped(void)
{
	const struct metrics_label labels[] = {{"a", "x\\y\"z\n"}, {"b", ""}};

	metrics_family(&text, "m", METRICS_GAUGE, "M.");
	text.length = 0;
	metrics_sample(&text, labels, 2);
	metrics_count(&text, 1);
	expect("m{a=\"x\\\\y\\\"z\\n\",b=\"\"} 1\n");
}

static void a_part_of_a_histogram_has_its_suffix(void)
{
	metrics_family(&text, "h", METRICS_HISTOGRAM, "H.");
	text.length = 0;
	metrics_part(&text, "_bucket", &(struct metrics_label){"le", "+Inf"}, 1);
	metrics_count(&text, 2);
	expect("h_bucket{le=\"+Inf\"} 2\n");
}

static void a_long_text_grows(void)
{
	metrics_family(&text, "m", METRICS_GAUGE, "M.");
	text.length = 0;
	for (int i = 0; i < 100000; i++) {
		metrics_sample(&text, NULL, 0);
		metrics_count(&text, 7);
	}
	CU_ASSERT_FALSE(text.failed);
	CU_ASSERT_EQUAL(text.length, 100000 * strlen("m 7\n"));
	CU_ASSERT_EQUAL(memcmp(text.data + text.length - 8, "m 7\nm 7\n", 8), 0);
	free(text.data);
	text = (struct metrics_text){.room = 0};
}

static const struct gw_test tests[] = {
	GW_TEST(numbers_are_written_as_they_are),
	GW_TEST(a_family_has_help_and_type_once),
	GW_TEST(labels_are_escaped),
	GW_TEST(a_part_of_a_histogram_has_its_suffix),
	GW_TEST(a_long_text_grows),
};

GW_SUITE("metrics_text", tests)
