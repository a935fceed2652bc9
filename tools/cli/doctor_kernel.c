/* SPDX-License-Identifier: BSD-2-Clause */
/* Settings of the kernel's network and of eBPF. */
#include "doctor.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>

#define BPF_FS 0xcafe4a11 /* <linux/magic.h>: BPF_FS_MAGIC */

static bool is_ipv4(const uint8_t address[static 16])
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)address);
}

static size_t backends_of(const struct gw_config *config, bool ipv4)
{
	size_t count = 0;

	for (size_t p = 0; p < config->pool_count; p++)
		for (size_t b = 0; b < config->pools[p].backend_count; b++)
			count += is_ipv4(config->pools[p].backends[b].address) == ipv4;
	return count;
}

/* A name for sysctl(8): dots part it, so a dot in an interface's name is written as a slash. */
static void sysctl_name(
	char *text, size_t size, const char *family, const char *interface, const char *setting)
{
	size_t used = (size_t)snprintf(text, size, "net.%s.conf.", family);

	for (; *interface && used + 1 < size; interface++)
		text[used++] = *interface == '.' ? '/' : *interface;
	snprintf(text + used, size - used, ".%s", setting);
}

/* Strict where the larger of "all" and the interface's own is 1: loose is 2. */
static void look_rp_filter(struct doctor *doctor, const char *interface)
{
	long long all = doctor_number(doctor, "/proc/sys/net/ipv4/conf/all/rp_filter");
	long long own = doctor_number(doctor, "/proc/sys/net/ipv4/conf/%s/rp_filter", interface);
	json_t *finding;
	char name[96];

	if (all < 0 || own < 0) {
		doctor_unseen(doctor, "rp_filter", interface, "%s: rp_filter is not to be seen",
			interface);
		return;
	}
	if ((all > own ? all : own) != 1) {
		doctor_well(
			doctor, "rp_filter", interface, "%s: rp_filter is not strict", interface);
		return;
	}
	finding = doctor_finding(doctor, "rp_filter", interface,
		"what comes in there from an address whose route leaves elsewhere (answers to "
		"health "
		"checks, pings to the node) is dropped without a word",
		"%s: rp_filter is strict (all %lld, %s %lld)", interface, all, interface, own);
	sysctl_name(name, sizeof(name), "ipv4", interface, "rp_filter");
	doctor_fix_sysctl(finding, name, 2);
}

/* bpf_fib_lookup, which takes over when control has gone, answers for forwarding hosts only. */
static void look_forwarding(struct doctor *doctor, const char *interface, bool ipv4)
{
	const char *family = ipv4 ? "ipv4" : "ipv6";
	long long on =
		doctor_number(doctor, "/proc/sys/net/%s/conf/%s/forwarding", family, interface);
	json_t *finding;
	char name[96];

	if (!backends_of(doctor->config, ipv4))
		return;
	if (on < 0) {
		doctor_unseen(doctor, "forwarding", interface,
			"%s: %s forwarding is not to be seen", interface, family);
		return;
	}
	if (on) {
		doctor_well(
			doctor, "forwarding", interface, "%s: %s is forwarded", interface, family);
		return;
	}
	finding = doctor_finding(doctor, "forwarding", interface,
		"while guideway-control is away the XDP program asks the kernel for next hops, and "
		"gets none for an interface that does not forward",
		"%s: %s is not forwarded", interface, family);
	sysctl_name(name, sizeof(name), family, interface, "forwarding");
	doctor_fix_sysctl(finding, name, 1);
}

static void look_neighbours(struct doctor *doctor, bool ipv4)
{
	const char *family = ipv4 ? "ipv4" : "ipv6";
	long long limit =
		doctor_number(doctor, "/proc/sys/net/%s/neigh/default/gc_thresh3", family);
	size_t backends = backends_of(doctor->config, ipv4);
	long long wanted = 1024;
	json_t *finding;
	char name[64];

	if (!backends || limit < 0)
		return; /* namespaces do not show it */
	if (limit >= (long long)(backends + backends / 4)) {
		doctor_well(doctor, "neighbours", "", "%s: room for %lld neighbours, %zu backends",
			family, limit, backends);
		return;
	}
	while (wanted < 2 * (long long)backends)
		wanted *= 2;
	finding = doctor_finding(doctor, "neighbours", "",
		"next hops fall out of the table, and packets for their backends are dropped "
		"(no_neighbour)",
		"%s: room for %lld neighbours, but there are %zu backends", family, limit,
		backends);
	snprintf(name, sizeof(name), "net.%s.neigh.default.gc_thresh3", family);
	doctor_fix_sysctl(finding, name, wanted);
	snprintf(name, sizeof(name), "net.%s.neigh.default.gc_thresh2", family);
	doctor_fix_sysctl(finding, name, wanted / 2);
}

static void look_jit(struct doctor *doctor)
{
	long long on = doctor_number(doctor, "/proc/sys/net/core/bpf_jit_enable");
	json_t *finding;

	if (on < 0)
		return; /* always on, or not shown in a namespace */
	if (on) {
		doctor_well(
			doctor, "jit", "", "eBPF programs are compiled (bpf_jit_enable %lld)", on);
		return;
	}
	finding = doctor_finding(doctor, "jit", "",
		"the program is interpreted for each packet: several times slower",
		"the eBPF compiler is off (bpf_jit_enable 0)");
	doctor_fix_sysctl(finding, "net.core.bpf_jit_enable", 1);
}

static void look_bpffs(struct doctor *doctor)
{
	char path[4200], *slash;
	struct statfs info;
	json_t *finding;

	snprintf(path, sizeof(path), "%s%s", doctor->root, doctor->config->xdp_pin_dir);
	/* The folder itself is made by the daemon: its nearest parent tells. */
	while (statfs(path, &info)) {
		slash = strrchr(path, '/');
		if (!slash || slash == path)
			return;
		*slash = 0;
	}
	if ((unsigned long)info.f_type == BPF_FS) {
		doctor_well(doctor, "bpffs", "", "%s lies in a bpf file system",
			doctor->config->xdp_pin_dir);
		return;
	}
	finding = doctor_finding(doctor, "bpffs", "",
		"maps and links are pinned there, so that forwarding outlives the daemon",
		"%s lies in no bpf file system", doctor->config->xdp_pin_dir);
	if (!strncmp(doctor->config->xdp_pin_dir, "/sys/fs/bpf/", 12))
		doctor_fix(finding, "mount", "-t", "bpf", "bpf", "/sys/fs/bpf", NULL);
	else
		doctor_advise(finding, "mount one there: mount -t bpf bpf FOLDER");
}

void doctor_look_kernel(struct doctor *doctor)
{
	bool xdp = doctor->config->dataplane.path == GW_CONFIG_PATH_XDP;

	for (size_t i = 0; i < doctor->interface_count; i++) {
		const char *name = doctor->interfaces[i].name;

		look_rp_filter(doctor, name);
		if (!xdp)
			continue;
		look_forwarding(doctor, name, true);
		look_forwarding(doctor, name, false);
	}
	look_neighbours(doctor, true);
	look_neighbours(doctor, false);
	look_jit(doctor);
	if (xdp)
		look_bpffs(doctor);
}
