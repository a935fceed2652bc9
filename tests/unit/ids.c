/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/ids.h"

#include "control_fixture.h"

#include <jansson.h>

#include <errno.h>

/* Timeouts of FIXTURE_NODE are the defaults: 15 minutes the longest; one sweep is a minute. */
#define QUARANTINE_MS ((15 * 60 + 60) * 1000)

static const char two[] = FIXTURE_NODE "pools:\n"
				       "  - name: web\n"
				       "    backends:\n"
				       "      - {name: b1, address: 10.82.0.101}\n"
				       "      - {name: b2, address: 10.82.0.102}\n";
static const char one[] = FIXTURE_NODE "pools:\n"
				       "  - name: web\n"
				       "    backends:\n"
				       "      - {name: b2, address: 10.82.0.102}\n";
static const char one_and_new[] = FIXTURE_NODE "pools:\n"
					       "  - name: web\n"
					       "    backends:\n"
					       "      - {name: b2, address: 10.82.0.102}\n"
					       "      - {name: b9, address: 10.82.0.109}\n";

static uint32_t backend_id(const struct gw_ids *ids, const char *name, const char *address)
{
	uint8_t bytes[16];

	CU_ASSERT_EQUAL_FATAL(gw_address_parse(address, bytes), 0);
	return gw_ids_backend(ids, "web", name, bytes);
}

static bool assign(struct gw_ids *ids, const char *text, int64_t boot_ms)
{
	struct gw_config *config = fixture_config(text);
	bool changed = false;

	CU_ASSERT_EQUAL(gw_ids_assign(ids, config, boot_ms, &changed), 0);
	gw_config_free(config);
	return changed;
}

static void numbers_start_at_one_for_backends_and_stay(void)
{
	struct gw_ids *ids = gw_ids_new();
	uint32_t b1, b2;

	CU_ASSERT_TRUE(assign(ids, two, 0));
	b1 = backend_id(ids, "b1", "10.82.0.101");
	b2 = backend_id(ids, "b2", "10.82.0.102");
	CU_ASSERT_EQUAL(b1 + b2, 3); /* 1 and 2 */
	CU_ASSERT_NOT_EQUAL(b1, b2);
	CU_ASSERT_EQUAL(gw_ids_pool(ids, "web"), 0);
	CU_ASSERT_FALSE(assign(ids, two, 1000));
	CU_ASSERT_EQUAL(backend_id(ids, "b1", "10.82.0.101"), b1);
	CU_ASSERT_TRUE(assign(ids, one, 2000));
	CU_ASSERT_EQUAL(backend_id(ids, "b2", "10.82.0.102"), b2);
	CU_ASSERT_EQUAL(backend_id(ids, "b1", "10.82.0.101"), GW_NONE);
	gw_ids_free(ids);
}

static void freed_number_waits_for_the_longest_timeout_and_a_sweep(void)
{
	struct gw_ids *ids = gw_ids_new();
	uint32_t b1, b9;

	assign(ids, two, 0);
	b1 = backend_id(ids, "b1", "10.82.0.101");
	assign(ids, one, 1000);
	CU_ASSERT_EQUAL(gw_ids_quarantined(ids, GW_ID_BACKEND), 1);
	assign(ids, one_and_new, 1000 + QUARANTINE_MS - 1);
	CU_ASSERT_EQUAL(backend_id(ids, "b9", "10.82.0.109"), 3);
	assign(ids, one, 1000 + QUARANTINE_MS); /* b1's is over, b9's begins */
	CU_ASSERT_EQUAL(gw_ids_quarantined(ids, GW_ID_BACKEND), 1);
	assign(ids, two, 2000 + QUARANTINE_MS);
	b9 = backend_id(ids, "b1", "10.82.0.101");
	CU_ASSERT_EQUAL(b9, b1); /* the lowest free number */
	gw_ids_free(ids);
}

static void quarantined_number_goes_back_to_its_own_identity(void)
{
	struct gw_ids *ids = gw_ids_new();
	uint32_t b1, b2;

	assign(ids, two, 0);
	b1 = backend_id(ids, "b1", "10.82.0.101");
	b2 = backend_id(ids, "b2", "10.82.0.102");
	assign(ids, one_and_new, 1000);
	CU_ASSERT_NOT_EQUAL(backend_id(ids, "b9", "10.82.0.109"), b1);
	CU_ASSERT_TRUE(assign(ids, two, 2000));
	CU_ASSERT_EQUAL(backend_id(ids, "b1", "10.82.0.101"), b1);
	CU_ASSERT_EQUAL(backend_id(ids, "b2", "10.82.0.102"), b2);
	gw_ids_free(ids);
}

static void another_address_is_another_backend(void)
{
	static const char moved[] = FIXTURE_NODE "pools:\n"
						 "  - name: web\n"
						 "    backends:\n"
						 "      - {name: b1, address: 10.82.0.201}\n"
						 "      - {name: b2, address: 10.82.0.102}\n";
	struct gw_ids *ids = gw_ids_new();
	uint32_t b1;

	assign(ids, two, 0);
	b1 = backend_id(ids, "b1", "10.82.0.101");
	assign(ids, moved, 1000);
	CU_ASSERT_NOT_EQUAL(backend_id(ids, "b1", "10.82.0.201"), b1);
	CU_ASSERT_EQUAL(backend_id(ids, "b1", "10.82.0.101"), GW_NONE);
	gw_ids_free(ids);
}

static void longer_timeout_lengthens_a_quarantine_that_runs(void)
{
	char text[2048];
	struct gw_ids *ids = gw_ids_new();

	assign(ids, two, 0);
	assign(ids, one, 1000);
	snprintf(text, sizeof(text), "%stimeouts: {tcp_established: 1h}\n", one);
	assign(ids, text, 2000);
	assign(ids, text, 1000 + QUARANTINE_MS);
	CU_ASSERT_EQUAL(gw_ids_quarantined(ids, GW_ID_BACKEND), 1);
	assign(ids, text, 1000 + (3600 + 60) * 1000);
	CU_ASSERT_EQUAL(gw_ids_quarantined(ids, GW_ID_BACKEND), 0);
	gw_ids_free(ids);
}

static void numbers_and_quarantine_survive_a_restart_but_not_a_reboot(void)
{
	struct gw_ids *ids = gw_ids_new(), *again = gw_ids_new();
	uint32_t b1, b2;
	json_t *json;

	assign(ids, two, 0);
	b1 = backend_id(ids, "b1", "10.82.0.101");
	b2 = backend_id(ids, "b2", "10.82.0.102");
	assign(ids, one, 1000);
	json = gw_ids_dump(ids);
	CU_ASSERT_EQUAL(gw_ids_load(again, json, true), 0);
	CU_ASSERT_EQUAL(backend_id(again, "b2", "10.82.0.102"), b2);
	assign(again, one_and_new, 2000);
	CU_ASSERT_NOT_EQUAL(backend_id(again, "b9", "10.82.0.109"), b1);
	CU_ASSERT_EQUAL(gw_ids_load(again, json, false), 0);
	assign(again, one_and_new, 2000);
	CU_ASSERT_EQUAL(backend_id(again, "b9", "10.82.0.109"), b1);
	json_decref(json);
	gw_ids_free(ids);
	gw_ids_free(again);
}

static int load_text(const char *text)
{
	struct gw_ids *ids = gw_ids_new();
	json_t *json = json_loads(text, 0, NULL);
	int status = gw_ids_load(ids, json, true);

	json_decref(json);
	gw_ids_free(ids);
	return status;
}

static void contradictory_numbers_are_refused(void)
{
#define IDS(backends) "{\"pools\":[],\"services\":[],\"backends\":[" backends "]}"
	CU_ASSERT_EQUAL(load_text(IDS("{\"identity\":\"a/b@10.0.0.1\",\"id\":1}")), 0);
	CU_ASSERT_EQUAL(load_text(IDS("{\"identity\":\"a/b@10.0.0.1\",\"id\":0}")), -EINVAL);
	CU_ASSERT_EQUAL(load_text(IDS("{\"identity\":\"a/b@10.0.0.1\",\"id\":262144}")), -EINVAL);
	CU_ASSERT_EQUAL(
		load_text(IDS("{\"identity\":\"x\",\"id\":1},{\"identity\":\"y\",\"id\":1}")),
		-EINVAL);
	CU_ASSERT_EQUAL(
		load_text(IDS("{\"identity\":\"x\",\"id\":1},{\"identity\":\"x\",\"id\":2}")),
		-EINVAL);
	CU_ASSERT_EQUAL(load_text(IDS("{\"identity\":\"x\",\"id\":1,\"freed\":5}")), -EINVAL);
	CU_ASSERT_EQUAL(load_text(IDS("{\"id\":1}")), -EINVAL);
	CU_ASSERT_EQUAL(load_text("{\"pools\":[],\"services\":[]}"), -EINVAL);
	CU_ASSERT_EQUAL(load_text("[]"), -EINVAL);
}

/* Numbers of pools are not named by flows: a full space gives the one freed longest ago. */
static void full_space_of_pools_takes_the_oldest_quarantined(void)
{
	struct gw_ids *ids = gw_ids_new();
	json_t *pools = json_array(), *root;

	for (int i = 0; i < GW_MAX_POOLS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "p%d", i);
		json_array_append_new(
			pools, json_pack("{s:s,s:i,s:i,s:i}", "identity", name, "id", i, "freed",
				       i == 77 ? 5 : 500, "hold", 960000));
	}
	root = json_pack("{s:o,s:[],s:[]}", "pools", pools, "services", "backends");
	CU_ASSERT_EQUAL(gw_ids_load(ids, root, true), 0);
	assign(ids, two, 1000);
	CU_ASSERT_EQUAL(gw_ids_pool(ids, "web"), 77);
	CU_ASSERT_EQUAL(gw_ids_quarantined(ids, GW_ID_POOL), GW_MAX_POOLS - 1);
	json_decref(root);
	gw_ids_free(ids);
}

static void full_space_of_backends_is_an_error_and_changes_nothing(void)
{
	struct gw_ids *ids = gw_ids_new();
	struct gw_config *config = fixture_config(two);
	json_t *backends = json_array(), *root;

	for (int i = 1; i < (int)GW_MAX_BACKENDS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "p/b%d@10.0.0.1", i);
		json_array_append_new(backends, json_pack("{s:s,s:i,s:i,s:i}", "identity", name,
							"id", i, "freed", 5, "hold", 960000));
	}
	root = json_pack("{s:[],s:[],s:o}", "pools", "services", "backends", backends);
	CU_ASSERT_EQUAL(gw_ids_load(ids, root, true), 0);
	CU_ASSERT_EQUAL(gw_ids_assign(ids, config, 1000, NULL), -ENOSPC);
	CU_ASSERT_EQUAL(gw_ids_pool(ids, "web"), GW_NONE);
	CU_ASSERT_EQUAL(gw_ids_quarantined(ids, GW_ID_BACKEND), GW_MAX_BACKENDS - 1);
	json_decref(root);
	gw_config_free(config);
	gw_ids_free(ids);
}

static const struct gw_test tests[] = {
	GW_TEST(numbers_start_at_one_for_backends_and_stay),
	GW_TEST(freed_number_waits_for_the_longest_timeout_and_a_sweep),
	GW_TEST(quarantined_number_goes_back_to_its_own_identity),
	GW_TEST(another_address_is_another_backend),
	GW_TEST(longer_timeout_lengthens_a_quarantine_that_runs),
	GW_TEST(numbers_and_quarantine_survive_a_restart_but_not_a_reboot),
	GW_TEST(contradictory_numbers_are_refused),
	GW_TEST(full_space_of_pools_takes_the_oldest_quarantined),
	GW_TEST(full_space_of_backends_is_an_error_and_changes_nothing),
};

GW_SUITE("ids", tests)
