/* SPDX-License-Identifier: BSD-2-Clause */
/* The runners of this build: meson.build compiles a path's when it has what the path needs. */
#include "bench/core/bench.h"
#ifdef BENCH_DPDK_LINK
#	include "bench/link/rig.h"
#endif

#include <errno.h>
#include <string.h>

const struct bench_runner *const bench_runners[] = {
#ifdef BENCH_DPDK_CPU
	&bench_dpdk_cpu,
#endif
#ifdef BENCH_DPDK_LINK
	&bench_dpdk_link,
#endif
#ifdef BENCH_DPDK_NIC
	&bench_dpdk_nic,
#endif
#ifdef BENCH_XDP_CPU
	&bench_xdp_cpu,
#endif
#ifdef BENCH_XDP_LINK
	&bench_xdp_link,
#endif
	NULL,
};

const struct bench_runner *bench_runner_find(const char *path, const char *mode)
{
	for (size_t i = 0; bench_runners[i]; i++)
		if (!strcmp(bench_runners[i]->path, path) && !strcmp(bench_runners[i]->mode, mode))
			return bench_runners[i];
	return NULL;
}

int bench_child_main(const char *word)
{
#ifdef BENCH_DPDK_LINK
	if (!strcmp(word, BENCH_GENERATOR))
		return bench_generator_main();
	if (!strcmp(word, BENCH_SUBJECT))
		return bench_subject_main();
#endif
	return -1;
}

int bench_serve(const struct bench_machine *machine, const char *address,
	const volatile sig_atomic_t *stop, char message[BENCH_MESSAGE])
{
#ifdef BENCH_DPDK_NIC
	return bench_nic_serve(machine, address, stop, message);
#else
	return -ENOTSUP;
#endif
}
