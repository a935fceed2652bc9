/* SPDX-License-Identifier: BSD-2-Clause */
#include "eal.h"

#include "bench/frames/frames.h"
#include "leftovers.h"

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define OVERHEAD_MAX 48 /* IPv6 and GUE */
#define WORDS_MAX    64
#define TEXT_MAX     2048
#define LINK_WAITS   500
#define LINK_WAIT_US 10000

/* EAL keeps pointers into its words and changes their order: they stay as long as the process. */
struct words {
	char text[TEXT_MAX];
	size_t used;
	char *word[WORDS_MAX + 1];
	int count;
	bool full;
};

static struct words words;

static void __attribute__((format(printf, 1, 2))) add_word(const char *format, ...)
{
	size_t room = sizeof(words.text) - words.used;
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(words.text + words.used, room, format, arguments);
	va_end(arguments);
	if (length < 0 || (size_t)length >= room || words.count == WORDS_MAX) {
		words.full = true;
		return;
	}
	words.word[words.count++] = words.text + words.used;
	words.used += (size_t)length + 1;
}

/* A virtual device's text begins with its driver; anything else is an address on a bus. */
static bool is_vdev(const char *port)
{
	return strncmp(port, "net_", 4) == 0 || strncmp(port, "eth_", 4) == 0;
}

static void add_lcores(const struct bench_link_setup *setup, int main_cpu, uint32_t workers)
{
	char text[512];
	int length = snprintf(text, sizeof(text), "0@%d", main_cpu);

	for (uint32_t i = 0; i < workers && length < (int)sizeof(text); i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, ",%u@%u", i + 1,
			(uint32_t)setup->cpu + i);
	add_word("--lcores");
	add_word("%s", text);
	add_word("--main-lcore=0");
}

/* The user's own words come last: what they say overrules. */
static void add_users(const char *text)
{
	while (*text) {
		size_t length = strcspn(text, " \t");

		if (length)
			add_word("%.*s", (int)length, text);
		text += length;
		text += strspn(text, " \t");
	}
}

static void add_memory(const struct bench_link_setup *setup, const char *role, uint64_t megabytes)
{
	add_word("--file-prefix=" BENCH_PREFIX_FORMAT, role, (int)getpid());
	if (setup->huge_pages) {
		add_word("--in-memory");
		return;
	}
	add_word("--no-huge");
	add_word("--no-shconf");
	add_word("-m");
	add_word("%llu", (unsigned long long)megabytes);
}

int bench_eal_start(const struct bench_link_setup *setup, const char *role, int main_cpu,
	uint32_t workers, uint64_t megabytes, char name[BENCH_PORT_TEXT],
	char message[BENCH_MESSAGE])
{
	bool started;

	add_word("guideway-bench-%s", role);
	add_lcores(setup, main_cpu, workers);
	add_memory(setup, role, megabytes);
	add_word("--no-telemetry");
	add_word("--log-level=error");
	if (is_vdev(setup->port)) {
		add_word("--no-pci");
		add_word("--vdev=%s", setup->port);
	} else {
		add_word("-a");
		add_word("%s", setup->port);
	}
	add_users(setup->eal_args);
	if (words.full) {
		snprintf(message, BENCH_MESSAGE, "too many or too long words for DPDK");
		return -E2BIG;
	}
	started = rte_eal_init(words.count, words.word) >= 0;
	bench_leftovers_remove(rte_eal_get_runtime_dir());
	if (!started) {
		snprintf(message, BENCH_MESSAGE,
			"the %s's DPDK does not start with port %.64s: %s (its own messages above "
			"say more)",
			role, setup->port, rte_strerror(rte_errno));
		return -EIO;
	}
	snprintf(name, BENCH_PORT_TEXT, "%.*s", (int)strcspn(setup->port, ","), setup->port);
	return 0;
}

static bool is_virtual(uint16_t ethdev)
{
	struct rte_eth_dev_info info;
	const struct rte_bus *bus = NULL;

	if (rte_eth_dev_info_get(ethdev, &info) == 0)
		bus = rte_dev_bus(info.device);
	return !bus || strcmp(rte_bus_name(bus), "vdev") == 0;
}

int bench_port_widen(uint16_t ethdev, const struct bench_case *what, uint16_t *before,
	char message[BENCH_MESSAGE])
{
	struct bench_frames frames = {.what = what};
	uint32_t longest = 0;
	uint16_t mtu = 0;
	int error;

	*before = 0;
	for (uint32_t i = 0; i < FRAME_IMIX_CYCLE; i++) {
		uint32_t length = bench_frame_length(&frames, i) - FRAME_ETH + OVERHEAD_MAX;

		longest = length > longest ? length : longest;
	}
	if (rte_eth_dev_get_mtu(ethdev, &mtu) != 0 || mtu >= longest)
		return 0;
	/* A virtual port takes what its other half takes, whatever it says. */
	if (is_virtual(ethdev))
		return 0;
	error = rte_eth_dev_set_mtu(ethdev, (uint16_t)longest);
	if (error == -ENOTSUP)
		return 0;
	if (error) {
		snprintf(message, BENCH_MESSAGE,
			"the port's MTU is %u, and cannot be the %u that frames of this --size "
			"need, encapsulated: %s",
			mtu, longest, rte_strerror(-error));
		return error;
	}
	*before = mtu;
	return 0;
}

void bench_port_restore(uint16_t ethdev, uint16_t mtu)
{
	/* A port that does not stop to take it keeps the higher one: no harm. */
	if (mtu)
		rte_eth_dev_set_mtu(ethdev, mtu);
}

bool bench_port_wait(uint16_t ethdev)
{
	struct rte_eth_link link = {};

	for (int i = 0; i < LINK_WAITS; i++) {
		if (rte_eth_link_get_nowait(ethdev, &link) == 0 &&
			link.link_status == RTE_ETH_LINK_UP)
			return true;
		usleep(LINK_WAIT_US);
	}
	return false;
}

void bench_port_describe(uint16_t ethdev, struct bench_port_facts *facts)
{
	struct rte_eth_dev_info info;
	struct rte_eth_link link = {};

	if (rte_eth_dev_info_get(ethdev, &info) != 0)
		return;
	facts->is_virtual = is_virtual(ethdev);
	snprintf(facts->driver, sizeof(facts->driver), "%s", info.driver_name);
	snprintf(facts->device, sizeof(facts->device), "%s", rte_dev_name(info.device));
	/* A virtual port's speed is invented. */
	if (!facts->is_virtual && rte_eth_link_get_nowait(ethdev, &link) == 0 &&
		link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		facts->mbps = link.link_speed;
}
