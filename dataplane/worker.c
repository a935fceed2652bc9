/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker's loop: a burst from each port, what the host thread has to send, transmit, and a
 * quiescent state. A worker that finds nothing for a while sleeps, offline to RCU: where all its
 * ports can interrupt, until one does (or the host thread rings); else by naps that grow to a
 * millisecond, because a port without interrupts cannot wake it.
 */
#include "engine.h"
#include "fragment.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_pause.h>

#include <errno.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define RX_BURST	  GW_BURST_MAX
#define IDLE_POLLS	  128
#define NAPS_BRIEF	  8
#define NAP_BRIEF_US	  10
#define NAPS_SHORT	  600 /* with a wake-up each, some 50 ms */
#define NAP_SHORT_US	  80
#define NAP_LONG_US	  1000
#define INTERRUPT_WAIT_MS 10

#define NS_PER_SECOND 1000000000u

/* Once a second the clock is read again; in between the TSC tells how much of it has passed. */
static void tick(struct gw_worker *worker, uint64_t tsc)
{
	struct timespec now;

	if (likely(tsc < worker->next_second)) {
		worker->now_ns =
			worker->clock_ns + ((tsc - worker->clock_tsc) * worker->tsc_ns >> 32);
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	worker->now = (uint32_t)now.tv_sec;
	worker->now_ns = (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
	worker->clock_ns = worker->now_ns;
	worker->clock_tsc = tsc;
	worker->tsc_ns = ((uint64_t)NS_PER_SECOND << 32) / rte_get_tsc_hz();
	worker->next_second = tsc + rte_get_tsc_hz() / 1000000 *
					    ((NS_PER_SECOND - (uint64_t)now.tv_nsec) / 1000 + 1);
}

static uint32_t poll_ports(struct gw_worker *worker)
{
	const struct gw_engine *engine = worker->engine;
	struct rte_mbuf *mbufs[RX_BURST];
	uint32_t received = 0;

	for (uint16_t i = 0; i < engine->port_count; i++) {
		const struct gw_port *port = &engine->port[i];
		uint16_t count;

		if (worker->index >= port->rx_queues)
			continue;
		count = rte_eth_rx_burst(port->ethdev, (uint16_t)worker->index, mbufs, RX_BURST);
		if (!count)
			continue;
		gw_pipeline_run(worker, i, mbufs, count);
		received += count;
	}
	return received;
}

/* What the host's stack sends; such frames are outside the counters of input packets. */
static uint32_t poll_host(struct gw_worker *worker)
{
	struct rte_mbuf *mbufs[RX_BURST];
	unsigned int count =
		rte_ring_sc_dequeue_burst(worker->from_host, (void **)mbufs, RX_BURST, NULL);

	for (unsigned int i = 0; i < count; i++)
		gw_tx_push(worker, mbufs[i]->port, mbufs[i]);
	return count;
}

/*
 * Arms or disarms the interrupts of this worker's queues; false when one could not be armed. A
 * driver without a switch (tap) has its descriptor in our epoll set all the time.
 */
static bool set_interrupts(struct gw_worker *worker, bool on)
{
	const struct gw_engine *engine = worker->engine;
	uint16_t queue = (uint16_t)worker->index;
	bool done = true;

	for (uint16_t i = 0; i < engine->port_count; i++) {
		uint16_t ethdev = engine->port[i].ethdev;
		int error;

		if (worker->index >= engine->port[i].rx_queues)
			continue;
		error = on ? rte_eth_dev_rx_intr_enable(ethdev, queue)
			   : rte_eth_dev_rx_intr_disable(ethdev, queue);
		done &= error == 0 || error == -ENOTSUP;
	}
	return done;
}

static bool add_interrupts(struct gw_worker *worker)
{
	const struct gw_engine *engine = worker->engine;
	struct rte_epoll_event wake = {.epdata = {.event = EPOLLIN}};

	for (uint16_t i = 0; i < engine->port_count; i++) {
		const struct gw_port *port = &engine->port[i];

		if (worker->index >= port->rx_queues)
			continue;
		if (!port->rx_interrupts ||
			rte_eth_dev_rx_intr_ctl_q(port->ethdev, (uint16_t)worker->index,
				RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL) != 0)
			return false;
	}
	worker->wake_event = wake;
	return rte_epoll_ctl(RTE_EPOLL_PER_THREAD, EPOLL_CTL_ADD, worker->wake_fd,
		       &worker->wake_event) == 0;
}

/* Until a port or the host thread rings. True when one did. */
static bool wait_interrupt(struct gw_worker *worker)
{
	struct rte_epoll_event events[GW_PORTS_MAX + 1];
	uint64_t rings;
	int count =
		rte_epoll_wait(RTE_EPOLL_PER_THREAD, events, GW_PORTS_MAX + 1, INTERRUPT_WAIT_MS);

	if (read(worker->wake_fd, &rings, sizeof(rings)) < 0)
		rte_pause(); /* not the host thread */
	return count > 0;
}

/* Short at first: a request's next packet is often less than 50 ms away. Then longer. */
static void nap(uint32_t naps)
{
	long us = naps < NAPS_BRIEF ? NAP_BRIEF_US : naps < NAPS_SHORT ? NAP_SHORT_US : NAP_LONG_US;

	nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

/* Sleeps, offline to RCU. Returns how many empty polls count from now on. */
static uint32_t sleep_idle(struct gw_worker *worker, uint32_t idle, bool interrupts)
{
	struct rte_rcu_qsbr *rcu = worker->engine->rcu;

	__atomic_store_n(&worker->stats.asleep, 1, __ATOMIC_SEQ_CST);
	rte_rcu_qsbr_thread_offline(rcu, worker->index);
	if (!interrupts)
		nap(idle - IDLE_POLLS);
	else if (wait_interrupt(worker))
		idle = 0;
	rte_rcu_qsbr_thread_online(rcu, worker->index);
	__atomic_store_n(&worker->stats.asleep, 0, __ATOMIC_SEQ_CST);
	return idle;
}

static uint32_t poll_all(struct gw_worker *worker)
{
	uint32_t work = poll_ports(worker);

	work += poll_host(worker);
	if (unlikely(worker->hold->count))
		work += gw_fragment_poll(worker);
	gw_tx_flush(worker);
	rte_rcu_qsbr_quiescent(worker->engine->rcu, worker->index);
	return work;
}

/*
 * One empty poll more: sleeps when there were enough of them. With interrupts the ports are polled
 * once between arming and sleeping, or a frame that came just before would wait for the time-out.
 */
static uint32_t rest(struct gw_worker *worker, uint32_t idle, bool interrupts)
{
	if (++idle < IDLE_POLLS || worker->busy_poll)
		return idle;
	if (!interrupts)
		return sleep_idle(worker, idle, false);
	if (!set_interrupts(worker, true))
		return sleep_idle(worker, idle, false);
	idle = poll_all(worker) ? 0 : sleep_idle(worker, idle, true);
	set_interrupts(worker, false);
	return idle;
}

int gw_worker_run(void *arg)
{
	struct gw_worker *worker = arg;
	struct rte_rcu_qsbr *rcu = worker->engine->rcu;
	bool interrupts = !worker->busy_poll && add_interrupts(worker);
	uint64_t last = rte_rdtsc();
	uint32_t idle = 0;

	/* Naps as short as asked for: the default slack of 50 us would double most of them. */
	prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0);
	rte_rcu_qsbr_thread_register(rcu, worker->index);
	rte_rcu_qsbr_thread_online(rcu, worker->index);
	while (!__atomic_load_n(&worker->stop, __ATOMIC_RELAXED)) {
		uint32_t work;
		uint64_t now;

		tick(worker, last);
		work = poll_all(worker);
		idle = work ? 0 : rest(worker, idle, interrupts);
		now = rte_rdtsc();
		gw_count(&worker->stats.total_cycles, now - last);
		if (work)
			gw_count(&worker->stats.busy_cycles, now - last);
		last = now;
	}
	rte_rcu_qsbr_thread_offline(rcu, worker->index);
	rte_rcu_qsbr_thread_unregister(rcu, worker->index);
	return 0;
}
