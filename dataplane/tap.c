/* SPDX-License-Identifier: BSD-2-Clause */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_tun.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void name_request(struct ifreq *request, const char *name)
{
	memset(request, 0, sizeof(*request));
	snprintf(request->ifr_name, sizeof(request->ifr_name), "%s", name);
}

static int configure(int control, const char *name, const struct rte_ether_addr *mac, uint16_t mtu)
{
	struct ifreq request;

	name_request(&request, name);
	request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(request.ifr_hwaddr.sa_data, mac->addr_bytes, RTE_ETHER_ADDR_LEN);
	if (ioctl(control, SIOCSIFHWADDR, &request) < 0)
		return -errno;
	name_request(&request, name);
	request.ifr_mtu = mtu;
	if (ioctl(control, SIOCSIFMTU, &request) < 0)
		return -errno;
	name_request(&request, name);
	if (ioctl(control, SIOCGIFFLAGS, &request) < 0)
		return -errno;
	request.ifr_flags |= IFF_UP;
	return ioctl(control, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
}

int gw_tap_open(const char *name, const struct rte_ether_addr *mac, uint16_t mtu)
{
	struct ifreq request;
	int control, error;
	int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	name_request(&request, name);
	request.ifr_flags = IFF_TAP | IFF_NO_PI;
	error = ioctl(fd, TUNSETIFF, &request) < 0 ? -errno : 0;
	control = error ? -1 : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (!error && control < 0)
		error = -errno;
	if (!error)
		error = configure(control, name, mac, mtu);
	if (control >= 0)
		close(control);
	if (!error)
		return fd;
	close(fd);
	return error;
}
