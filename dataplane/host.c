/* SPDX-License-Identifier: BSD-2-Clause */
#include "host.h"

#include "base/log.h"
#include "base/resolver.h"
#include "engine.h"
#include "neighbour.h"
#include "tap.h"

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define BURST	    32
#define TAP_POLL_MS 1
#define LINK_TICKS  5 /* the ports' links are looked at every so many ticks */
#define EVENTS	    (GW_PORTS_MAX + 3)

struct gw_host {
	struct gw_engine *engine;
	struct gw_neighbours *neighbours;
	pthread_t thread;
	bool stop;
	bool has_taps;
	int epoll;
	int timer;
	int wake;
	uint32_t ticks;
	int tap[GW_PORTS_MAX]; /* by port index; -1: the port has none */
};

/* ---- taps */

static bool on_a_bus(const struct gw_port *port)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(port->ethdev, &info) == 0 && info.device &&
	       strcmp(rte_bus_name(rte_dev_bus(info.device)), "vdev") != 0;
}

/* A real NIC, or a port whose kernel interface was named but is not there. */
static bool wants_tap(const struct gw_port *port)
{
	if (port->kernel_has_copy)
		return false;
	if (port->kernel[0])
		return if_nametoindex(port->kernel) == 0;
	return on_a_bus(port);
}

static int open_tap(struct gw_host *host, struct gw_port *port)
{
	int fd, error;

	if (!port->kernel[0])
		snprintf(port->kernel, sizeof(port->kernel), "gw%u", port->index);
	fd = gw_tap_open(port->kernel, &port->mac, port->mtu);
	if (fd < 0) {
		gw_log_error("port %s: tap %s: %s", port->name, port->kernel, strerror(-fd));
		return fd;
	}
	host->tap[port->index] = fd;
	host->has_taps = true;
	/*
	 * Neighbour solicitations, router advertisements and routing protocols come by multicast,
	 * which a NIC filters unless asked. Drivers without that filter refuse, and pass it anyway.
	 */
	error = rte_eth_allmulticast_enable(port->ethdev);
	if (error && error != -ENOTSUP)
		gw_log_warning(
			"port %s: takes no multicast (%s): IPv6 and routing protocols on %s may "
			"not work",
			port->name, strerror(-error), port->kernel);
	gw_log_info("port %s: its kernel interface is the tap %s", port->name, port->kernel);
	return 0;
}

static int open_taps(struct gw_host *host)
{
	int error = 0;

	for (uint16_t i = 0; i < host->engine->port_count && !error; i++)
		if (wants_tap(&host->engine->port[i]))
			error = open_tap(host, &host->engine->port[i]);
		else if (!host->engine->port[i].kernel_has_copy)
			host->engine->port[i].no_host_path = true;
	return error;
}

/* ---- frames */

/* By the ethdev that received the frame. */
static int tap_of(const struct gw_host *host, uint16_t ethdev)
{
	for (uint16_t i = 0; i < host->engine->port_count; i++)
		if (host->engine->port[i].ethdev == ethdev)
			return host->tap[i];
	return -1;
}

static void write_frame(struct gw_host *host, struct rte_mbuf *mbuf)
{
	static uint8_t whole[GW_SCRATCH_SIZE];
	int fd = tap_of(host, mbuf->port);
	const void *bytes;

	if (fd < 0 || mbuf->pkt_len > sizeof(whole))
		return;
	bytes = rte_pktmbuf_read(mbuf, 0, mbuf->pkt_len, whole);
	/* A tap that is down or full drops, as a NIC's queue would. */
	if (bytes && write(fd, bytes, mbuf->pkt_len) < 0)
		return;
}

static void drain_rings(struct gw_host *host)
{
	struct rte_mbuf *mbufs[BURST];

	for (uint16_t w = 0; w < host->engine->worker_count; w++) {
		struct rte_ring *ring = host->engine->worker[w]->to_host;
		unsigned int count;

		while ((count = rte_ring_sc_dequeue_burst(ring, (void **)mbufs, BURST, NULL)) > 0) {
			for (unsigned int i = 0; i < count; i++)
				write_frame(host, mbufs[i]);
			rte_pktmbuf_free_bulk(mbufs, count);
		}
	}
}

static void wake_worker(struct gw_worker *worker)
{
	uint64_t one = 1;

	if (__atomic_load_n(&worker->stats.asleep, __ATOMIC_SEQ_CST) &&
		write(worker->wake_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		gw_log_debug("worker %u: cannot be woken: %s", worker->index, strerror(errno));
}

/* What the kernel sends on a port's tap, to the first worker: its queue transmits for the host. */
static void read_tap(struct gw_host *host, uint16_t port)
{
	struct gw_worker *worker = host->engine->worker[0];

	for (int i = 0; i < BURST; i++) {
		struct rte_mbuf *mbuf = rte_pktmbuf_alloc(host->engine->pool);
		ssize_t length;

		if (!mbuf)
			return;
		length = read(host->tap[port], rte_pktmbuf_mtod(mbuf, void *),
			rte_pktmbuf_tailroom(mbuf));
		if (length > 0) {
			mbuf->pkt_len = (uint32_t)length;
			mbuf->data_len = (uint16_t)length;
			mbuf->port = port;
		}
		if (length <= 0 || rte_ring_sp_enqueue(worker->from_host, mbuf) != 0) {
			rte_pktmbuf_free(mbuf);
			break;
		}
	}
	wake_worker(worker);
}

/* ---- the thread */

static void look_at_links(struct gw_host *host)
{
	for (uint16_t i = 0; i < host->engine->port_count; i++) {
		struct gw_port *port = &host->engine->port[i];
		struct rte_eth_link link;
		bool up;

		if (rte_eth_link_get_nowait(port->ethdev, &link) != 0)
			continue;
		up = link.link_status == RTE_ETH_LINK_UP;
		if (up != port->link_up)
			gw_log_warning("port %s: link %s -> %s", port->name, up ? "down" : "up",
				up ? "up" : "down");
		__atomic_store_n(&port->link_up, up, __ATOMIC_RELAXED);
	}
}

static void on_timer(struct gw_host *host)
{
	uint64_t times;

	if (read(host->timer, &times, sizeof(times)) != sizeof(times))
		return;
	gw_neighbours_tick(host->neighbours);
	if (++host->ticks % LINK_TICKS == 0)
		look_at_links(host);
}

static void on_event(struct gw_host *host, int fd)
{
	uint64_t times;

	if (fd == host->timer) {
		on_timer(host);
	} else if (fd == host->wake) {
		if (read(host->wake, &times, sizeof(times)) == sizeof(times))
			gw_neighbours_tick(host->neighbours);
	} else if (fd == gw_neighbours_fd(host->neighbours)) {
		gw_neighbours_process(host->neighbours);
	} else {
		for (uint16_t i = 0; i < host->engine->port_count; i++)
			if (host->tap[i] == fd)
				read_tap(host, i);
	}
}

static void *run(void *arg)
{
	struct gw_host *host = arg;

	while (!__atomic_load_n(&host->stop, __ATOMIC_RELAXED)) {
		struct epoll_event events[EVENTS];
		int count =
			epoll_wait(host->epoll, events, EVENTS, host->has_taps ? TAP_POLL_MS : -1);

		for (int i = 0; i < count; i++)
			on_event(host, events[i].data.fd);
		drain_rings(host);
	}
	return NULL;
}

static int watch(struct gw_host *host, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(host->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_loop(struct gw_host *host)
{
	struct timespec tick = {.tv_nsec = GW_RESOLVER_TICK_MS * 1000000L};
	struct itimerspec every = {.it_interval = tick, .it_value = tick};
	int error;

	host->epoll = epoll_create1(EPOLL_CLOEXEC);
	host->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	host->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (host->epoll < 0 || host->timer < 0 || host->wake < 0 ||
		timerfd_settime(host->timer, 0, &every, NULL) < 0)
		return -errno;
	error = watch(host, host->timer);
	if (!error)
		error = watch(host, host->wake);
	if (!error)
		error = watch(host, gw_neighbours_fd(host->neighbours));
	for (uint16_t i = 0; i < host->engine->port_count && !error; i++)
		if (host->tap[i] >= 0)
			error = watch(host, host->tap[i]);
	return error;
}

static void close_all(struct gw_host *host)
{
	int fds[] = {host->epoll, host->timer, host->wake};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	for (uint16_t i = 0; i < GW_PORTS_MAX; i++)
		if (host->tap[i] >= 0)
			close(host->tap[i]);
	gw_neighbours_close(host->neighbours);
	free(host);
}

int gw_host_start(struct gw_engine *engine, struct gw_host **out)
{
	struct gw_host *host = calloc(1, sizeof(*host));
	int error;

	if (!host)
		return -ENOMEM;
	host->engine = engine;
	host->epoll = host->timer = host->wake = -1;
	for (uint16_t i = 0; i < GW_PORTS_MAX; i++)
		host->tap[i] = -1;
	error = open_taps(host);
	if (!error)
		error = gw_neighbours_open(engine, &host->neighbours);
	if (!error)
		error = open_loop(host);
	if (!error)
		error = -pthread_create(&host->thread, NULL, run, host);
	if (error) {
		gw_log_error("host thread: %s", strerror(-error));
		close_all(host);
		return error;
	}
	pthread_setname_np(host->thread, "gw-host");
	*out = host;
	return 0;
}

void gw_host_wake(struct gw_host *host)
{
	uint64_t one = 1;

	if (host && write(host->wake, &one, sizeof(one)) < 0)
		gw_log_debug("host thread: already woken");
}

void gw_host_stop(struct gw_host *host)
{
	if (!host)
		return;
	__atomic_store_n(&host->stop, true, __ATOMIC_RELAXED);
	gw_host_wake(host);
	pthread_join(host->thread, NULL);
	close_all(host);
}
