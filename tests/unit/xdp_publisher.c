/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The XDP publisher on real interfaces, in a network and a mount namespace of the test's own: eth1
 * with its far end wire1, eth2 with wire2. The test speaks and listens on wire1 as the network
 * would. Backends are 10.82.0.101 … 103 with permanent neighbours 02:00:00:00:00:65 … 67. Needs
 * root; without it the suite is skipped.
 */
#include "frames.h"
#include "xdp_control.h"
#include "xdp_network.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SKIPPED 77

static void all_away(void)
{
	CU_ASSERT_EQUAL(gw_publisher_xdp_detach(pins), 0);
	CU_ASSERT_EQUAL(program_on("eth1"), 0);
}

static struct gw_flow_key frame_key(void)
{
	struct frame frame = frame_v4();
	struct gw_flow_key key = {.source_port = htons(40000),
		.destination_port = htons(80),
		.protocol = GW_PROTO_TCP};

	gw_address_set_ipv4(&key.source, frame.bytes + 26);
	gw_address_set_ipv4(&key.destination, frame.bytes + 30);
	return key;
}

/* ---- tests */

/* Another service, of another pool, in the place of the one; its address is the map's one too many.
 */
#define ELSEWHERE                                                                                  \
	NODE "dataplane: {path: xdp, interfaces: [{name: eth1, mode: generic}]" FLOWS              \
	     "pools: [{name: a, healthcheck: {type: tcp, port: 80}, backends: ["                   \
	     "{name: x, address: 10.82.0.101}]}, {name: b, healthcheck: {type: tcp, port: 80}, "   \
	     "backends: [{name: x, address: 10.82.0.199}]}]\n"                                     \
	     "services: [{name: web, addresses: [203.0.113.99], protocol: tcp, ports: [80], "      \
	     "pool: b}]\n"

static void vips_fill(bool full)
{
	int fd = pin_open("gw_vips"), failed = 0;
	const struct gw_vip vip = {.prefix_length = 128};

	for (uint32_t i = 0; i < GW_MAX_VIPS; i++) {
		struct gw_address key = {{0x20, 1, [12] = (uint8_t)(i >> 24), (uint8_t)(i >> 16),
			(uint8_t)(i >> 8), (uint8_t)i}};

		failed += full ? bpf_map_update_elem(fd, &key, &vip, BPF_ANY) != 0
			       : bpf_map_delete_elem(fd, &key) != 0;
	}
	CU_ASSERT_EQUAL(failed, 1); /* the one address in force had its room already */
	close(fd);
}

static uint32_t service_pool(void)
{
	struct gw_service service = {.pool = GW_NONE};
	int fd = pin_open("gw_services");
	uint32_t first = 0;

	CU_ASSERT_EQUAL(bpf_map_lookup_elem(fd, &first, &service), 0);
	close(fd);
	return service.pool;
}

static void after_a_snapshot_that_failed_half_way_the_services_are_written_again(void)
{
	struct control control;
	struct gw_build *build;

	control_start(&control, ON_ETH1);
	CU_ASSERT(wire_backend(NULL) > 0);
	vips_fill(true);
	build = fixture_build(ELSEWHERE);
	control.may_refuse = true;
	CU_ASSERT_EQUAL(control.publisher->ops->publish(control.publisher, build->snapshot), 0);
	CU_ASSERT_EQUAL(control.refused, 1);
	CU_ASSERT_NOT_EQUAL(service_pool(), control.build->pools[0].id); /* that far it came */
	vips_fill(false);
	control.may_refuse = false;
	gw_build_free(control.build);
	control_publish(&control, ON_ETH1);
	CU_ASSERT_EQUAL(service_pool(), control.build->pools[0].id);
	CU_ASSERT_TRUE(until(&control, backends_resolved, &control));
	CU_ASSERT(wire_backend(NULL) > 0);
	gw_build_free(build);
	control_stop(&control);
	all_away();
}

static void a_first_start_mounts_loads_attaches_and_pins(void)
{
	struct control control;
	struct statfs info;

	control_start(&control, ON_ETH1);
	CU_ASSERT_EQUAL(statfs(pins, &info), 0);
	CU_ASSERT_EQUAL(info.f_type, BPF_FS_MAGIC);
	CU_ASSERT_NOT_EQUAL(program_on("eth1"), 0);
	CU_ASSERT_EQUAL(program_on("eth2"), 0);
	CU_ASSERT_TRUE(pinned("link_eth1"));
	CU_ASSERT_TRUE(pinned("gw_flows"));
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "a bpf file system was mounted there"));
	control_stop(&control);
	all_away();
	CU_ASSERT_FALSE(pinned("gw_flows"));
}

static void a_packet_goes_to_its_backend_and_is_counted(void)
{
	struct control control;
	struct gw_flow_key key = frame_key();
	struct gw_flow_answer flow;
	struct gw_publisher_stats stats;
	uint8_t mac = 0;
	int backend;

	control_start(&control, ON_ETH1);
	backend = wire_backend(&mac);
	CU_ASSERT(backend == 101 || backend == 102);
	CU_ASSERT_EQUAL(mac, backend);
	CU_ASSERT_EQUAL(tables_made(&control), 1);
	CU_ASSERT_EQUAL(control.publisher->ops->flow(control.publisher, &key, &flow), 0);
	CU_ASSERT_TRUE(flow.found);
	CU_ASSERT_EQUAL(flow.state, GW_FLOW_NEW);
	CU_ASSERT_EQUAL(
		gw_build_backend_at(control.build, flow.backend, NULL)->address[15], backend);
	CU_ASSERT_EQUAL(control.publisher->ops->stats(control.publisher, &stats), 0);
	CU_ASSERT_EQUAL(stats.counters.tx, 1);
	CU_ASSERT_EQUAL(stats.backends[flow.backend].packets, 1);
	CU_ASSERT_EQUAL(stats.backends[flow.backend].bytes, 45);
	key.source_port = htons(40001);
	CU_ASSERT_EQUAL(control.publisher->ops->flow(control.publisher, &key, &flow), 0);
	CU_ASSERT_FALSE(flow.found);
	control_stop(&control);
	all_away();
}

/* The neighbours are gone from the kernel and nobody answers: only what was adopted can be used. */
static void a_restart_adopts_flows_and_links_and_loses_no_packet(void)
{
	struct control control;
	struct gw_flow_key key = frame_key();
	struct gw_flow_answer flow;
	uint32_t program;
	int backend;

	control_start(&control, ON_ETH1);
	backend = wire_backend(NULL);
	CU_ASSERT(backend > 0);
	control_stop(&control);
	CU_ASSERT_EQUAL(wire_backend(NULL), backend);
	program = program_on("eth1");
	shell("ip neigh flush dev eth1 nud permanent");
	CU_ASSERT_EQUAL_FATAL(control_open(&control, ON_ETH1), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "adopted"));
	CU_ASSERT_EQUAL(wire_backend(NULL), backend);
	control_publish(&control, ON_ETH1);
	CU_ASSERT_EQUAL(tables_made(&control), 0);
	for (int i = 0; i < 8; i++) {
		CU_ASSERT_EQUAL(wire_backend(NULL), backend);
		loop_run_for(&control.loop, 100);
	}
	CU_ASSERT_EQUAL(control.publisher->ops->flow(control.publisher, &key, &flow), 0);
	CU_ASSERT_TRUE(flow.found);
	CU_ASSERT_EQUAL(flow.state, GW_FLOW_NEW);	  /* a SYN each time */
	CU_ASSERT_NOT_EQUAL(program_on("eth1"), program); /* swapped in the same link */
	control_stop(&control);
	all_away();
	neighbours_make();
}

static void a_neighbour_that_moves_is_followed(void)
{
	struct control control;
	uint8_t mac = 0, moved = 0x77;

	control_start(&control, ON_ETH1);
	CU_ASSERT(wire_backend(&mac) > 0);
	CU_ASSERT(mac == 101 || mac == 102);
	shell("for b in 101 102; do ip neigh replace 10.82.0.$b dev eth1 nud permanent "
	      "lladdr 02:00:00:00:00:77; done");
	CU_ASSERT_TRUE(until(&control, wire_goes_to, &moved));
	control_stop(&control);
	all_away();
	neighbours_make();
}

static void with_control_silent_the_kernels_own_neighbours_count(void)
{
	struct control control;
	struct gw_xdp_config config;
	uint8_t mac = 0;

	control_start(&control, ON_ETH1);
	control_stop(&control);
	shell("echo 1 >/proc/sys/net/ipv4/conf/eth1/forwarding");
	shell("for b in 101 102; do ip neigh replace 10.82.0.$b dev eth1 nud permanent "
	      "lladdr 02:00:00:00:00:78; done");
	config = pinned_config();
	config.heartbeat_ns = uv_hrtime();
	pinned_config_set(&config);
	CU_ASSERT(wire_backend(&mac) > 0);
	CU_ASSERT_NOT_EQUAL(mac, 0x78); /* silent, but not for long yet */
	config.heartbeat_ns -= 2 * GW_XDP_HEARTBEAT_STALE_NS;
	pinned_config_set(&config);
	CU_ASSERT(wire_backend(&mac) > 0);
	CU_ASSERT_EQUAL(mac, 0x78);
	shell("ip neigh flush dev eth1 nud permanent"); /* the kernel knows none: the entry's link
							 */
	CU_ASSERT(wire_backend(&mac) > 0);
	CU_ASSERT(mac == 101 || mac == 102);
	all_away();
	neighbours_make();
}

static int foreign_attach(const char *interface, uint32_t flags)
{
	static const struct bpf_insn pass[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_EXIT}};
	LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags);
	int program = bpf_prog_load(BPF_PROG_TYPE_XDP, "foreign", "GPL", pass, 2, NULL), link;

	CU_ASSERT_FATAL(program >= 0);
	link = bpf_link_create(program, (int)if_nametoindex(interface), BPF_XDP, &options);
	CU_ASSERT_FATAL(link >= 0);
	close(program);
	return link;
}

static void a_foreign_program_is_named_and_left_alone(void)
{
	struct control control;
	int link = foreign_attach("eth1", XDP_FLAGS_SKB_MODE);
	uint32_t id = program_on("eth1");
	char words[64];

	CU_ASSERT_EQUAL(control_open(&control, ON_ETH1), -EBUSY);
	snprintf(words, sizeof(words), "\"foreign\" (id %u)", id);
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, words));
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "eth1"));
	CU_ASSERT_EQUAL(program_on("eth1"), id);
	CU_ASSERT_FALSE(pinned("gw_flows")); /* nothing of the attempt is left */
	control_stop(&control);
	bpf_link_detach(link); /* at once; closing alone takes a moment */
	close(link);
	all_away();
}

static void what_a_control_works_with_is_its_own(void)
{
	struct control first, second;

	control_start(&first, ON_ETH1);
	CU_ASSERT_EQUAL(control_open(&second, ON_ETH1), -EBUSY);
	CU_ASSERT_PTR_NOT_NULL(strstr(second.log, pins));
	control_stop(&second);
	CU_ASSERT_EQUAL(gw_publisher_xdp_detach(pins), -EBUSY);
	CU_ASSERT(wire_backend(NULL) > 0);
	control_stop(&first);
	all_away();
}

/* Names of ours in a folder like any other are somebody else's files. */
static void detaching_removes_nothing_but_pins(void)
{
	char plain[512], path[600], missing[600];

	snprintf(plain, sizeof(plain), "%s/plain", folder);
	snprintf(path, sizeof(path), "%s/gw_notes", plain);
	snprintf(missing, sizeof(missing), "%s/missing", plain);
	CU_ASSERT_EQUAL_FATAL(mkdir(plain, 0700), 0);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	CU_ASSERT_EQUAL(gw_publisher_xdp_detach(plain), -ENOTDIR);
	CU_ASSERT_EQUAL(access(path, F_OK), 0);
	CU_ASSERT_EQUAL(gw_publisher_xdp_detach(missing), -ENOENT);
	unlink(path);
	rmdir(plain);
}

static void an_interface_that_is_no_longer_named_is_let_go(void)
{
	struct control control;

	control_start(&control, ON_ETH1);
	control_stop(&control);
	control_start(&control, ON_ETH2);
	CU_ASSERT_EQUAL(program_on("eth1"), 0);
	CU_ASSERT_NOT_EQUAL(program_on("eth2"), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "interface eth1: detached"));
	control_stop(&control);
	all_away();
	CU_ASSERT_EQUAL(program_on("eth2"), 0);
}

static bool nowhere_attached(void *of)
{
	const struct control *control = of;
	json_t *shown = control->publisher->ops->describe(control->publisher);
	size_t count = json_array_size(json_object_get(shown, "interfaces"));

	json_decref(shown);
	return count == 0;
}

static bool eth2_has_a_program(void *of)
{
	return program_on("eth2") != 0;
}

static void an_interface_that_comes_back_gets_the_program_again(void)
{
	struct control control;

	control_start(&control, ON_ETH2);
	shell("ip link del eth2");
	CU_ASSERT_TRUE(until(&control, nowhere_attached, &control));
	shell("ip link add eth2 type veth peer name wire2 && ip link set eth2 up && "
	      "ip link set wire2 up");
	CU_ASSERT_EQUAL(program_on("eth2"), 0);
	CU_ASSERT_TRUE(until(&control, eth2_has_a_program, NULL));
	control_stop(&control);
	all_away();
	CU_ASSERT_EQUAL(program_on("eth2"), 0);
}

static void an_interface_that_comes_back_taken_is_tried_again(void)
{
	struct control control;
	uint32_t foreign_id;
	int foreign;

	shell("ethtool -K eth2 rxvlan off >/dev/null"); /* made anew by the test before */
	control_start(&control, ON_ETH2);
	shell("ip link del eth2");
	CU_ASSERT_TRUE(until(&control, nowhere_attached, &control));
	shell("ip link add eth2 type veth peer name wire2 && ip link set eth2 up && "
	      "ip link set wire2 up");
	foreign = foreign_attach("eth2", XDP_FLAGS_SKB_MODE);
	foreign_id = program_on("eth2");
	loop_run_for(&control.loop, 1500); /* the interface is looked at each second */
	CU_ASSERT_EQUAL(program_on("eth2"), foreign_id);
	bpf_link_detach(foreign);
	close(foreign);
	CU_ASSERT_EQUAL(program_on("eth2"), 0);
	CU_ASSERT_TRUE(until(&control, eth2_has_a_program, NULL));
	control_stop(&control);
	all_away();
}

static void a_changed_mac_of_ours_is_taken_up(void)
{
	struct control control;

	control_start(&control, ON_ETH1);
	CU_ASSERT(wire_backend(NULL) > 0);
	shell("ip link set eth1 address 02:00:00:00:00:1b");
	CU_ASSERT_TRUE(until(&control, wire_silent, NULL)); /* now it is another machine's */
	shell("ip link set eth1 address 02:00:00:00:00:0b");
	CU_ASSERT_TRUE(until(&control, wire_answers, NULL));
	control_stop(&control);
	all_away();
	neighbours_make(); /* the kernel forgets them with the MAC */
}

static void an_interface_that_is_missing_is_named_and_nothing_is_left(void)
{
	struct control control;

	CU_ASSERT_EQUAL(control_open(&control, ON_DOT), -ENODEV);
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "eth3.5"));
	CU_ASSERT_FALSE(pinned("gw_flows"));
	control_stop(&control);
}

static void an_interface_that_takes_vlan_tags_off_is_refused_with_the_command(void)
{
	struct control control;

	shell("ethtool -K eth1 rxvlan on");
	CU_ASSERT_EQUAL(control_open(&control, ON_ETH1), -EOPNOTSUPP);
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "ethtool -K eth1 rxvlan off"));
	CU_ASSERT_EQUAL(program_on("eth1"), 0);
	CU_ASSERT_FALSE(pinned("gw_flows"));
	control_stop(&control);
	shell("ethtool -K eth1 rxvlan off");
}

static void an_interface_with_a_dot_in_its_name_can_be_pinned(void)
{
	struct control control;

	shell("ip link add eth3.5 type veth peer name wire3 && "
	      "ethtool -K eth3.5 rxvlan off && ip link set eth3.5 up");
	control_start(&control, ON_DOT);
	CU_ASSERT_NOT_EQUAL(program_on("eth3.5"), 0);
	control_stop(&control);
	control_start(&control, ON_DOT);
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "adopted"));
	control_stop(&control);
	all_away();
	CU_ASSERT_EQUAL(program_on("eth3.5"), 0);
	shell("ip link del eth3.5");
}

/* Starts control on the datapath of a former one, as a build of that ABI would have left it. */
static void is_refused_with(uint32_t abi)
{
	struct control control;
	struct gw_xdp_config config = pinned_config();
	uint32_t program = program_on("eth1");

	config.abi_version = abi;
	pinned_config_set(&config);
	CU_ASSERT_EQUAL(control_open(&control, ON_ETH1), -EPROTO);
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "the pinned maps are of ABI"));
	CU_ASSERT_PTR_NOT_NULL(strstr(control.log, "--detach"));
	CU_ASSERT_EQUAL(program_on("eth1"), program);
	CU_ASSERT(wire_backend(NULL) > 0);
	control_stop(&control);
	all_away();
}

static void pinned_maps_of_another_abi_are_refused_and_go_on(void)
{
	struct control control;

	control_start(&control, ON_ETH1);
	control_stop(&control);
	is_refused_with(GW_XDP_ABI_VERSION + 1);
}

/* ABI 3 had pools in rows of 64 bytes: with such a map the program of today does not load. */
static void an_abi_whose_maps_the_program_cannot_use_is_told_as_well(void)
{
	struct control control;
	char path[512];
	int inner = bpf_map_create(BPF_MAP_TYPE_ARRAY, "gw_pool", sizeof(uint32_t), 64, 1, NULL);
	LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = (uint32_t)inner);
	int outer = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "gw_pools", sizeof(uint32_t),
		sizeof(uint32_t), GW_MAX_POOLS, &options);

	control_start(&control, ON_ETH1);
	control_stop(&control);
	snprintf(path, sizeof(path), "%s/gw_pools", pins);
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(bpf_obj_pin(outer, path), 0);
	close(outer);
	close(inner);
	is_refused_with(3);
}

static void a_change_of_mode_attaches_anew(void)
{
	struct control control;
	int pass = foreign_attach("wire1", XDP_FLAGS_DRV_MODE); /* veth then polls: XDP_TX works */
	LIBBPF_OPTS(bpf_xdp_query_opts, native);

	control_start(&control, ON_ETH1);
	control_stop(&control);
	control_start(&control, ON_ETH1_NATIVE);
	CU_ASSERT_EQUAL(bpf_xdp_query((int)if_nametoindex("eth1"), 0, &native), 0);
	CU_ASSERT_NOT_EQUAL(native.drv_prog_id, 0);
	CU_ASSERT(wire_backend(NULL) > 0);
	control_stop(&control);
	bpf_link_detach(pass);
	close(pass);
	all_away();
}

/* A bucket of the pinned flow table as it was at the last look. */
struct looked_at {
	int fd;
	uint32_t key;
	struct gw_flow_bucket bucket;
};

static bool second_word_is_free(void *of)
{
	struct looked_at *look = of;

	CU_ASSERT_EQUAL(bpf_map_lookup_elem(look->fd, &look->key, &look->bucket), 0);
	return gw_flow_state(look->bucket.word[1]) == GW_FLOW_FREE;
}

static bool second_word_is_empty(void *of)
{
	return second_word_is_free(of) && ((struct looked_at *)of)->bucket.word[1] == GW_FLOW_EMPTY;
}

static bool one_flow_is_counted(void *of)
{
	const struct control *control = of;
	struct gw_publisher_stats stats;

	CU_ASSERT_EQUAL(control->publisher->ops->stats(control->publisher, &stats), 0);
	return stats.flows_active == 1;
}

/* A sweeper's pass retires what has aged, a later one empties it; each begins with a second. */
static void words_age_and_live_flows_are_counted(void)
{
	struct control control;
	struct gw_publisher_stats stats;
	struct looked_at look = {.key = 7};
	uint32_t backend, now = (uint32_t)(uv_hrtime() / 1000000000u);
	uint64_t *word = look.bucket.word;

	control_start(&control, ON_ETH1);
	look.fd = pin_open("gw_flows");
	backend = control.build->pools[0].backends[1].id;
	word[0] = gw_flow_word(0x40 | GW_CLASS_TCP, backend, GW_FLOW_ESTABLISHED, now);
	word[1] = gw_flow_word(0x50 | GW_CLASS_TCP, backend, GW_FLOW_NEW, now - 30);
	CU_ASSERT_EQUAL(bpf_map_update_elem(look.fd, &look.key, &look.bucket, BPF_ANY), 0);
	CU_ASSERT_TRUE(until(&control, second_word_is_free, &look));
	CU_ASSERT_EQUAL(gw_flow_tag(word[1]), gw_flow_tag(GW_FLOW_RETIRED));
	CU_ASSERT_TRUE(until(&control, one_flow_is_counted, &control));
	CU_ASSERT_EQUAL(control.publisher->ops->stats(control.publisher, &stats), 0);
	CU_ASSERT_EQUAL(stats.backend_flows[backend], 1);
	CU_ASSERT_EQUAL(stats.flow_capacity, 4096);
	CU_ASSERT_TRUE(until(&control, second_word_is_empty, &look));
	CU_ASSERT_EQUAL(gw_flow_state(word[0]), GW_FLOW_ESTABLISHED);
	close(look.fd);
	control_stop(&control);
	all_away();
}

static const struct gw_test tests[] = {
	GW_TEST(a_first_start_mounts_loads_attaches_and_pins),
	GW_TEST(a_packet_goes_to_its_backend_and_is_counted),
	GW_TEST(a_restart_adopts_flows_and_links_and_loses_no_packet),
	GW_TEST(a_neighbour_that_moves_is_followed),
	GW_TEST(with_control_silent_the_kernels_own_neighbours_count),
	GW_TEST(a_foreign_program_is_named_and_left_alone),
	GW_TEST(what_a_control_works_with_is_its_own),
	GW_TEST(detaching_removes_nothing_but_pins),
	GW_TEST(an_interface_that_is_no_longer_named_is_let_go),
	GW_TEST(an_interface_that_comes_back_gets_the_program_again),
	GW_TEST(an_interface_that_comes_back_taken_is_tried_again),
	GW_TEST(a_changed_mac_of_ours_is_taken_up),
	GW_TEST(an_interface_that_is_missing_is_named_and_nothing_is_left),
	GW_TEST(an_interface_that_takes_vlan_tags_off_is_refused_with_the_command),
	GW_TEST(an_interface_with_a_dot_in_its_name_can_be_pinned),
	GW_TEST(pinned_maps_of_another_abi_are_refused_and_go_on),
	GW_TEST(an_abi_whose_maps_the_program_cannot_use_is_told_as_well),
	GW_TEST(a_change_of_mode_attaches_anew),
	GW_TEST(after_a_snapshot_that_failed_half_way_the_services_are_written_again),
	GW_TEST(words_age_and_live_flows_are_counted),
};

int main(int argc, char **argv)
{
	char made[] = "/tmp/guideway-test-XXXXXX";
	int status;

	if (geteuid() != 0) {
		printf("xdp_publisher: skipped, needs root\n");
		return SKIPPED;
	}
	if (unshare(CLONE_NEWNET | CLONE_NEWNS) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) {
		perror("xdp_publisher: no namespaces");
		return EXIT_FAILURE;
	}
	folder = mkdtemp(made);
	if (!folder)
		return EXIT_FAILURE;
	snprintf(pins, sizeof(pins), "%s/pins", folder);
	network_make();
	status = gw_suite_run("xdp_publisher", tests, sizeof(tests) / sizeof(tests[0]), argc, argv);
	umount(pins);
	rmdir(pins);
	rmdir(folder);
	return status;
}
