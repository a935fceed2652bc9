/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for guideway-control where only the packet path is measured: connects to a dataplane,
 * puts one snapshot in force (one pool, one TCP service on port 80 of 203.0.113.10 and
 * 2001:db8:113::10, next hops resolved on port 0) and then prints, every second, what the
 * statistics say. The table's slots are spread by a hash; it is no Maglev table.
 */
#include "abi/dataplane_socket.h"
#include "unit/dp_image.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define TABLE_SIZE 65537u

struct options {
	const char *socket;
	uint32_t backends;
	unsigned int seconds;
};

static void fail(const char *what)
{
	fprintf(stderr, "snapshot_load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	for (int tries = 0; connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0;
		tries++) {
		if (tries == 100)
			fail(path);
		usleep(100000);
	}
	return fd;
}

/* One message, and the descriptor that comes with it (else -1). */
static void receive(int fd, void *message, size_t size, int *passed)
{
	struct iovec io = {message, size};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} ancillary;
	struct msghdr header = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &ancillary,
		.msg_controllen = sizeof(ancillary)};

	if (recvmsg(fd, &header, MSG_CMSG_CLOEXEC) <= 0)
		fail("the dataplane closed the connection");
	*passed = -1;
	if (CMSG_FIRSTHDR(&header))
		memcpy(passed, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(*passed));
}

static int make_snapshot(const struct options *options, uint64_t version)
{
	uint32_t count = options->backends;
	uint32_t *members = calloc(count, sizeof(*members));
	uint16_t *slots = calloc(TABLE_SIZE, sizeof(*slots));
	struct gw_backend *backends = aligned_alloc(GW_CACHE_LINE, count * sizeof(*backends));
	struct gw_next_hop *hops = calloc(count, sizeof(*hops));
	struct gw_vip vips[] = {image_vip("203.0.113.10", 128), image_vip("2001:db8:113::10", 128)};
	const struct gw_service service = {.pool = 0};
	const struct gw_span span = {80, 80, 0};
	struct gw_snapshot_header *image;
	int fd;

	if (!members || !slots || !backends || !hops)
		fail("memory");
	for (uint32_t i = 0; i < count; i++) {
		char address[32];

		snprintf(address, sizeof(address), "10.%u.%u.%u", 82 + (i >> 16), i >> 8 & 255,
			i & 255);
		members[i] = i;
		backends[i] = image_backend(0, i, "10.81.0.11", address);
		hops[i] = image_next_hop(address);
	}
	for (uint32_t i = 0; i < TABLE_SIZE; i++)
		slots[i] = (uint16_t)(XXH3_64bits(&i, sizeof(i)) % count);
	vips[0].tcp = vips[1].tcp = (struct gw_span_run){0, 1};
	const struct image_pool pool = {.table_size = TABLE_SIZE,
		.members = members,
		.member_count = count,
		.slots = slots,
		.digest = 1};
	image = image_make(&(struct image_spec){.version = version,
		.pools = &pool,
		.pool_count = 1,
		.services = &service,
		.service_count = 1,
		.vips = vips,
		.vip_count = 2,
		.spans = &span,
		.span_count = 1,
		.backends = backends,
		.backend_count = count,
		.next_hops = hops,
		.next_hop_count = count});
	fd = image_memfd(image, image->total_size, IMAGE_SEALS);
	free(image);
	free(hops);
	free(backends);
	free(slots);
	free(members);
	return fd;
}

static void send_snapshot(int connection, int snapshot, uint64_t version)
{
	static struct gw_message_snapshot_reply reply;
	struct gw_message_snapshot message = {
		.head = {GW_MESSAGE_MAGIC, GW_MESSAGE_ABI, GW_MESSAGE_SNAPSHOT, sizeof(message), 1},
		.version = version};
	struct iovec io = {&message, sizeof(message)};
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} ancillary = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr header = {.msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = &ancillary,
		.msg_controllen = sizeof(ancillary)};
	int passed;

	memcpy(CMSG_DATA(&ancillary.head), &snapshot, sizeof(snapshot));
	if (sendmsg(connection, &header, MSG_NOSIGNAL) < 0)
		fail("sending the snapshot");
	receive(connection, &reply, sizeof(reply), &passed);
	if (reply.result != GW_SNAPSHOT_IN_FORCE) {
		fprintf(stderr, "snapshot_load: refused: %s\n", reply.text);
		exit(1);
	}
}

/* Fresh sums, and the cycles of worker 0 that had packets. */
static struct gw_counters read_counters(
	int connection, const struct gw_stats *stats, uint64_t *busy, double *when)
{
	struct gw_message ask = {
		GW_MESSAGE_MAGIC, GW_MESSAGE_ABI, GW_MESSAGE_STATS_GET, sizeof(ask), 2};
	const struct gw_worker_stats *workers =
		(const void *)((const uint8_t *)stats + stats->workers.offset);
	int passed;

	if (send(connection, &ask, sizeof(ask), MSG_NOSIGNAL) < 0)
		fail("asking for statistics");
	receive(connection, &ask, sizeof(ask), &passed);
	*busy = workers[0].busy_cycles;
	*when = (double)stats->updated_ns / 1e9;
	return stats->counters;
}

/* One JSON line a second: rates of that second. */
static void report(int connection, const struct gw_stats *stats, unsigned int seconds)
{
	uint64_t busy, busy_before;
	double when, before;
	struct gw_counters last = read_counters(connection, stats, &busy_before, &before);

	for (unsigned int i = 0; i < seconds; i++) {
		struct gw_counters now;
		double span, packets;

		sleep(1);
		now = read_counters(connection, stats, &busy, &when);
		span = when - before;
		packets = (double)(now.rx - last.rx);
		printf("{\"rx_mpps\": %.4f, \"tx_mpps\": %.4f, \"cycles_per_packet\": %.1f, "
		       "\"new_flows\": %llu, \"untracked\": %llu, \"tx_full\": %llu, "
		       "\"not_tx\": %llu, \"not_tx_ever\": %llu}\n",
			packets / span / 1e6, (double)(now.tx - last.tx) / span / 1e6,
			packets > 0 ? (double)(busy - busy_before) / packets : 0.0,
			(unsigned long long)(now.flows_new - last.flows_new),
			(unsigned long long)(now.untracked - last.untracked),
			(unsigned long long)(now.tx_full - last.tx_full),
			(unsigned long long)(now.rx - last.rx - (now.tx - last.tx)),
			(unsigned long long)(now.rx - now.tx));
		fflush(stdout);
		last = now;
		busy_before = busy;
		before = when;
	}
}

static int usage(void)
{
	fputs("Usage: snapshot_load [--socket PATH] [--backends N] [--seconds N]\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {{"socket", required_argument, NULL, 's'},
		{"backends", required_argument, NULL, 'b'},
		{"seconds", required_argument, NULL, 't'}, {}};
	struct options options = {.socket = GW_DATAPLANE_SOCKET, .backends = 100, .seconds = 5};
	static struct gw_message_hello hello;
	struct gw_stats *stats;
	int option, connection, snapshot, passed;

	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (option == 's')
			options.socket = optarg;
		else if (option == 'b')
			options.backends = (uint32_t)atoi(optarg);
		else if (option == 't')
			options.seconds = (unsigned int)atoi(optarg);
		else
			return usage();
	}
	if (optind < argc || options.backends < 1 || options.backends > GW_MAX_POOL_MEMBERS)
		return usage();
	connection = connect_to(options.socket);
	receive(connection, &hello, sizeof(hello), &passed);
	stats = mmap(NULL, 8u << 20, PROT_READ, MAP_SHARED, passed, 0);
	if (stats == MAP_FAILED)
		fail("the statistics' memory");
	snapshot = make_snapshot(&options, hello.snapshot_version + 1);
	send_snapshot(connection, snapshot, hello.snapshot_version + 1);
	report(connection, stats, options.seconds);
	return 0;
}
