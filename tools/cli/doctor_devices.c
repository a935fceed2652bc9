/* SPDX-License-Identifier: BSD-2-Clause */
/* What the network cards do with packets before the datapath sees them, and by how many queues. */
#include "doctor.h"

#include <bpf/libbpf.h>

#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum attached { ATTACHED_NONE, ATTACHED_NATIVE, ATTACHED_GENERIC };

static enum attached attached_now(const char *interface)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, options);
	unsigned int index = if_nametoindex(interface);

	if (!index || bpf_xdp_query((int)index, 0, &options) || !options.prog_id)
		return ATTACHED_NONE;
	return options.skb_prog_id || options.attach_mode == XDP_ATTACHED_SKB ? ATTACHED_GENERIC
									      : ATTACHED_NATIVE;
}

static bool is_generic(const struct doctor *doctor, const struct doctor_interface *interface)
{
	if (doctor->config->dataplane.path != GW_CONFIG_PATH_XDP)
		return interface->config->vdev != NULL; /* a packet socket is behind GRO too */
	return interface->config->mode == GW_CONFIG_XDP_GENERIC ||
	       attached_now(interface->name) == ATTACHED_GENERIC;
}

struct offload {
	const char *feature; /* the kernel's name, which ethtool -K takes as well */
	bool generic_only;   /* comes before the datapath only there */
	const char *why;
};

static const struct offload offloads[] = {
	{"rx-lro", false,
		"the card merges packets of a connection into ones that fit no tunnel: dropped as "
		"too_big"},
	{"rx-gro-hw", false,
		"the card merges packets of a connection into ones that fit no tunnel: dropped as "
		"too_big"},
	{"rx-gro", true,
		"the kernel merges packets before this hook sees them, into ones that fit no "
		"tunnel: "
		"dropped as too_big"},
	{"rx-vlan-hw-parse", false,
		"the card takes VLAN tags off, and an XDP program cannot see which VLAN a packet "
		"was "
		"in"},
};

static void look_offload(
	struct doctor *doctor, const char *interface, const struct offload *offload)
{
	bool on, fixed;
	json_t *finding;
	int error = doctor_feature(interface, offload->feature, &on, &fixed);

	if (error == -ENOENT || error == -EOPNOTSUPP)
		return; /* this driver or kernel knows no such thing */
	if (error) {
		doctor_unseen(doctor, "offload", interface, "%s: %s: %s", interface,
			offload->feature, strerror(-error));
		return;
	}
	if (!on) {
		doctor_well(
			doctor, "offload", interface, "%s: %s is off", interface, offload->feature);
		return;
	}
	finding = doctor_finding(doctor, "offload", interface, offload->why, "%s: %s is on",
		interface, offload->feature);
	if (fixed)
		doctor_advise(finding, "this driver does not let it be switched off");
	else
		doctor_fix(finding, "ethtool", "-K", interface, offload->feature, "off", NULL);
}

static void look_mode(struct doctor *doctor, const struct doctor_interface *interface)
{
	enum attached now = attached_now(interface->name);
	char driver[32] = "";
	json_t *finding;

	if (doctor->config->dataplane.path != GW_CONFIG_PATH_XDP || now == ATTACHED_NONE)
		return;
	doctor_driver(interface->name, driver);
	if (now == ATTACHED_NATIVE || interface->config->mode == GW_CONFIG_XDP_GENERIC) {
		doctor_well(doctor, "xdp_mode", interface->name, "%s: %s (driver %s)",
			interface->name,
			now == ATTACHED_NATIVE ? "native" : "generic, as configured", driver);
		return;
	}
	finding = doctor_finding(doctor, "xdp_mode", interface->name,
		"each packet becomes a socket buffer first, which costs most of the speed",
		"%s: XDP runs in the generic hook, driver %s would not take it", interface->name,
		driver);
	doctor_advise(finding, "a driver with XDP, or an MTU that it takes with XDP (often at most "
			       "3500); `mode: generic` in the file says that this is wanted");
}

static void look_queues(struct doctor *doctor, const char *interface, unsigned int wanted,
	const char *why, const char *who)
{
	struct doctor_channels channels = {0};
	json_t *finding;
	char number[16];

	if (doctor_channels(interface, &channels) || !channels.now)
		return;
	if (wanted > channels.most)
		wanted = channels.most;
	if (channels.now >= wanted) {
		doctor_well(doctor, "queues", interface, "%s: %u receive queues for %s", interface,
			channels.now, who);
		return;
	}
	finding = doctor_finding(doctor, "queues", interface, why,
		"%s: %u receive queues for %s, of %u that it can have", interface, channels.now,
		who, channels.most);
	snprintf(number, sizeof(number), "%u", wanted);
	doctor_fix(finding, "ethtool", "-L", interface, channels.combined ? "combined" : "rx",
		number, NULL);
}

static void look_port_queues(struct doctor *doctor, const struct doctor_interface *interface)
{
	unsigned int workers = (unsigned int)doctor->config->dataplane.cpu_count;
	unsigned int cpus = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	char who[48];

	if (doctor->config->dataplane.path == GW_CONFIG_PATH_XDP) {
		snprintf(who, sizeof(who), "%u CPUs", cpus);
		look_queues(doctor, interface->name, cpus,
			"each queue is served by one CPU: the others have nothing to do", who);
	} else if (!interface->config->vdev) {
		workers = workers ? workers : 1;
		snprintf(who, sizeof(who), "%u workers", workers);
		look_queues(doctor, interface->name, workers,
			"a worker takes packets from its own queue: the others have none", who);
	}
}

/* A port that the kernel does not drive any more. */
static void look_pci(struct doctor *doctor, const char *address)
{
	static const char *const ready[] = {
		"vfio-pci", "uio_pci_generic", "igb_uio", "mlx4_core", "mlx5_core"};
	char path[128], target[256], *driver;
	json_t *finding;
	ssize_t length;

	snprintf(path, sizeof(path), "%s/sys/bus/pci/devices/%s/driver", doctor->root, address);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = 0;
	driver = strrchr(target, '/');
	driver = driver ? driver + 1 : target;
	for (size_t i = 0; i < sizeof(ready) / sizeof(ready[0]); i++)
		if (!strcmp(driver, ready[i])) {
			doctor_well(doctor, "driver", address, "%s: driver %s", address, driver);
			return;
		}
	finding = doctor_finding(doctor, "driver", address,
		"DPDK can take a card only from a driver that gives it away", "%s: %s%s", address,
		driver[0] ? "driver " : "no driver, or no such device", driver);
	doctor_fix(finding, "modprobe", "vfio-pci", NULL);
	doctor_fix(finding, "dpdk-devbind.py", "-b", "vfio-pci", address, NULL);
	doctor_advise(finding,
		"binding takes the interface away from the kernel: not for the one you "
		"are connected by");
}

void doctor_look_devices(struct doctor *doctor)
{
	const struct gw_config_dataplane *dataplane = &doctor->config->dataplane;

	for (size_t i = 0; i < doctor->interface_count; i++) {
		const struct doctor_interface *interface = &doctor->interfaces[i];

		if (!if_nametoindex(interface->name))
			continue;
		look_mode(doctor, interface);
		for (size_t o = 0; o < sizeof(offloads) / sizeof(offloads[0]); o++)
			if (!offloads[o].generic_only || is_generic(doctor, interface))
				look_offload(doctor, interface->name, &offloads[o]);
		look_port_queues(doctor, interface);
	}
	for (size_t i = 0; i < dataplane->interface_count; i++)
		if (dataplane->interfaces[i].pci)
			look_pci(doctor, dataplane->interfaces[i].pci);
}
