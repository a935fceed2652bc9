/* SPDX-License-Identifier: BSD-2-Clause */
/* What `doctor` makes of a machine, shown to it as a folder with the files of /proc and /sys. */
#include "cli/doctor.h"

#include "control/config.h"
#include "suite.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/gw-test-doctor-XXXXXX";

static const char text[] =
	"version: 1\n"
	"node: {name: lb1, source_ipv4: 10.82.0.11}\n"
	"dataplane: {path: %s, interfaces: [%s], cpus: \"2-3\", poll: busy, flows: 16777216}\n"
	"pools:\n"
	"  - {name: web, backends: [{name: b1, address: 10.82.0.101}]}\n"
	"services:\n"
	"  - {name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80], pool: web}\n";

static void path_make(const char *path)
{
	char part[PATH_MAX];

	snprintf(part, sizeof(part), "%s%s", root, path);
	for (char *c = part + strlen(root) + 1; *c; c++)
		if (*c == '/') {
			*c = 0;
			mkdir(part, 0755);
			*c = '/';
		}
}

static void file_write(const char *path, const char *content)
{
	char full[PATH_MAX];
	FILE *file;

	path_make(path);
	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "w");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(content, file);
	fclose(file);
}

static void file_remove(const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	unlink(full);
}

/* All looks of one part; the caller's. */
static json_t *look(void (*part)(struct doctor *), const char *path, const char *interface)
{
	struct gw_config_errors errors = {0};
	struct gw_config *config = NULL;
	struct doctor doctor = {.root = root, .looks = json_array()};
	char yaml[2048];

	snprintf(yaml, sizeof(yaml), text, path, interface);
	CU_ASSERT_EQUAL_FATAL(
		gw_config_load_string("t.yaml", yaml, strlen(yaml), 0, &config, &errors), 0);
	gw_config_errors_free(&errors);
	doctor.config = config;
	snprintf(doctor.interfaces[0].name, IF_NAMESIZE, "eth1");
	doctor.interfaces[0].config = &config->dataplane.interfaces[0];
	doctor.interface_count = 1;
	part(&doctor);
	gw_config_free(config);
	return doctor.looks;
}

static const json_t *find(const json_t *looks, const char *check)
{
	const json_t *one;
	size_t i;

	json_array_foreach (looks, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "check")), check))
			return one;
	return NULL;
}

static const char *state(const json_t *looks, const char *check)
{
	const json_t *one = find(looks, check);

	return one ? json_string_value(json_object_get(one, "state")) : "absent";
}

static void command_is(const json_t *looks, const char *check, size_t index, const char *expected)
{
	const json_t *commands = json_object_get(find(looks, check), "commands");
	char *command = doctor_command_text(json_array_get(commands, index));

	CU_ASSERT_STRING_EQUAL(command, expected);
	free(command);
}

/* 16 Mi flows of 8 bytes are 128 MB; with frames and tables 264: 132 pages of 2 MB. */
static void too_few_huge_pages_are_found_with_the_number_that_is_enough(void)
{
	static const char path[] = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages";
	json_t *looks;

	file_write(path, "131\n");
	looks = look(doctor_look_machine, "dpdk", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "huge_pages"), "finding");
	command_is(looks, "huge_pages", 0, "sysctl -w vm.nr_hugepages=132");
	json_decref(looks);
	file_write(path, "132\n");
	looks = look(doctor_look_machine, "dpdk", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "huge_pages"), "ok");
	json_decref(looks);
	file_write(path, "0\n");
	file_write("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "1\n");
	looks = look(doctor_look_machine, "dpdk", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "huge_pages"), "ok");
	json_decref(looks);
}

static void workers_need_cpus_that_are_online_and_isolated(void)
{
	json_t *looks;

	file_write("/sys/devices/system/cpu/online", "0-2\n");
	file_write("/sys/devices/system/cpu/isolated", "2\n");
	looks = look(doctor_look_machine, "dpdk", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "cpu"), "finding");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(json_string_value(json_object_get(find(looks, "cpu"), "what")), ": 3"));
	CU_ASSERT_STRING_EQUAL(state(looks, "isolation"), "finding");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(json_string_value(json_object_get(find(looks, "isolation"), "advice")),
			"isolcpus=2-3"));
	json_decref(looks);
	file_write("/sys/devices/system/cpu/online", "0-7\n");
	file_write("/sys/devices/system/cpu/isolated", "1,2-3\n");
	looks = look(doctor_look_machine, "dpdk", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "cpu"), "ok");
	CU_ASSERT_STRING_EQUAL(state(looks, "isolation"), "ok");
	json_decref(looks);
}

static void irqbalance_is_found_by_its_process(void)
{
	json_t *looks;

	file_write("/proc/1/comm", "init\n");
	looks = look(doctor_look_machine, "dpdk", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "irqbalance"), "ok");
	json_decref(looks);
	file_write("/proc/4711/comm", "irqbalance\n");
	looks = look(doctor_look_machine, "dpdk", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "irqbalance"), "finding");
	command_is(looks, "irqbalance", 0, "systemctl disable --now irqbalance");
	json_decref(looks);
	file_remove("/proc/4711/comm");
}

static void a_pci_port_needs_an_iommu_and_a_driver_that_gives_it_away(void)
{
	static const char port[] = "{pci: \"0000:01:00.0\"}";
	char link[PATH_MAX];
	json_t *looks = look(doctor_look_machine, "dpdk", port);

	CU_ASSERT_STRING_EQUAL(state(looks, "iommu"), "finding");
	json_decref(looks);
	path_make("/sys/kernel/iommu_groups/0/x");
	looks = look(doctor_look_machine, "dpdk", port);
	CU_ASSERT_STRING_EQUAL(state(looks, "iommu"), "ok");
	json_decref(looks);
	looks = look(doctor_look_machine, "dpdk", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "iommu"), "absent");
	json_decref(looks);

	path_make("/sys/bus/pci/devices/0000:01:00.0/x");
	snprintf(link, sizeof(link), "%s/sys/bus/pci/devices/0000:01:00.0/driver", root);
	CU_ASSERT_EQUAL(symlink("../../drivers/ixgbe", link), 0);
	looks = look(doctor_look_devices, "dpdk", port);
	CU_ASSERT_STRING_EQUAL(state(looks, "driver"), "finding");
	command_is(looks, "driver", 1, "dpdk-devbind.py -b vfio-pci 0000:01:00.0");
	json_decref(looks);
	unlink(link);
	CU_ASSERT_EQUAL(symlink("../../drivers/vfio-pci", link), 0);
	looks = look(doctor_look_devices, "dpdk", port);
	CU_ASSERT_STRING_EQUAL(state(looks, "driver"), "ok");
	json_decref(looks);
}

static void the_neighbour_table_must_hold_every_backend(void)
{
	static const char path[] = "/proc/sys/net/ipv4/neigh/default/gc_thresh3";
	json_t *looks;

	file_write(path, "1\n");
	looks = look(doctor_look_kernel, "xdp", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "neighbours"), "ok");
	json_decref(looks);
	file_write(path, "0\n");
	looks = look(doctor_look_kernel, "xdp", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "neighbours"), "finding");
	command_is(looks, "neighbours", 0, "sysctl -w net.ipv4.neigh.default.gc_thresh3=1024");
	json_decref(looks);
}

static void an_interpreter_for_ebpf_is_found(void)
{
	json_t *looks;

	file_write("/proc/sys/net/core/bpf_jit_enable", "0\n");
	looks = look(doctor_look_kernel, "xdp", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "jit"), "finding");
	command_is(looks, "jit", 0, "sysctl -w net.core.bpf_jit_enable=1");
	json_decref(looks);
	file_write("/proc/sys/net/core/bpf_jit_enable", "1\n");
	looks = look(doctor_look_kernel, "xdp", "{name: eth1}");
	CU_ASSERT_STRING_EQUAL(state(looks, "jit"), "ok");
	json_decref(looks);
}

/* The kernel takes the larger of "all" and the interface's own: 1 is strict, 2 is loose. */
static void strict_reverse_path_filters_are_told_from_loose_ones(void)
{
	static const struct {
		const char *all, *own, *state;
	} cases[] = {{"0", "0", "ok"}, {"1", "0", "finding"}, {"0", "1", "finding"},
		{"2", "1", "ok"}, {"1", "2", "ok"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *looks;

		file_write("/proc/sys/net/ipv4/conf/all/rp_filter", cases[i].all);
		file_write("/proc/sys/net/ipv4/conf/eth1/rp_filter", cases[i].own);
		looks = look(doctor_look_kernel, "xdp", "{name: eth1}");
		CU_ASSERT_STRING_EQUAL(state(looks, "rp_filter"), cases[i].state);
		json_decref(looks);
	}
}

static void lists_of_cpus_are_read_as_linux_writes_them(void)
{
	CU_ASSERT_TRUE(doctor_list_has("0-3", 3));
	CU_ASSERT_TRUE(doctor_list_has("1,4-6,9", 5));
	CU_ASSERT_TRUE(doctor_list_has("1,4-6,9", 9));
	CU_ASSERT_FALSE(doctor_list_has("1,4-6,9", 7));
	CU_ASSERT_FALSE(doctor_list_has("", 0));
	CU_ASSERT_FALSE(doctor_list_has("(null)", 0));
}

static void words_are_quoted_for_the_shell(void)
{
	json_t *command = json_pack("[s, s, s]", "ip", "a b", "it's");
	char *line = doctor_command_text(command);

	CU_ASSERT_STRING_EQUAL(line, "ip 'a b' 'it'\\''s'");
	free(line);
	json_decref(command);
}

static const struct gw_test tests[] = {
	GW_TEST(too_few_huge_pages_are_found_with_the_number_that_is_enough),
	GW_TEST(workers_need_cpus_that_are_online_and_isolated),
	GW_TEST(irqbalance_is_found_by_its_process),
	GW_TEST(a_pci_port_needs_an_iommu_and_a_driver_that_gives_it_away),
	GW_TEST(the_neighbour_table_must_hold_every_backend),
	GW_TEST(an_interpreter_for_ebpf_is_found),
	GW_TEST(strict_reverse_path_filters_are_told_from_loose_ones),
	GW_TEST(lists_of_cpus_are_read_as_linux_writes_them),
	GW_TEST(words_are_quoted_for_the_shell),
};

int main(int argc, char **argv)
{
	char command[128];
	int status;

	if (!mkdtemp(root))
		return 1;
	status = gw_suite_run("doctor", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	return system(command) ? 1 : status;
}
