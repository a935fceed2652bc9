/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port whose frames come from memory and go nowhere: what one worker can do when the card is not
 * the limit.
 *
 * DPDK's packages lack the headers that a driver needs. So the port is a net_null, which configures
 * and starts as any, and its bursts are exchanged for ours in rte_eth_fp_ops, the public table that
 * rte_eth_rx_burst and rte_eth_tx_burst call through:
 *
 *	receive   takes buffers from the pool, as a driver that refills its ring does, writes each
 *	          the head of some flow's frame and the fields of the mbuf that a driver writes
 *	transmit  gives the buffers back to the pool; now and then copies a frame, to be judged
 *	          when the measurement is over
 *
 * Every worker has a queue of its own and shares nothing with the others. Buffers are reused at
 * once and heads were written just before, so both are in the core's own cache: the port stands for
 * a card that places frames in the cache (DDIO) and a driver that hands them on quickly. The
 * bound's frames are the same.
 */
#pragma once

#include "frames.h"

#include <rte_mempool.h>

#include <stdbool.h>
#include <stdint.h>

#define VDEV_NAME "net_null_gwbench"

struct vdev;

/* What is to be received. Flow numbers lie below FRAMES_FLOWS. */
struct vdev_offer {
	/*
	 * True: flows first … end - 1 once as a SYN and then as an ACK, a thousand or so later;
	 * then nothing more. False: flows 0 … end - 1 in random order until vdev_halt, and
	 * among them `new_share` SYNs of flows from `new_first` to `new_end` - 1, each once.
	 */
	bool walk;
	uint64_t first, end;
	double new_share;
	uint64_t new_first, new_end;
};

/* What passed between vdev_go and the end of it. */
struct vdev_report {
	uint64_t received, sent;
	uint64_t no_buffers; /* times that the pool was empty */
	uint64_t cycles;     /* TSC, of all workers */
	double seconds;	     /* of the worker that took longest */
	uint64_t sampled, wrong;
};

/*
 * Makes the device, to be opened as VDEV_NAME by gw_port_open for so many workers, and fills the
 * buffers of `pool`. `frames` stays the caller's and must live as long. 0 or -errno.
 */
int vdev_create(struct vdev **vdev, const struct bench_frames *frames, uint16_t workers,
	struct rte_mempool *pool);
/* The port must be closed. NULL is fine. */
void vdev_destroy(struct vdev *vdev);

/* Exchanges the bursts. After each start of the port. */
void vdev_attach(struct vdev *vdev, uint16_t ethdev);

/* No worker receives anything before vdev_go, nor after the end of the offer or vdev_halt. */
void vdev_go(struct vdev *vdev, const struct vdev_offer *offer);
void vdev_halt(struct vdev *vdev);
/* Every worker has received something: halted before that, it would never end. */
bool vdev_begun(const struct vdev *vdev);
/* Every worker has come to ask for more and got nothing: what it had before is done. */
bool vdev_ended(const struct vdev *vdev);

/* After the end. `judge`: looks at the samples. */
void vdev_report(struct vdev *vdev, bool judge, struct vdev_report *report);

/* How many frames a worker asks for at once; 0 before it did. */
uint16_t vdev_burst(const struct vdev *vdev);
