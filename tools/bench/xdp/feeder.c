/* SPDX-License-Identifier: BSD-2-Clause */
#include "feeder.h"

#include <bpf/bpf.h>

#include <errno.h>

static int put_behind(const struct bench_feeder_bpf *feeder, uint32_t place, int program)
{
	return bpf_map_update_elem(bpf_map__fd(feeder->maps.feed_next), &place, &program, BPF_ANY)
		       ? -errno
		       : 0;
}

int xdp_feeder_open(enum bench_family family, int balancer, struct bench_feeder_bpf **feeder)
{
	struct bench_feeder_bpf *made = bench_feeder_bpf__open();
	int error;

	if (!made)
		return -errno;
	made->rodata->feed_is_ipv6 = family == BENCH_IPV6;
	error = bench_feeder_bpf__load(made);
	if (!error)
		error = put_behind(
			made, BENCH_NEXT_BOUND, bpf_program__fd(made->progs.bench_bound));
	if (!error)
		error = put_behind(
			made, BENCH_NEXT_NOTHING, bpf_program__fd(made->progs.bench_nothing));
	if (!error && balancer >= 0)
		error = put_behind(made, BENCH_NEXT_BALANCER, balancer);
	if (error) {
		bench_feeder_bpf__destroy(made);
		return error;
	}
	*feeder = made;
	return 0;
}
