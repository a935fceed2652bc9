/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs in the guest. Puts the frames of a capture in at a tap device, one after the other, as if a
 * NIC had received them, and says what the kernel made of each:
 *
 *	BATCH packet INDEX DEVICE HEX	an IP packet that came in by that device: by the tap as it
 *					stands in the frame, by a tunnel once it is unpacked
 *	BATCH datagram INDEX HEX	the payload of a UDP datagram that reached a socket
 *	BATCH late			something that came after its frame's turn
 *
 *	decapsulate BATCH TAP MAC FRAMES [UDP-PORT...]
 *
 * With one CPU the kernel is mostly through with a frame when write() returns; when nothing came
 * out of a tunnel it is given a little time more, since it may have put the work off. A fragment
 * that waits for its others comes with the last of them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/ether.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORTS_MAX   16
#define PACKET_MAX  65536
#define RECEIVE_MAX (8 << 20)
#define LATE_MS	    200
#define SETTLE_MS   10
#define SETTLES	    5

static const char *batch;
static int seen;
static int sockets[PORTS_MAX];
static int socket_count;
static uint8_t packet[PACKET_MAX];

static void give_up(const char *what)
{
	fprintf(stderr, "decapsulate: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_tap(const char *name, const char *mac)
{
	struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
	const struct ether_addr *address = ether_aton(mac);
	int tap = open("/dev/net/tun", O_RDWR), control = socket(AF_INET, SOCK_DGRAM, 0);

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
	if (tap < 0 || control < 0 || !address || ioctl(tap, TUNSETIFF, &request))
		give_up("no tap");
	request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
	memcpy(request.ifr_hwaddr.sa_data, address, sizeof(*address));
	if (ioctl(control, SIOCSIFHWADDR, &request))
		give_up("the tap's MAC");
	request.ifr_flags = IFF_UP;
	if (ioctl(control, SIOCSIFFLAGS, &request))
		give_up("the tap does not come up");
	close(control);
	return tap;
}

static void open_sockets(char **ports, int count)
{
	int bytes = RECEIVE_MAX;

	seen = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	if (seen < 0 || setsockopt(seen, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)))
		give_up("no packet socket");
	for (int i = 0; i < count && i < PORTS_MAX; i++) {
		struct sockaddr_in6 any = {.sin6_family = AF_INET6,
			.sin6_port = htons((uint16_t)strtoul(ports[i], NULL, 10))};

		sockets[i] = socket(AF_INET6, SOCK_DGRAM, 0);
		if (sockets[i] < 0 || bind(sockets[i], (struct sockaddr *)&any, sizeof(any)))
			give_up(ports[i]);
		socket_count++;
	}
}

static void print_hex(ssize_t length)
{
	static const char digits[] = "0123456789abcdef";
	static char text[2 * PACKET_MAX + 1];

	for (ssize_t i = 0; i < length; i++) {
		text[2 * i] = digits[packet[i] >> 4];
		text[2 * i + 1] = digits[packet[i] & 15];
	}
	text[2 * length] = '\0';
	puts(text);
}

/* Says what has come since the last call; how much that was. */
static unsigned int report(unsigned int index)
{
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	unsigned int count = 0;
	char name[IF_NAMESIZE];
	ssize_t length;

	while ((length = recvfrom(seen, packet, sizeof(packet), MSG_DONTWAIT,
			(struct sockaddr *)&from, &size)) >= 0) {
		size = sizeof(from);
		if (from.sll_pkttype == PACKET_OUTGOING || from.sll_hatype == ARPHRD_LOOPBACK ||
			(from.sll_protocol != htons(ETH_P_IP) &&
				from.sll_protocol != htons(ETH_P_IPV6)))
			continue;
		printf("%s packet %u %s ", batch, index,
			if_indextoname((unsigned int)from.sll_ifindex, name));
		print_hex(length);
		count++;
	}
	for (int i = 0; i < socket_count; i++) {
		while ((length = recv(sockets[i], packet, sizeof(packet), MSG_DONTWAIT)) >= 0) {
			printf("%s datagram %u ", batch, index);
			print_hex(length);
			count++;
		}
	}
	return count;
}

/* The frame as it came in is one packet, what is unpacked the second. */
static void report_settled(unsigned int index)
{
	unsigned int count = report(index);

	for (int i = 0; i < SETTLES && count < 2; i++) {
		poll(NULL, 0, SETTLE_MS);
		count += report(index);
	}
}

int main(int argc, char **argv)
{
	uint32_t head[6], record[4];
	unsigned int index = 0;
	FILE *capture;
	int tap;

	if (argc < 5) {
		fprintf(stderr, "usage: decapsulate BATCH TAP MAC FRAMES [UDP-PORT...]\n");
		return 2;
	}
	batch = argv[1];
	tap = open_tap(argv[2], argv[3]);
	open_sockets(argv + 5, argc - 5);
	capture = fopen(argv[4], "rb");
	if (!capture || fread(head, sizeof(head), 1, capture) != 1)
		give_up(argv[4]);
	while (fread(record, sizeof(record), 1, capture) == 1) {
		if (record[2] > sizeof(packet) || fread(packet, record[2], 1, capture) != 1)
			give_up("the capture ends in a frame");
		if (write(tap, packet, record[2]) != (ssize_t)record[2])
			give_up("the tap refuses a frame");
		report_settled(index++);
	}
	poll(NULL, 0, LATE_MS);
	if (report(index))
		printf("%s late\n", batch);
	return 0;
}
