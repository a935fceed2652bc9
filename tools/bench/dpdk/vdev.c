/* SPDX-License-Identifier: BSD-2-Clause */
#include "vdev.h"

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <stdlib.h>

#define WALK_CHUNK   1024 /* flows between a flow's SYN and its ACK */
#define SAMPLE_EVERY 256  /* bursts */
#define SAMPLES	     512  /* of one queue at most, in one measurement */
#define SAMPLE_ROOM  (BENCH_FRAME_MAX + 128)

/* Knuth's MMIX generator: a multiplication makes a flow number of its upper half. */
#define RANDOM_FACTOR 6364136223846793005u
#define RANDOM_STEP   1442695040888963407u

struct vdev_sample {
	uint32_t length;
	uint8_t frame[SAMPLE_ROOM];
};

/* Flows base, base + queues …: `chunk` of them as SYNs, then the same as ACKs, and the next. */
struct vdev_walk {
	uint64_t base, count; /* of this queue */
	uint64_t start;	      /* the chunk's first, counted from 0 */
	uint32_t chunk, done;
	enum frames_kind kind;
};

/* One worker's. Main writes it while nothing is offered, the worker while something is. */
struct vdev_queue {
	/* Main writes it (atomic) at any time. */
	bool go __rte_cache_aligned;

	bool running __rte_cache_aligned;
	bool begun, ended; /* main reads them (atomic) */
	uint16_t burst;	   /* main reads it (atomic) */
	const struct frames_writer *writer;
	struct rte_mempool *pool;
	uint64_t rearm; /* an mbuf's fields that every reception sets alike */
	uint32_t queues;
	uint32_t size; /* of the writer's, the next one */
	uint64_t left; /* of the offer */
	bool walks;
	struct vdev_walk walk;
	uint64_t random;   /* the generator's state */
	uint64_t flows;	   /* random ones lie below */
	uint64_t new_rate; /* 2^32: every packet opens a flow */
	uint64_t new_credit;
	uint64_t new_at, new_begin, new_end; /* in steps of `queues` */
	uint64_t begin_tsc, end_tsc;
	uint64_t received, sent, no_buffers, bursts, sample_at;
	uint32_t sample_count;
	struct vdev_sample *samples;
};

struct vdev {
	struct frames_writer writer;
	const struct bench_frames *frames;
	uint16_t workers;
	void *data[RTE_MAX_QUEUES_PER_PORT]; /* of both directions' queues */
	struct vdev_queue *queue;
};

/* Receiving ------------------------------------------------------------------------------- */

/* What a driver sets of a new mbuf, beside the head of the frame; `size` goes on. */
static __rte_always_inline void write_one(const struct vdev_queue *queue, struct rte_mbuf *mbuf,
	enum frames_kind kind, bool ipv6, uint32_t flow, uint32_t *size)
{
	const struct frames_writer *writer = queue->writer;
	const struct frames_template *template = &writer->template[kind][*size];

	if (++*size == writer->sizes)
		*size = 0;
	memcpy(&mbuf->rearm_data, &queue->rearm, sizeof(queue->rearm));
	mbuf->ol_flags = 0;
	mbuf->packet_type = 0;
	mbuf->pkt_len = template->length;
	mbuf->data_len = template->length;
	mbuf->vlan_tci = 0;
	mbuf->hash.rss = 0;
	frames_write(
		writer, template, ipv6, flow, (uint8_t *)mbuf->buf_addr + RTE_PKTMBUF_HEADROOM);
}

static __rte_always_inline void fill_walk(
	struct vdev_queue *queue, struct rte_mbuf **mbufs, uint16_t count, bool ipv6)
{
	struct vdev_walk *walk = &queue->walk;
	uint64_t flow = walk->base + (walk->start + walk->done) * queue->queues;

	for (uint16_t i = 0; i < count; i++) {
		write_one(queue, mbufs[i], walk->kind, ipv6, (uint32_t)flow, &queue->size);
		flow += queue->queues;
	}
	walk->done += count;
	if (walk->done < walk->chunk)
		return;
	walk->done = 0;
	walk->kind = walk->kind == FRAMES_SYN ? FRAMES_ACK : FRAMES_SYN;
	if (walk->kind == FRAMES_SYN) {
		walk->start += walk->chunk;
		walk->chunk = (uint32_t)RTE_MIN(walk->count - walk->start, (uint64_t)WALK_CHUNK);
	}
}

static __rte_always_inline void fill_random(
	struct vdev_queue *queue, struct rte_mbuf **mbufs, uint16_t count, bool ipv6)
{
	uint64_t random = queue->random;
	uint32_t size = queue->size;

	for (uint16_t i = 0; i < count; i++) {
		random = random * RANDOM_FACTOR + RANDOM_STEP;
		write_one(queue, mbufs[i], FRAMES_ACK, ipv6,
			(uint32_t)((random >> 32) * queue->flows >> 32), &size);
	}
	queue->random = random;
	queue->size = size;
}

static __rte_always_inline void fill_mixed(
	struct vdev_queue *queue, struct rte_mbuf **mbufs, uint16_t count, bool ipv6)
{
	uint64_t random = queue->random, credit = queue->new_credit, new_at = queue->new_at;
	uint32_t size = queue->size;

	for (uint16_t i = 0; i < count; i++) {
		credit += queue->new_rate;
		if (credit >> 32) {
			credit -= UINT64_C(1) << 32;
			write_one(queue, mbufs[i], FRAMES_SYN, ipv6, (uint32_t)new_at, &size);
			new_at += queue->queues;
			if (unlikely(new_at >= queue->new_end))
				new_at = queue->new_begin;
		} else {
			random = random * RANDOM_FACTOR + RANDOM_STEP;
			write_one(queue, mbufs[i], FRAMES_ACK, ipv6,
				(uint32_t)((random >> 32) * queue->flows >> 32), &size);
		}
	}
	queue->random = random;
	queue->new_credit = credit;
	queue->new_at = new_at;
	queue->size = size;
}

static __rte_always_inline void fill(
	struct vdev_queue *queue, struct rte_mbuf **mbufs, uint16_t count, bool ipv6)
{
	if (queue->walks)
		fill_walk(queue, mbufs, count, ipv6);
	else if (queue->new_rate)
		fill_mixed(queue, mbufs, count, ipv6);
	else
		fill_random(queue, mbufs, count, ipv6);
}

/* The first and the last time that a worker asks, between which the time counts. */
static __rte_noinline bool begin_or_end(struct vdev_queue *queue)
{
	bool go = __atomic_load_n(&queue->go, __ATOMIC_ACQUIRE);

	if (!queue->running && go && queue->left) {
		queue->running = true;
		queue->begin_tsc = rte_rdtsc();
		__atomic_store_n(&queue->begun, true, __ATOMIC_RELEASE);
		return true;
	}
	if (queue->running) {
		queue->running = false;
		queue->end_tsc = rte_rdtsc();
		__atomic_store_n(&queue->ended, true, __ATOMIC_RELEASE);
	}
	return false;
}

static uint16_t receive(void *data, struct rte_mbuf **mbufs, uint16_t wanted)
{
	struct vdev_queue *queue = data;
	uint16_t count = wanted;

	if (unlikely(!queue->running || !queue->left ||
		     !__atomic_load_n(&queue->go, __ATOMIC_RELAXED)) &&
		!begin_or_end(queue))
		return 0;
	if (unlikely(queue->left < count))
		count = (uint16_t)queue->left;
	if (queue->walks && queue->walk.chunk - queue->walk.done < count)
		count = (uint16_t)(queue->walk.chunk - queue->walk.done);
	if (unlikely(rte_mempool_get_bulk(queue->pool, (void **)mbufs, count))) {
		queue->no_buffers++;
		return 0;
	}
	if (queue->writer->ipv6)
		fill(queue, mbufs, count, true);
	else
		fill(queue, mbufs, count, false);
	queue->left -= count;
	queue->received += count;
	__atomic_store_n(&queue->burst, wanted, __ATOMIC_RELAXED);
	return count;
}

/* Sending --------------------------------------------------------------------------------- */

static __rte_noinline void take_sample(
	struct vdev_queue *queue, struct rte_mbuf *const *mbufs, uint16_t count)
{
	const struct rte_mbuf *mbuf = mbufs[queue->sample_count % count];
	struct vdev_sample *sample = &queue->samples[queue->sample_count++];

	queue->sample_at =
		queue->sample_count < SAMPLES ? queue->bursts + SAMPLE_EVERY : UINT64_MAX;
	sample->length = mbuf->pkt_len;
	memcpy(sample->frame, rte_pktmbuf_mtod(mbuf, const void *),
		RTE_MIN(mbuf->data_len, SAMPLE_ROOM));
}

static uint16_t transmit(void *data, struct rte_mbuf **mbufs, uint16_t count)
{
	struct vdev_queue *queue = data;

	if (unlikely(++queue->bursts >= queue->sample_at) && count)
		take_sample(queue, mbufs, count);
	queue->sent += count;
	rte_pktmbuf_free_bulk(mbufs, count);
	return count;
}

/* Offering -------------------------------------------------------------------------------- */

static void offer_walk(struct vdev_queue *queue, const struct vdev_offer *offer, uint32_t index)
{
	uint64_t flows = offer->end - offer->first;

	queue->walk = (struct vdev_walk){
		.base = offer->first + index,
		.count = flows > index ? (flows - index - 1) / queue->queues + 1 : 0,
		.kind = FRAMES_SYN,
	};
	queue->walk.chunk = (uint32_t)RTE_MIN(queue->walk.count, (uint64_t)WALK_CHUNK);
	queue->left = queue->walk.count * 2;
}

static void offer_random(struct vdev_queue *queue, const struct vdev_offer *offer, uint32_t index)
{
	queue->flows = offer->end;
	queue->new_rate = (uint64_t)(offer->new_share * 0x1p32);
	queue->new_begin = offer->new_first + index;
	queue->new_end = offer->new_end;
	if (queue->new_at < queue->new_begin || queue->new_at >= queue->new_end)
		queue->new_at = queue->new_begin;
	queue->left = UINT64_MAX;
}

void vdev_go(struct vdev *vdev, const struct vdev_offer *offer)
{
	for (uint16_t i = 0; i < vdev->workers; i++) {
		struct vdev_queue *queue = &vdev->queue[i];

		queue->walks = offer->walk;
		if (offer->walk)
			offer_walk(queue, offer, i);
		else
			offer_random(queue, offer, i);
		queue->begin_tsc = queue->end_tsc = 0;
		queue->received = queue->sent = queue->no_buffers = 0;
		queue->bursts = queue->sample_at = queue->sample_count = 0;
		queue->begun = queue->ended = queue->left == 0;
	}
	for (uint16_t i = 0; i < vdev->workers; i++)
		__atomic_store_n(&vdev->queue[i].go, true, __ATOMIC_RELEASE);
}

void vdev_halt(struct vdev *vdev)
{
	for (uint16_t i = 0; i < vdev->workers; i++)
		__atomic_store_n(&vdev->queue[i].go, false, __ATOMIC_RELEASE);
}

bool vdev_begun(const struct vdev *vdev)
{
	for (uint16_t i = 0; i < vdev->workers; i++)
		if (!__atomic_load_n(&vdev->queue[i].begun, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

bool vdev_ended(const struct vdev *vdev)
{
	for (uint16_t i = 0; i < vdev->workers; i++)
		if (!__atomic_load_n(&vdev->queue[i].ended, __ATOMIC_ACQUIRE))
			return false;
	return true;
}

static void judge_samples(
	const struct vdev *vdev, const struct vdev_queue *queue, struct vdev_report *report)
{
	for (uint32_t i = 0; i < queue->sample_count; i++) {
		const struct vdev_sample *sample = &queue->samples[i];

		report->sampled++;
		if (sample->length > SAMPLE_ROOM ||
			!bench_frame_judge(vdev->frames, sample->frame, sample->length, NULL))
			report->wrong++;
	}
}

void vdev_report(struct vdev *vdev, bool judge, struct vdev_report *report)
{
	*report = (struct vdev_report){0};
	for (uint16_t i = 0; i < vdev->workers; i++) {
		const struct vdev_queue *queue = &vdev->queue[i];
		uint64_t cycles = queue->end_tsc - queue->begin_tsc;
		double seconds = (double)cycles / (double)rte_get_tsc_hz();

		report->received += queue->received;
		report->sent += queue->sent;
		report->no_buffers += queue->no_buffers;
		report->cycles += cycles;
		report->seconds = RTE_MAX(report->seconds, seconds);
		if (judge)
			judge_samples(vdev, queue, report);
	}
}

uint16_t vdev_burst(const struct vdev *vdev)
{
	return __atomic_load_n(&vdev->queue[0].burst, __ATOMIC_RELAXED);
}

/* The device ------------------------------------------------------------------------------ */

/* The whole frame into each buffer: later only its head is written. */
static void fill_buffer(struct rte_mempool *pool, void *owner, void *object, unsigned int index)
{
	const struct vdev *vdev = owner;
	struct rte_mbuf *mbuf = object;

	(void)pool;
	(void)index;
	frames_writer_body(vdev->frames, (uint8_t *)mbuf->buf_addr + RTE_PKTMBUF_HEADROOM);
}

static uint64_t rearm_of(uint16_t ethdev)
{
	struct rte_mbuf mbuf = {
		.data_off = RTE_PKTMBUF_HEADROOM, .refcnt = 1, .nb_segs = 1, .port = ethdev};
	uint64_t rearm;

	memcpy(&rearm, &mbuf.rearm_data, sizeof(rearm));
	return rearm;
}

static int queue_init(struct vdev *vdev, uint16_t index, struct rte_mempool *pool)
{
	struct vdev_queue *queue = &vdev->queue[index];

	*queue = (struct vdev_queue){
		.writer = &vdev->writer,
		.pool = pool,
		.queues = vdev->workers,
		.random = index + 1,
		.samples = calloc(SAMPLES, sizeof(*queue->samples)),
	};
	vdev->data[index] = queue;
	return queue->samples ? 0 : -ENOMEM;
}

int vdev_create(struct vdev **out, const struct bench_frames *frames, uint16_t workers,
	struct rte_mempool *pool)
{
	struct vdev *vdev = calloc(1, sizeof(*vdev));
	int error = 0;

	if (!vdev)
		return -ENOMEM;
	vdev->frames = frames;
	vdev->workers = workers;
	frames_writer_init(&vdev->writer, frames);
	vdev->queue = aligned_alloc(RTE_CACHE_LINE_SIZE, workers * sizeof(*vdev->queue));
	if (!vdev->queue) {
		free(vdev);
		return -ENOMEM;
	}
	for (uint16_t i = 0; i < workers; i++)
		error = queue_init(vdev, i, pool) ? -ENOMEM : error;
	if (!error)
		error = rte_eal_hotplug_add("vdev", VDEV_NAME, "");
	if (error) {
		vdev_destroy(vdev);
		return error;
	}
	rte_mempool_obj_iter(pool, fill_buffer, vdev);
	*out = vdev;
	return 0;
}

void vdev_destroy(struct vdev *vdev)
{
	if (!vdev)
		return;
	rte_eal_hotplug_remove("vdev", VDEV_NAME);
	for (uint16_t i = 0; i < vdev->workers; i++)
		free(vdev->queue[i].samples);
	free(vdev->queue);
	free(vdev);
}

void vdev_attach(struct vdev *vdev, uint16_t ethdev)
{
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[ethdev];

	for (uint16_t i = 0; i < vdev->workers; i++)
		vdev->queue[i].rearm = rearm_of(ethdev);
	ops->rxq.data = vdev->data;
	ops->txq.data = vdev->data;
	ops->rx_pkt_burst = receive;
	ops->tx_pkt_burst = transmit;
}
