/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Echo requests (RFC 792, RFC 4443). One raw socket a family is shared: every raw socket is handed
 * a copy of every answer, so that a socket a probe would cost the square of the backends. An
 * answer finds its probe by the sequence number, an index into `waiting`, and must bring back the
 * identifier and eight random bytes, from the address that was asked.
 */
#include "check_icmp.h"

#include "abi/types.h"
#include "base/address.h"
#include "check_deadline.h"
#include "check_socket.h"

#include <errno.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define PROBES_MAX 65536
#define COOKIE	   8
#define PACKET	   (8 + COOKIE)
#define ANSWER_MAX 2048
#define READS_MAX  256 /* in one go, so that others have their turn */

/* linux/icmpv6.h has the layout of the filter only for the kernel: one bit a type, set: blocked. */
#define ICMP6_FILTER_OPTION 1

struct pinger_family {
	struct gw_check_pinger *pinger;
	uv_poll_t *poll; /* NULL: not open; own memory, it closes after the pinger is freed */
	int fd;
	bool ipv4;
};

struct probe_icmp {
	struct gw_probe probe;
	struct gw_check_pinger *pinger;
	struct check_deadline deadline;
	gw_check_done *done;
	void *owner;
	uint16_t sequence;
	uint8_t address[16];
	uint8_t packet[PACKET];
};

struct gw_check_pinger {
	uv_loop_t *loop;
	struct pinger_family families[2]; /* 0: IPv4 */
	uint16_t identifier;
	uint16_t next;
	struct probe_icmp *waiting[PROBES_MAX];
};

int gw_check_pinger_new(uv_loop_t *loop, struct gw_check_pinger **out)
{
	struct gw_check_pinger *pinger = calloc(1, sizeof(*pinger));

	if (!pinger)
		return -ENOMEM;
	pinger->loop = loop;
	pinger->identifier = (uint16_t)getpid();
	for (int i = 0; i < 2; i++)
		pinger->families[i] =
			(struct pinger_family){.pinger = pinger, .fd = -1, .ipv4 = !i};
	*out = pinger;
	return 0;
}

static void poll_closed(uv_handle_t *handle)
{
	free(handle);
}

void gw_check_pinger_free(struct gw_check_pinger *pinger)
{
	for (int i = 0; pinger && i < 2; i++) {
		struct pinger_family *family = &pinger->families[i];

		if (!family->poll)
			continue;
		uv_close((uv_handle_t *)family->poll, poll_closed);
		close(family->fd);
	}
	free(pinger);
}

static void probe_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void probe_close(struct probe_icmp *probe)
{
	probe->pinger->waiting[probe->sequence] = NULL;
	uv_close((uv_handle_t *)&probe->deadline.timer, probe_closed);
}

static void time_is_up(struct check_deadline *deadline)
{
	struct probe_icmp *probe = deadline->timer.data;
	struct gw_check_outcome outcome = {.success = false};

	snprintf(outcome.text, sizeof(outcome.text), "no echo in %u ms", deadline->timeout_ms);
	probe_close(probe);
	probe->done(probe->owner, &outcome);
}

/* The ICMP message of `size` bytes at `data` came from `address`. */
static void answer_take(struct pinger_family *family, const uint8_t address[static 16],
	const uint8_t *data, size_t size)
{
	struct gw_check_outcome outcome = {.success = true, .text = "echoed"};
	struct gw_check_pinger *pinger = family->pinger;
	struct probe_icmp *probe;
	uint16_t sequence;

	if (size < PACKET || data[0] != (family->ipv4 ? ICMP_ECHOREPLY : ICMPV6_ECHO_REPLY))
		return;
	sequence = (uint16_t)(data[6] << 8 | data[7]);
	probe = pinger->waiting[sequence];
	/* Identifier, sequence number and cookie are as they were sent. */
	if (!probe || memcmp(probe->packet + 4, data + 4, PACKET - 4) ||
		memcmp(probe->address, address, 16))
		return;
	probe_close(probe);
	probe->done(probe->owner, &outcome);
}

static void answers_ready(uv_poll_t *poll, int status, int events)
{
	struct pinger_family *family = poll->data;
	uint8_t data[ANSWER_MAX];

	for (int i = 0; i < READS_MAX; i++) {
		struct sockaddr_storage from;
		socklen_t length = sizeof(from);
		ssize_t size = recvfrom(family->fd, data, sizeof(data), MSG_DONTWAIT,
			(struct sockaddr *)&from, &length);
		struct gw_address address = {0};
		size_t header = 0;

		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return; /* empty, or an error that reading it has cleared */
		if (family->ipv4) {
			header = size ? (size_t)(data[0] & 0x0f) * 4 : 0; /* raw IPv4 has it */
			gw_address_set_ipv4(
				&address, (uint8_t *)&((struct sockaddr_in *)&from)->sin_addr);
		} else {
			memcpy(address.bytes, &((struct sockaddr_in6 *)&from)->sin6_addr, 16);
		}
		if ((size_t)size >= header)
			answer_take(family, address.bytes, data + header, (size_t)size - header);
	}
}

/* Echo replies are all that the kernel need hand us. */
static void filter_set(const struct pinger_family *family)
{
	struct icmp_filter only = {.data = ~(1u << ICMP_ECHOREPLY)};
	uint32_t only6[8];

	memset(only6, 0xff, sizeof(only6));
	only6[ICMPV6_ECHO_REPLY >> 5] &= ~(1u << (ICMPV6_ECHO_REPLY & 31));
	if (family->ipv4)
		setsockopt(family->fd, SOL_RAW, ICMP_FILTER, &only, sizeof(only));
	else
		setsockopt(family->fd, IPPROTO_ICMPV6, ICMP6_FILTER_OPTION, only6, sizeof(only6));
}

static int family_open(struct pinger_family *family)
{
	const int room = 1 << 20;
	int ret;

	if (family->poll)
		return 0;
	family->fd =
		socket(family->ipv4 ? AF_INET : AF_INET6, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC,
			family->ipv4 ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	if (family->fd < 0)
		return -errno;
	filter_set(family);
	setsockopt(family->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	family->poll = calloc(1, sizeof(*family->poll));
	ret = family->poll ? uv_poll_init(family->pinger->loop, family->poll, family->fd) : -ENOMEM;
	if (ret) {
		free(family->poll);
		family->poll = NULL;
		close(family->fd);
		return ret;
	}
	family->poll->data = family;
	uv_poll_start(family->poll, UV_READABLE, answers_ready);
	uv_unref((uv_handle_t *)family->poll); /* waits for nothing while no probe is under way */
	return 0;
}

static uint16_t checksum(const uint8_t *data, size_t length)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < length; i += 2)
		sum += (uint32_t)data[i] << 8 | data[i + 1];
	sum = (sum >> 16) + (sum & 0xffff);
	return (uint16_t) ~((sum >> 16) + sum);
}

static void packet_make(struct probe_icmp *probe, bool ipv4)
{
	uint16_t sum, identifier = probe->pinger->identifier;

	probe->packet[0] = ipv4 ? ICMP_ECHO : ICMPV6_ECHO_REQUEST;
	probe->packet[4] = (uint8_t)(identifier >> 8);
	probe->packet[5] = (uint8_t)identifier;
	probe->packet[6] = (uint8_t)(probe->sequence >> 8);
	probe->packet[7] = (uint8_t)probe->sequence;
	if (getrandom(probe->packet + 8, COOKIE, GRND_NONBLOCK) != COOKIE) {
		uint64_t now = uv_hrtime();

		memcpy(probe->packet + 8, &now, COOKIE);
	}
	if (!ipv4)
		return; /* the kernel writes the checksum of ICMPv6 */
	sum = checksum(probe->packet, PACKET);
	probe->packet[2] = (uint8_t)(sum >> 8);
	probe->packet[3] = (uint8_t)sum;
}

static size_t control_add(
	struct msghdr *message, size_t used, int level, int type, const void *data, size_t size)
{
	struct cmsghdr *header = (struct cmsghdr *)((char *)message->msg_control + used);

	header->cmsg_level = level;
	header->cmsg_type = type;
	header->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(header), data, size);
	return used + CMSG_SPACE(size);
}

/* Mark and source go with each packet, since the socket is shared. */
static int packet_send(const struct pinger_family *family, struct probe_icmp *probe,
	const struct gw_check_target *target)
{
	char control[128] __attribute__((aligned(8))) = {0};
	struct iovec data = {.iov_base = probe->packet, .iov_len = PACKET};
	struct sockaddr_storage to;
	struct msghdr message = {.msg_name = &to,
		.msg_namelen = gw_check_sockaddr(target->address, 0, &to),
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control};
	struct in_pktinfo info = {0};
	struct in6_pktinfo info6 = {0};
	size_t used = 0;

	if (target->mark)
		used = control_add(
			&message, used, SOL_SOCKET, SO_MARK, &target->mark, sizeof(target->mark));
	if (target->source && family->ipv4) {
		memcpy(&info.ipi_spec_dst, target->source + 12, 4);
		used = control_add(&message, used, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else if (target->source) {
		memcpy(&info6.ipi6_addr, target->source, 16);
		used = control_add(
			&message, used, IPPROTO_IPV6, IPV6_PKTINFO, &info6, sizeof(info6));
	}
	message.msg_controllen = used;
	if (!used)
		message.msg_control = NULL;
	return sendmsg(family->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* A sequence number that is free; -EAGAIN when all are taken. */
static int sequence_take(struct gw_check_pinger *pinger, struct probe_icmp *probe)
{
	for (int i = 0; i < PROBES_MAX; i++) {
		uint16_t sequence = pinger->next++;

		if (pinger->waiting[sequence])
			continue;
		pinger->waiting[sequence] = probe;
		probe->sequence = sequence;
		return 0;
	}
	return -ENOBUFS;
}

static int icmp_start(struct gw_checker *checker, const struct gw_check_target *target,
	gw_check_done *done, void *owner, struct gw_probe **out)
{
	struct gw_check_pinger *pinger = gw_checker_pinger(checker);
	bool ipv4 = gw_address_is_ipv4((const struct gw_address *)target->address);
	struct pinger_family *family = &pinger->families[!ipv4];
	struct probe_icmp *probe;
	int ret = family_open(family);

	if (ret)
		return ret;
	probe = calloc(1, sizeof(*probe));
	if (!probe)
		return -ENOMEM;
	*probe = (struct probe_icmp){
		.probe.ops = &gw_check_icmp, .pinger = pinger, .done = done, .owner = owner};
	memcpy(probe->address, target->address, 16);
	ret = sequence_take(pinger, probe);
	if (ret) {
		free(probe);
		return ret;
	}
	packet_make(probe, ipv4);
	check_deadline_start(pinger->loop, &probe->deadline, target->check->timeout_ms, time_is_up);
	probe->deadline.timer.data = probe;
	ret = packet_send(family, probe, target);
	if (ret) {
		probe_close(probe);
		return ret;
	}
	*out = &probe->probe;
	return 0;
}

static void icmp_cancel(struct gw_probe *base)
{
	probe_close((struct probe_icmp *)base);
}

const struct gw_check_ops gw_check_icmp = {
	.start = icmp_start,
	.cancel = icmp_cancel,
};
