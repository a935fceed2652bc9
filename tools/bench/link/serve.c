/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The balancer's side of a measurement between two hosts. The generator's side asks over TCP, in
 * the clear and without a password: this is for a laboratory's own network, and listens only where
 * it is told to. What the other side may choose is the case; CPUs, port and DPDK's options are this
 * side's.
 */
#include "rig.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HELLO_PATIENCE_MS 5000
#define WAIT_MS		  200 /* between looks at `stop` */
#define ASK_PATIENCE_S	  60
#define FLOWS_MAX	  1000000000u
#define ENCAP_COUNT	  4

static int listen_at(const char *address)
{
	struct addrinfo *found = bench_address_find(address);
	int fd, error = 0, on = 1;

	if (!found)
		return -EINVAL;
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, 1) < 0) {
		error = -errno;
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(found);
	return error ? error : fd;
}

/* 1: readable; 0: time is up, or a signal came. */
static int wait_for(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, timeout_ms) == 1;
}

static bool greet(int fd)
{
	struct bench_hello ours, theirs;

	bench_hello_make(&ours);
	return wait_for(fd, HELLO_PATIENCE_MS) && !bench_wire_read(fd, &theirs, sizeof(theirs)) &&
	       !bench_wire_write(fd, &ours, sizeof(ours)) &&
	       memcmp(&ours, &theirs, sizeof(ours)) == 0;
}

/* What came over the network: within the bounds that the command line would have. */
static bool case_sane(struct bench_link_setup *setup)
{
	static const char *const encaps[ENCAP_COUNT] = {"ipip", "gue", "gre", "l2"};
	struct bench_case *what = &setup->what;
	bool known = false;

	setup->encap[sizeof(setup->encap) - 1] = '\0';
	for (int i = 0; i < ENCAP_COUNT; i++)
		known |= !strcmp(setup->encap, encaps[i]);
	what->path = "dpdk";
	what->mode = "nic";
	what->encap = setup->encap;
	return known && (what->family == BENCH_IPV4 || what->family == BENCH_IPV6) &&
	       what->flows >= 1 && what->flows <= FLOWS_MAX && what->services >= 1 &&
	       what->services <= UINT16_MAX && what->pools >= 1 && what->pools <= what->services &&
	       what->backends >= 1 && what->backends <= BENCH_BACKENDS_MAX &&
	       what->table_flows <= 2 * (uint64_t)FLOWS_MAX && what->workers >= 1;
}

static int receive_setup(const struct bench_machine *machine, int fd,
	struct bench_link_setup *setup, char message[BENCH_MESSAGE])
{
	if (!wait_for(fd, HELLO_PATIENCE_MS) || bench_wire_read(fd, setup, sizeof(*setup)))
		return -EPIPE;
	if (!case_sane(setup)) {
		snprintf(message, BENCH_MESSAGE, "the other host: no such case");
		return -EINVAL;
	}
	setup->cpu = machine->cpu;
	setup->main_cpu = machine->generator_cpu;
	setup->huge_pages = machine->huge_pages;
	snprintf(setup->port, sizeof(setup->port), "%s", machine->dut);
	snprintf(setup->eal_args, sizeof(setup->eal_args), "%s",
		machine->eal_args ? machine->eal_args : "");
	return bench_rig_cpus(machine, setup->what.workers, message);
}

/* Hands asks and answers on until either side ends. */
static void relay(int fd, struct bench_child *child, const volatile sig_atomic_t *stop)
{
	static struct bench_answer answer;
	char message[BENCH_MESSAGE] = "";
	struct bench_ask ask;

	while (!*stop) {
		if (!wait_for(fd, WAIT_MS))
			continue;
		memset(&answer, 0, sizeof(answer));
		if (bench_wire_read(fd, &ask, sizeof(ask)))
			return;
		answer.error = bench_child_talk(child, &ask, ASK_PATIENCE_S, &answer, message);
		if (answer.error)
			memcpy(answer.message, message, sizeof(message));
		if (bench_wire_write(fd, &answer, sizeof(answer)) || answer.error)
			return;
	}
}

static void serve_one(
	const struct bench_machine *machine, int fd, const volatile sig_atomic_t *stop)
{
	static struct bench_link_setup setup;
	static struct bench_answer answer;
	struct bench_child child;

	if (!greet(fd))
		return;
	memset(&answer, 0, sizeof(answer));
	answer.error = receive_setup(machine, fd, &setup, answer.message);
	if (answer.error == -EPIPE)
		return;
	if (!answer.error)
		answer.error = bench_child_start(
			&child, BENCH_SUBJECT, &setup, &answer.port, answer.message);
	if (bench_wire_write(fd, &answer, sizeof(answer)) == 0 && !answer.error)
		relay(fd, &child, stop);
	if (!answer.error)
		bench_child_end(&child);
}

int bench_nic_serve(const struct bench_machine *machine, const char *address,
	const volatile sig_atomic_t *stop, char message[BENCH_MESSAGE])
{
	int listener = listen_at(address);

	if (listener < 0) {
		snprintf(message, BENCH_MESSAGE, "--listen: cannot listen at '%.64s': %s", address,
			strerror(-listener));
		return listener;
	}
	while (!*stop) {
		int fd = wait_for(listener, WAIT_MS) ? accept4(listener, NULL, NULL, SOCK_CLOEXEC)
						     : -1;

		if (fd < 0)
			continue;
		serve_one(machine, fd, stop);
		close(fd);
	}
	close(listener);
	return 0;
}
