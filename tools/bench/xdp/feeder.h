/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs of bpf/bench_feeder.bpf.c, loaded and put one behind the other. */
#pragma once

#include "bench/core/bench.h"
#include "bench_feed.h"
#include "bench_feeder.skel.h"

/*
 * `balancer` is the descriptor of the program that feed_balancer goes on to; -1: none, that feeder
 * is of no use then. 0 or -errno; free what comes by bench_feeder_bpf__destroy.
 */
int xdp_feeder_open(enum bench_family family, int balancer, struct bench_feeder_bpf **feeder);
