/* SPDX-License-Identifier: BSD-2-Clause */
#include "generator.h"

#include "bench/frames/frames.h"
#include "eal.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

#include <errno.h>
#include <stdio.h>

#define DESCRIPTORS 1024
#define BUFFERS	    8191 /* of each pool */
#define CACHE	    256
#define MEGABYTES   192
#define PAYLOAD	    0x5a /* bench_frame_write's */

static struct generator generator;

/* Buffers to send from: the payload is in them once and for all, for whoever frees them does not
 * change it. */
static int make_send_pool(char message[BENCH_MESSAGE])
{
	struct rte_mbuf **mbufs = calloc(BUFFERS, sizeof(*mbufs));

	generator.send_pool = rte_pktmbuf_pool_create(
		"send", BUFFERS, CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	if (!mbufs || !generator.send_pool ||
		rte_pktmbuf_alloc_bulk(generator.send_pool, mbufs, BUFFERS) != 0) {
		free(mbufs);
		snprintf(message, BENCH_MESSAGE, "the generator has no memory for frames");
		return -ENOMEM;
	}
	for (int i = 0; i < BUFFERS; i++)
		memset(rte_pktmbuf_mtod(mbufs[i], void *), PAYLOAD, rte_pktmbuf_tailroom(mbufs[i]));
	rte_pktmbuf_free_bulk(mbufs, BUFFERS);
	free(mbufs);
	return 0;
}

/* As many queues as the subject has, where no hardware spreads what one queue sends. */
static uint16_t count_queues(const struct rte_eth_dev_info *info)
{
	uint32_t workers = generator.setup.what.workers;

	if (strcmp(info->driver_name, "net_memif") != 0 || workers < 1)
		return 1;
	return (uint16_t)(workers < GENERATOR_QUEUES ? workers : GENERATOR_QUEUES);
}

static int set_queues(uint16_t ethdev, uint16_t queues)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create(
		"receive", BUFFERS, CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
	struct rte_eth_conf conf = {};
	uint16_t receive = DESCRIPTORS, send = DESCRIPTORS;
	int socket = rte_eth_dev_socket_id(ethdev);
	int error = pool ? rte_eth_dev_configure(ethdev, queues, queues, &conf) : -ENOMEM;

	if (!error)
		error = rte_eth_dev_adjust_nb_rx_tx_desc(ethdev, &receive, &send);
	for (uint16_t i = 0; i < queues && !error; i++)
		error = rte_eth_rx_queue_setup(
			ethdev, i, receive, (unsigned int)socket, NULL, pool);
	for (uint16_t i = 0; i < queues && !error; i++)
		error = rte_eth_tx_queue_setup(ethdev, i, send, (unsigned int)socket, NULL);
	return error;
}

static int open_port(const char *name, struct bench_port_facts *facts, char message[BENCH_MESSAGE])
{
	struct rte_eth_dev_info info;
	int error = rte_eth_dev_get_port_by_name(name, &generator.ethdev);

	if (error) {
		snprintf(message, BENCH_MESSAGE,
			"DPDK knows no port %.64s: is it bound to a driver of DPDK's "
			"(dpdk-devbind.py -s), or the name of a virtual device?",
			name);
		return -ENODEV;
	}
	error = rte_eth_dev_info_get(generator.ethdev, &info);
	if (!error) {
		generator.queues = count_queues(&info);
		error = set_queues(generator.ethdev, generator.queues);
	}
	if (!error && bench_port_widen(generator.ethdev, &generator.setup.what, &generator.mtu,
			      message) != 0)
		return -EINVAL;
	if (!error)
		error = rte_eth_dev_start(generator.ethdev);
	if (error) {
		snprintf(message, BENCH_MESSAGE, "the generator's port %.64s does not start: %s",
			name, rte_strerror(-error));
		return error;
	}
	/* What comes back goes to the backends' next hop. A port without the switch takes all. */
	rte_eth_promiscuous_enable(generator.ethdev);
	if (!bench_port_wait(generator.ethdev)) {
		snprintf(message, BENCH_MESSAGE,
			"the generator's port %.64s has no link: is its other end up?", name);
		return -ENOTCONN;
	}
	bench_port_describe(generator.ethdev, facts);
	return 0;
}

static void set_frames(void)
{
	generator.frames =
		(struct bench_frames){.what = &generator.setup.what, .source_mac = BENCH_OTHER_MAC};
	memcpy(generator.frames.destination_mac, generator.setup.balancer_mac, 6);
}

static int open_generator(struct bench_answer *answer)
{
	char name[BENCH_PORT_TEXT];
	int error = bench_eal_start(&generator.setup, "generator", generator.setup.cpu, 0,
		MEGABYTES, name, answer->message);

	if (error)
		return error;
	set_frames();
	error = make_send_pool(answer->message);
	if (!error && generator_slots_make(&generator) != 0) {
		snprintf(answer->message, BENCH_MESSAGE, "no memory for the frames of %llu flows",
			(unsigned long long)generator.setup.what.flows);
		error = -ENOMEM;
	}
	return error ? error : open_port(name, &answer->port, answer->message);
}

/* A port without counters has none that grow. */
static void count_port(struct rte_eth_stats *stats)
{
	if (rte_eth_stats_get(generator.ethdev, stats) != 0)
		*stats = (struct rte_eth_stats){};
}

static void answer_ask(const struct bench_ask *ask)
{
	static struct bench_answer answer;
	struct rte_eth_stats before, now;

	memset(&answer, 0, sizeof(answer));
	count_port(&before);
	switch (ask->kind) {
	case BENCH_ASK_PRIME:
		generator_prime(&generator, &answer.generated);
		break;
	case BENCH_ASK_TRIAL:
		generator_trial(&generator, ask->subject, &ask->trial, &answer.generated);
		break;
	default:
		answer.error = -EINVAL;
		snprintf(answer.message, sizeof(answer.message), "not for the generator");
	}
	if (!answer.error) {
		count_port(&now);
		answer.generated.port_sent = now.opackets - before.opackets;
		answer.generated.port_received = now.ipackets - before.ipackets;
		answer.generated.port_missed = now.imissed - before.imissed;
	}
	bench_child_answer(&answer);
}

int bench_generator_main(void)
{
	static struct bench_answer answer;
	struct bench_ask ask;

	if (bench_child_setup(&generator.setup))
		return 2;
	answer.error = open_generator(&answer);
	bench_child_answer(&answer);
	while (!answer.error && bench_child_ask(&ask, -1) == 0)
		answer_ask(&ask);
	if (generator.queues) {
		rte_eth_dev_stop(generator.ethdev);
		bench_port_restore(generator.ethdev, generator.mtu);
		rte_eth_dev_close(generator.ethdev);
	}
	generator_slots_free(&generator);
	rte_eal_cleanup();
	return answer.error ? 1 : 0;
}
