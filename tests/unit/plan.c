/* SPDX-License-Identifier: BSD-2-Clause */
/* Moved slots come from tests/unit/reference/maglev.py: the two tables, compared slot by slot. */
#include "control/plan.h"

#include "control_fixture.h"

#define NEAR 1e-12

#define POOL(size, backends)                                                                       \
	FIXTURE_NODE "pools:\n"                                                                    \
		     "  - {name: web, table_size: " size ", backends: [" backends "]}\n"           \
		     "services:\n"                                                                 \
		     "  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80],"      \
		     " pool: web}\n"
#define B1 "{name: b1, address: 10.82.0.101}"
#define B2 "{name: b2, address: 10.82.0.102}"
#define B3 "{name: b3, address: 10.82.0.103}"

static json_t *plan(const char *before_text, const char *after_text)
{
	struct gw_build *before = fixture_build(before_text), *after = fixture_build(after_text);
	json_t *json = gw_plan_json(before, after);

	gw_build_free(before);
	gw_build_free(after);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	return json;
}

static const json_t *service(const json_t *json, size_t i)
{
	return json_array_get(json_object_get(json, "services"), i);
}

static double real(const json_t *object, const char *key)
{
	return json_real_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void check_backend(
	const json_t *object, size_t i, const char *name, json_int_t before, json_int_t after)
{
	const json_t *row = json_array_get(json_object_get(object, "per_backend"), i);

	CU_ASSERT_STRING_EQUAL(text(row, "name"), name);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "slots_before")), before);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "slots_after")), after);
}

static void one_of_three_leaving_moves_its_third_and_a_little(void)
{
	json_t *json = plan(POOL("65537", B1 "," B2 "," B3), POOL("65537", B1 "," B3));

	CU_ASSERT_STRING_EQUAL(text(service(json, 0), "change"), "changed");
	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "moved_share"), 21875 / 65537.0, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "ideal_share"), 1 / 3.0, NEAR);
	check_backend(service(json, 0), 0, "b1", 21846, 32769);
	check_backend(service(json, 0), 1, "b3", 21845, 32768);
	check_backend(service(json, 0), 2, "b2", 21846, 0);
	json_decref(json);
}

/* Shares 3:1:2 become 3:2:2; what b1 and b3 lose is 1/2 - 3/7 + 1/3 - 2/7. */
static void weight_change_moves_towards_the_heavier(void)
{
	json_t *json = plan(POOL("1021", "{name: b1, address: 10.82.0.101, weight: 3}," B2
					 ",{name: b3, address: 10.82.0.103, weight: 2}"),
		POOL("1021", "{name: b1, address: 10.82.0.101, weight: 3},"
			     "{name: b2, address: 10.82.0.102, weight: 2},"
			     "{name: b3, address: 10.82.0.103, weight: 2}"));

	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "moved_share"), 132 / 1021.0, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(
		real(service(json, 0), "ideal_share"), 1 / 2.0 - 3 / 7.0 + 1 / 3.0 - 2 / 7.0, NEAR);
	json_decref(json);
}

static void renaming_moves_nothing(void)
{
	json_t *json = plan(
		POOL("1021", B1 "," B2), POOL("1021", B2 ",{name: other, address: 10.82.0.101}"));

	CU_ASSERT_STRING_EQUAL(text(service(json, 0), "change"), "none");
	CU_ASSERT_EQUAL(real(service(json, 0), "moved_share"), 0);
	CU_ASSERT_EQUAL(real(service(json, 0), "ideal_share"), 0);
	json_decref(json);
}

/* A key keeps the slots while the packets go elsewhere: that is a move. */
static void another_address_behind_the_same_key_moves(void)
{
	json_t *json = plan(POOL("1021", B1 ",{name: b2, address: 10.82.0.102, key: k}"),
		POOL("1021", B1 ",{name: b2, address: 10.82.0.112, key: k}"));
	double share = real(service(json, 0), "moved_share");

	CU_ASSERT_TRUE(share > 0.49 && share < 0.51);
	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "ideal_share"), 0.5, NEAR);
	json_decref(json);
}

/* Slots of two sizes are independent: about half of the flows of two equal backends stay. */
static void another_table_size_moves_what_chance_does_not_keep(void)
{
	json_t *json = plan(POOL("1021", B1 "," B2), POOL("1031", B1 "," B2));
	/* 511 and 510 of 1021 against 516 and 515 of 1031, whoever has the odd one. */
	double share = real(service(json, 0), "moved_share");

	CU_ASSERT_DOUBLE_EQUAL(share, 0.5, 1e-6);
	CU_ASSERT_EQUAL(real(service(json, 0), "ideal_share"), 0);
	json_decref(json);
}

static void another_seed_moves_as_much_as_chance(void)
{
	json_t *json = plan(POOL("1021", B1), POOL("1021", B1) "hash_seed: 7\n");

	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "moved_share"), 0, NEAR);
	json_decref(json);
	json = plan(POOL("1021", B1 "," B2), POOL("1021", B1 "," B2) "hash_seed: 7\n");
	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "moved_share"), 0.5, 1e-5);
	json_decref(json);
}

#define WITH_AFFINITY(affinity)                                                                    \
	FIXTURE_NODE "pools:\n"                                                                    \
		     "  - {name: p, table_size: 1021, backends: [" B1 "," B2 "]}\n"                \
		     "services:\n"                                                                 \
		     "  - {name: s, addresses: [203.0.113.1], protocol: tcp, ports: [80],"         \
		     " pool: p, affinity: " affinity "}\n"

static void another_affinity_moves_as_much_as_chance(void)
{
	json_t *json = plan(WITH_AFFINITY("5tuple"), WITH_AFFINITY("source_ip"));

	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "moved_share"), 0.5, 1e-5);
	json_decref(json);
}

static void services_that_come_and_go_are_named(void)
{
	json_t *json = plan(FIXTURE_NODE
		"pools:\n  - {name: p, table_size: 1021, backends: [" B1 "]}\n"
		"services:\n"
		"  - {name: a, addresses: [203.0.113.1], protocol: tcp, ports: [80],"
		" pool: p}\n"
		"  - {name: c, addresses: [203.0.113.3], protocol: tcp, ports: [80],"
		" pool: p}\n",
		FIXTURE_NODE "pools:\n  - {name: p, table_size: 1021, backends: [" B1 "]}\n"
			     "services:\n"
			     "  - {name: b, addresses: [203.0.113.2], protocol: tcp, ports: [80],"
			     " pool: p}\n"
			     "  - {name: c, addresses: [203.0.113.3], protocol: tcp, ports: [80],"
			     " pool: p}\n");

	CU_ASSERT_EQUAL(json_array_size(json_object_get(json, "services")), 3);
	CU_ASSERT_STRING_EQUAL(text(service(json, 0), "change"), "removed");
	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "moved_share"), 1, NEAR);
	CU_ASSERT_STRING_EQUAL(text(service(json, 1), "change"), "added");
	CU_ASSERT_EQUAL(real(service(json, 1), "moved_share"), 0);
	CU_ASSERT_STRING_EQUAL(text(service(json, 2), "change"), "none");
	json_decref(json);
}

static void last_backend_leaving_moves_everything(void)
{
	json_t *json = plan(POOL("1021", B1),
		POOL("1021", "{name: b1, address: 10.82.0.101, state: disabled}"));

	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "moved_share"), 1, NEAR);
	CU_ASSERT_DOUBLE_EQUAL(real(service(json, 0), "ideal_share"), 1, NEAR);
	check_backend(service(json, 0), 0, "b1", 1021, 0);
	json_decref(json);
}

static void table_shows_slots_by_position_in_backends(void)
{
	struct gw_build *build =
		fixture_build(POOL("7", "{name: z, address: 10.82.1.6, key: \"127.0.0.1:95\"},"
					"{name: a, address: 10.82.1.1, key: \"127.0.0.1:90\"},"
					"{name: b, address: 10.82.1.2, key: \"127.0.0.1:91\"},"
					"{name: x, address: 10.82.1.7, state: drain},"
					"{name: c, address: 10.82.1.3, key: \"127.0.0.1:92\"},"
					"{name: d, address: 10.82.1.4, key: \"127.0.0.1:93\"},"
					"{name: e, address: 10.82.1.5, key: \"127.0.0.1:94\"}"));
	static const int envoy[] = {2, 4, 0, 1, 5, 0, 3};
	json_t *table = gw_table_json(build, &build->pools[0], true);
	const json_t *backends = json_object_get(table, "backends");
	const json_t *slots = json_object_get(table, "slots");

	CU_ASSERT_EQUAL(json_array_size(slots), 7);
	for (size_t i = 0; i < 7; i++)
		CU_ASSERT_EQUAL(json_integer_value(json_array_get(slots, i)), envoy[i]);
	CU_ASSERT_EQUAL(json_array_size(backends), 7);
	CU_ASSERT_STRING_EQUAL(text(json_array_get(backends, 0), "name"), "a");
	CU_ASSERT_STRING_EQUAL(text(json_array_get(backends, 5), "name"), "z");
	CU_ASSERT_STRING_EQUAL(text(json_array_get(backends, 6), "name"), "x");
	CU_ASSERT_DOUBLE_EQUAL(real(json_array_get(backends, 0), "share"), 2 / 7.0, NEAR);
	CU_ASSERT_STRING_EQUAL(text(table, "digest"), "8fabfbf816368b2df66dfe393698b98b");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(table, "size")), 7);
	json_decref(table);
	table = gw_table_json(build, &build->pools[0], false);
	CU_ASSERT_PTR_NULL(json_object_get(table, "slots"));
	json_decref(table);
	gw_build_free(build);
}

static const struct gw_test tests[] = {
	GW_TEST(one_of_three_leaving_moves_its_third_and_a_little),
	GW_TEST(weight_change_moves_towards_the_heavier),
	GW_TEST(renaming_moves_nothing),
	GW_TEST(another_address_behind_the_same_key_moves),
	GW_TEST(another_table_size_moves_what_chance_does_not_keep),
	GW_TEST(another_seed_moves_as_much_as_chance),
	GW_TEST(another_affinity_moves_as_much_as_chance),
	GW_TEST(services_that_come_and_go_are_named),
	GW_TEST(last_backend_leaving_moves_everything),
	GW_TEST(table_shows_slots_by_position_in_backends),
};

GW_SUITE("plan", tests)
