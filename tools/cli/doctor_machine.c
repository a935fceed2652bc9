/* SPDX-License-Identifier: BSD-2-Clause */
/* What DPDK's workers want of the machine: huge pages, an IOMMU, CPUs to themselves. */
#include "doctor.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOW_BYTES   8u
#define FRAMES_MB    128u /* frame buffers of a worker or two, tables, EAL's own */
#define HUGE_PAGE_MB 2u
#define ISOLATE_TEXT                                                                               \
	"put isolcpus=%s nohz_full=%s behind GRUB_CMDLINE_LINUX in /etc/default/grub, then "       \
	"update-grub and a new start of the machine"

static long long pages_mb(const struct doctor *doctor)
{
	long long small =
		doctor_number(doctor, "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
	long long large =
		doctor_number(doctor, "/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages");

	if (small < 0 && large < 0)
		return -1;
	return (small > 0 ? small * 2 : 0) + (large > 0 ? large * 1024 : 0);
}

static void look_pages(struct doctor *doctor)
{
	long long has = pages_mb(doctor);
	long long needs =
		(long long)(doctor->config->dataplane.flows >> 20) * FLOW_BYTES + FRAMES_MB;
	json_t *finding;
	char setting[48];

	needs += FLOW_BYTES;
	if (has < 0) {
		doctor_unseen(doctor, "huge_pages", "", "huge pages are not to be seen");
		return;
	}
	if (has >= needs) {
		doctor_well(doctor, "huge_pages", "", "%lld MB of huge pages, some %lld are needed",
			has, needs);
		return;
	}
	finding = doctor_finding(doctor, "huge_pages", "",
		"with small pages (EAL's --no-huge) each access to the flow table and the frames "
		"costs "
		"a walk through page tables; without that option the dataplane does not start",
		"%lld MB of huge pages, some %lld are needed for %u flows", has, needs,
		doctor->config->dataplane.flows);
	snprintf(setting, sizeof(setting), "vm.nr_hugepages=%lld",
		(needs + HUGE_PAGE_MB - 1) / HUGE_PAGE_MB);
	doctor_fix(finding, "sysctl", "-w", setting, NULL);
}

static bool folder_empty(const struct doctor *doctor, const char *name)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	bool empty = true;
	DIR *folder;

	snprintf(path, sizeof(path), "%s%s", doctor->root, name);
	folder = opendir(path);
	while (folder && empty && (entry = readdir(folder)))
		empty = entry->d_name[0] == '.';
	if (folder)
		closedir(folder);
	return empty;
}

/* Only a port on the PCI bus does DMA on its own. */
static void look_iommu(struct doctor *doctor)
{
	const struct gw_config_dataplane *dataplane = &doctor->config->dataplane;
	bool pci = false;
	char unsafe[8] = "";
	json_t *finding;

	for (size_t i = 0; i < dataplane->interface_count; i++)
		pci |= dataplane->interfaces[i].pci != NULL;
	if (!pci)
		return;
	doctor_read(doctor, unsafe, sizeof(unsafe),
		"/sys/module/vfio/parameters/enable_unsafe_noiommu_mode");
	if (!folder_empty(doctor, "/sys/kernel/iommu_groups")) {
		doctor_well(doctor, "iommu", "", "an IOMMU is in use");
		return;
	}
	if (unsafe[0] == 'Y') {
		doctor_well(doctor, "iommu", "", "no IOMMU, and vfio was told to do without");
		return;
	}
	finding = doctor_finding(doctor, "iommu", "",
		"vfio-pci gives a card away only behind an IOMMU", "no IOMMU is in use");
	doctor_advise(finding, "switch it on in the firmware, and put intel_iommu=on (Intel) "
			       "behind GRUB_CMDLINE_LINUX "
			       "in /etc/default/grub, then update-grub and a new start; in a "
			       "virtual machine without "
			       "one: modprobe vfio enable_unsafe_noiommu_mode=1");
}

static bool cpu_online(const struct doctor *doctor, unsigned int cpu)
{
	char list[4096];

	return doctor_read(doctor, list, sizeof(list), "/sys/devices/system/cpu/online") ||
	       doctor_list_has(list, cpu);
}

static void look_online(struct doctor *doctor)
{
	const struct gw_config_dataplane *dataplane = &doctor->config->dataplane;
	char absent[128] = "";
	size_t used = 0;
	json_t *finding;

	for (size_t i = 0; i < dataplane->cpu_count; i++)
		if (!cpu_online(doctor, dataplane->cpus[i]) && used < sizeof(absent) - 8)
			used += (size_t)snprintf(absent + used, sizeof(absent) - used, "%s%u",
				used ? ", " : "", dataplane->cpus[i]);
	if (!used) {
		doctor_well(doctor, "cpu", "", "the workers' CPUs are online");
		return;
	}
	finding = doctor_finding(doctor, "cpu", "",
		"the dataplane does not start without the CPU of a worker",
		"in dataplane.cpus and not online: %s", absent);
	doctor_advise(finding, "name CPUs that are there: lscpu shows them");
}

/* A worker that never sleeps and the kernel's own work disturb each other. */
static void look_isolation(struct doctor *doctor)
{
	const struct gw_config_dataplane *dataplane = &doctor->config->dataplane;
	const char *cpus = dataplane->cpus_text;
	char list[4096], advice[512];
	json_t *finding;

	if (!dataplane->poll_busy || !cpus ||
		doctor_read(doctor, list, sizeof(list), "/sys/devices/system/cpu/isolated"))
		return;
	for (size_t i = 0; i < dataplane->cpu_count; i++) {
		if (doctor_list_has(list, dataplane->cpus[i]))
			continue;
		finding = doctor_finding(doctor, "isolation", "",
			"the scheduler puts other threads on a worker's CPU; the packets that come "
			"meanwhile wait or are lost in the card",
			"CPU %u has a busy worker and is not isolated (isolated: %s)",
			dataplane->cpus[i], list[0] ? list : "none");
		snprintf(advice, sizeof(advice), ISOLATE_TEXT, cpus, cpus);
		doctor_advise(finding, advice);
		return;
	}
	doctor_well(doctor, "isolation", "", "the workers' CPUs are isolated");
}

static bool runs(const struct doctor *doctor, const char *name)
{
	char path[PATH_MAX], comm[32];
	const struct dirent *entry;
	bool found = false;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/proc", doctor->root);
	folder = opendir(path);
	while (folder && !found && (entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			!doctor_read(doctor, comm, sizeof(comm), "/proc/%s/comm", entry->d_name))
			found = !strcmp(comm, name);
	if (folder)
		closedir(folder);
	return found;
}

static void look_irqbalance(struct doctor *doctor)
{
	json_t *finding;

	if (!runs(doctor, "irqbalance")) {
		doctor_well(doctor, "irqbalance", "", "irqbalance does not run");
		return;
	}
	finding = doctor_finding(doctor, "irqbalance", "",
		"it moves interrupts onto the workers' CPUs, where they take time from packets",
		"irqbalance runs");
	doctor_fix(finding, "systemctl", "disable", "--now", "irqbalance", NULL);
	doctor_advise(finding,
		"or keep it, with IRQBALANCE_BANNED_CPULIST set to the workers' CPUs in "
		"/etc/default/irqbalance");
}

void doctor_look_machine(struct doctor *doctor)
{
	if (doctor->config->dataplane.path != GW_CONFIG_PATH_DPDK)
		return;
	look_pages(doctor);
	look_iommu(doctor);
	look_online(doctor);
	look_isolation(doctor);
	look_irqbalance(doctor);
}
