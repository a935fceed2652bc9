/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Usually a veth end receives on the CPU that sends to it. With threaded NAPI (Linux 5.12) it has a
 * kernel thread, which can be pinned as any thread. That switch is a file of sysfs, which shows the
 * network namespace in which it was mounted: so one is mounted, in no folder (fsmount(2)).
 */
#include "link_net.h"

#include "base/netlink_request.h"

#include <libmnl/libmnl.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define REQUEST_MAX 1024
#define LINK_MTU    2000 /* the longest frame with its outer headers; one page holds it */
#define THREAD_MS   500	 /* a kernel thread is there at once */

static int explain(char message[BENCH_MESSAGE], const char *what, int error)
{
	snprintf(message, BENCH_MESSAGE, "xdp link: %s: %s", what, strerror(-error));
	return error;
}

/* ---- the pair */

static void put_end(struct nlmsghdr *request, const char *name)
{
	mnl_attr_put_strz(request, IFLA_IFNAME, name);
	mnl_attr_put_u32(request, IFLA_MTU, LINK_MTU);
	mnl_attr_put_u32(request, IFLA_NUM_TX_QUEUES, 1);
	mnl_attr_put_u32(request, IFLA_NUM_RX_QUEUES, 1);
}

static int make_pair(const struct xdp_link_net *net)
{
	char buffer[REQUEST_MAX];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct nlattr *link, *data, *peer;

	request->nlmsg_type = RTM_NEWLINK;
	request->nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL;
	mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
	put_end(request, net->generator_name);
	link = mnl_attr_nest_start(request, IFLA_LINKINFO);
	mnl_attr_put_strz(request, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(request, IFLA_INFO_DATA);
	peer = mnl_attr_nest_start(request, VETH_INFO_PEER);
	mnl_nlmsg_put_extra_header(request, sizeof(struct ifinfomsg));
	put_end(request, net->subject_name);
	mnl_attr_nest_end(request, peer);
	mnl_attr_nest_end(request, data);
	mnl_attr_nest_end(request, link);
	return gw_netlink_request(request);
}

/* An end without its other one cannot go up, so that comes after. */
static int set_up(int ifindex)
{
	char buffer[REQUEST_MAX];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *info;

	request->nlmsg_type = RTM_NEWLINK;
	info = mnl_nlmsg_put_extra_header(request, sizeof(*info));
	info->ifi_index = ifindex;
	info->ifi_flags = info->ifi_change = IFF_UP;
	return gw_netlink_request(request);
}

static void write_file(int folder, const char *path, const char *text)
{
	int fd = openat(folder, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		errno = 0; /* who depends on it finds out */
	close(fd);
}

/* The kernel's own packets (router solicitations) are none of the generator's. */
static int make_inside(struct xdp_link_net *net)
{
	int error;

	write_file(AT_FDCWD, "/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
	error = make_pair(net);
	if (error)
		return error;
	net->generator = (int)if_nametoindex(net->generator_name);
	net->subject = (int)if_nametoindex(net->subject_name);
	if (!net->generator || !net->subject)
		return -ENODEV;
	error = set_up(net->generator);
	return error ? error : set_up(net->subject);
}

int xdp_link_net_init(struct xdp_link_net *net, char message[BENCH_MESSAGE])
{
	int error;

	*net = (struct xdp_link_net){.home = -1, .inside = -1};
	snprintf(net->generator_name, sizeof(net->generator_name), "g%x", (unsigned)getpid());
	snprintf(net->subject_name, sizeof(net->subject_name), "s%x", (unsigned)getpid());
	net->home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	if (net->home < 0)
		return explain(message, "/proc/thread-self/ns/net", -errno);
	if (unshare(CLONE_NEWNET))
		return explain(message, "a network namespace cannot be made", -errno);
	net->inside = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	error = net->inside < 0 ? -errno : make_inside(net);
	if (error)
		explain(message, "a veth pair cannot be made", error);
	xdp_link_net_leave(net);
	return error;
}

void xdp_link_net_fini(struct xdp_link_net *net)
{
	if (net->inside >= 0)
		close(net->inside);
	if (net->home >= 0)
		close(net->home);
	*net = (struct xdp_link_net){.home = -1, .inside = -1};
}

int xdp_link_net_enter(const struct xdp_link_net *net)
{
	return setns(net->inside, CLONE_NEWNET) ? -errno : 0;
}

void xdp_link_net_leave(const struct xdp_link_net *net)
{
	if (setns(net->home, CLONE_NEWNET))
		perror("xdp link: the namespace of before cannot be had again");
}

/* ---- the thread of the subject's end */

static int switch_threaded(const struct xdp_link_net *net)
{
	char path[64];
	int context = fsopen("sysfs", FSOPEN_CLOEXEC), folder = -1;
	int error = context < 0 || fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0);

	if (!error)
		folder = fsmount(context, FSMOUNT_CLOEXEC, 0);
	if (error || folder < 0) {
		error = -errno;
	} else {
		snprintf(path, sizeof(path), "class/net/%s/threaded", net->subject_name);
		write_file(folder, path, "1");
		close(folder);
	}
	if (context >= 0)
		close(context);
	return error;
}

static bool is_thread(const char *pid, const char *wanted)
{
	char path[64], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strncmp(name, wanted, strlen(wanted));
}

/* The kernel names it "napi/INTERFACE-NUMBER". 0: it is not there. */
static pid_t thread_find(const struct xdp_link_net *net)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	char wanted[32];
	pid_t found = 0;

	if (!folder)
		return 0;
	snprintf(wanted, sizeof(wanted), "napi/%.15s-", net->subject_name);
	while (!found && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]) && is_thread(entry->d_name, wanted))
			found = atoi(entry->d_name);
	closedir(folder);
	return found;
}

int xdp_link_net_pin(struct xdp_link_net *net, int cpu, char message[BENCH_MESSAGE])
{
	const struct timespec pause = {.tv_nsec = 10000000};
	int error = switch_threaded(net);
	pid_t thread = 0;
	cpu_set_t set;

	if (error)
		return explain(message, "sysfs of the namespace cannot be had", error);
	for (int ms = 0; !(thread = thread_find(net)) && ms < THREAD_MS; ms += 10)
		nanosleep(&pause, NULL);
	if (!thread)
		return explain(message, "this kernel has no threaded NAPI for veth", -EOPNOTSUPP);
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(thread, sizeof(set), &set))
		return explain(message, "the NAPI thread cannot be pinned", -errno);
	/*
	 * Before everything ordinary: it sleeps whenever no frame waits, and with others about, a
	 * thread that wakes would wait for the end of their turn. Without leave it goes without.
	 */
	sched_setscheduler(thread, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
	net->thread = thread;
	return 0;
}

uint64_t xdp_link_net_busy(const struct xdp_link_net *net)
{
	struct timespec busy;
	clockid_t clock;

	if (!net->thread || clock_getcpuclockid(net->thread, &clock) || clock_gettime(clock, &busy))
		return 0;
	return (uint64_t)busy.tv_sec * 1000000000ull + (uint64_t)busy.tv_nsec;
}
