/* SPDX-License-Identifier: BSD-2-Clause */
/* Both ends of the socket between guideway-bench and a child. */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETUP_PATIENCE_S  60
#define HELLO_PATIENCE_MS 5000
#define ADDRESS_TEXT	  128
#define END_PATIENCE_MS	  2000
#define END_STEP_US	  1000

/* ---- the child's end */

static int wait_readable(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	int ready = poll(&wait, 1, timeout_ms);

	if (ready < 0)
		return -errno;
	return ready ? 0 : -EAGAIN;
}

int bench_child_setup(struct bench_link_setup *setup)
{
	if (recv(BENCH_CHILD_FD, setup, sizeof(*setup), 0) != sizeof(*setup))
		return -EPIPE;
	setup->what.path = "dpdk";
	setup->what.mode = "link";
	setup->what.encap = setup->encap;
	return 0;
}

int bench_child_ask(struct bench_ask *ask, int timeout_ms)
{
	int error = wait_readable(BENCH_CHILD_FD, timeout_ms);

	if (error)
		return error;
	return recv(BENCH_CHILD_FD, ask, sizeof(*ask), 0) == sizeof(*ask) ? 0 : -EPIPE;
}

void bench_child_answer(const struct bench_answer *answer)
{
	/* When the parent has gone, the next ask says so. */
	if (send(BENCH_CHILD_FD, answer, sizeof(*answer), MSG_NOSIGNAL) < 0)
		return;
}

/* ---- the parent's end */

/* In the child: nothing but async-signal-safe calls. */
static void become(const char *word, int fd, pid_t parent)
{
	char *const argv[] = {(char *)(uintptr_t) "guideway-bench", (char *)(uintptr_t)word, NULL};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* the table or the JSON goes there, not EAL's words */
	if (fd == BENCH_CHILD_FD)
		fcntl(fd, F_SETFD, 0);
	else if (dup2(fd, BENCH_CHILD_FD) < 0)
		_exit(1);
	execv("/proc/self/exe", argv);
	_exit(1);
}

int bench_wire_read(int fd, void *data, size_t size)
{
	uint8_t *at = data;

	while (size) {
		ssize_t length = recv(fd, at, size, 0);

		if (length <= 0)
			return length < 0 ? -errno : -EPIPE;
		at += length;
		size -= (size_t)length;
	}
	return 0;
}

int bench_wire_write(int fd, const void *data, size_t size)
{
	const uint8_t *at = data;

	while (size) {
		ssize_t length = send(fd, at, size, MSG_NOSIGNAL);

		if (length < 0)
			return -errno;
		at += length;
		size -= (size_t)length;
	}
	return 0;
}

static int listen_to(struct bench_child *child, double patience, struct bench_answer *answer,
	char message[BENCH_MESSAGE])
{
	int error = wait_readable(child->fd, (int)(patience * 1000));
	if (error == -EINTR) {
		snprintf(message, BENCH_MESSAGE, "interrupted");
		return error;
	}
	if (error) {
		snprintf(message, BENCH_MESSAGE, "the %s says nothing for %.0f s", child->name,
			patience);
		return -ETIMEDOUT;
	}
	if (bench_wire_read(child->fd, answer, sizeof(*answer))) {
		snprintf(message, BENCH_MESSAGE,
			"the %s ended; what it said itself stands above, or it was killed",
			child->name);
		return -EPIPE;
	}
	if (answer->error)
		snprintf(message, BENCH_MESSAGE, "%s", answer->message);
	return answer->error;
}

static int start_process(struct bench_child *child, const char *word)
{
	pid_t parent = getpid();
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	child->pid = fork();
	if (!child->pid)
		become(word, pair[1], parent);
	close(pair[1]);
	if (child->pid < 0) {
		int error = -errno;

		child->pid = 0;
		close(pair[0]);
		return error;
	}
	child->fd = pair[0];
	return 0;
}

/* Ends the child when it fails. */
static int hand_setup(struct bench_child *child, const struct bench_link_setup *setup,
	struct bench_port_facts *facts, char message[BENCH_MESSAGE])
{
	struct bench_answer answer;
	int error = bench_wire_write(child->fd, setup, sizeof(*setup));

	if (error)
		snprintf(message, BENCH_MESSAGE, "the %s does not start: %s", child->name,
			strerror(-error));
	else
		error = listen_to(child, SETUP_PATIENCE_S, &answer, message);
	if (error) {
		bench_child_end(child);
		return error;
	}
	*facts = answer.port;
	return 0;
}

int bench_child_start(struct bench_child *child, const char *word,
	const struct bench_link_setup *setup, struct bench_port_facts *facts,
	char message[BENCH_MESSAGE])
{
	int error;

	*child = (struct bench_child){.name = word + 1, .fd = -1};
	error = start_process(child, word);
	if (error) {
		snprintf(message, BENCH_MESSAGE, "the %s does not start: %s", child->name,
			strerror(-error));
		return error;
	}
	return hand_setup(child, setup, facts, message);
}

void bench_hello_make(struct bench_hello *hello)
{
	*hello = (struct bench_hello){.magic = "gwbench",
		.version = GW_VERSION,
		.setup_size = sizeof(struct bench_link_setup),
		.ask_size = sizeof(struct bench_ask),
		.answer_size = sizeof(struct bench_answer)};
}

struct addrinfo *bench_address_find(const char *address)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	const char *port = strrchr(address, ':');
	bool brackets = port && port > address && *address == '[' && port[-1] == ']';
	char host[ADDRESS_TEXT];
	int length = (int)(port ? port - address : 0) - 2 * brackets;

	if (length < 1 || length >= ADDRESS_TEXT)
		return NULL;
	snprintf(host, sizeof(host), "%.*s", length, address + brackets);
	return getaddrinfo(host, port + 1, &hints, &found) ? NULL : found;
}

static int connect_to(const char *address)
{
	struct addrinfo *found = bench_address_find(address);
	int error = -EINVAL, on = 1;

	for (const struct addrinfo *one = found; one; one = one->ai_next) {
		int fd = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen) == 0) {
			freeaddrinfo(found);
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			return fd;
		}
		error = -errno;
		if (fd >= 0)
			close(fd);
	}
	if (found)
		freeaddrinfo(found);
	return error;
}

int bench_child_connect(struct bench_child *child, const char *address,
	const struct bench_link_setup *setup, struct bench_port_facts *facts,
	char message[BENCH_MESSAGE])
{
	struct bench_hello ours, theirs;
	int fd = connect_to(address);

	*child = (struct bench_child){.name = "subject on the other host", .fd = fd};
	if (fd < 0) {
		snprintf(message, BENCH_MESSAGE,
			"%.64s: %s: does guideway-bench --mode nic --dut PORT --listen "
			"ADDRESS:PORT run there?",
			address, strerror(-fd));
		return fd;
	}
	bench_hello_make(&ours);
	if (bench_wire_write(fd, &ours, sizeof(ours)) || wait_readable(fd, HELLO_PATIENCE_MS) ||
		bench_wire_read(fd, &theirs, sizeof(theirs)) ||
		memcmp(&ours, &theirs, sizeof(ours)) != 0) {
		snprintf(message, BENCH_MESSAGE,
			"%.64s: not the same guideway-bench as here (version %s), or another is "
			"being served",
			address, GW_VERSION);
		bench_child_end(child);
		return -EPROTO;
	}
	return hand_setup(child, setup, facts, message);
}

int bench_child_talk(struct bench_child *child, const struct bench_ask *ask, double patience,
	struct bench_answer *answer, char message[BENCH_MESSAGE])
{
	int error = bench_wire_write(child->fd, ask, sizeof(*ask));

	if (error) {
		snprintf(message, BENCH_MESSAGE, "the %s has ended: %s", child->name,
			strerror(-error));
		return -EPIPE;
	}
	return listen_to(child, patience, answer, message);
}

void bench_child_end(struct bench_child *child)
{
	int waited = 0;

	if (!child->name || child->fd < 0)
		return;
	close(child->fd); /* it tidies up and ends */
	while (child->pid && waitpid(child->pid, NULL, WNOHANG) == 0) {
		if (waited++ == END_PATIENCE_MS) {
			kill(child->pid, SIGKILL);
			waitpid(child->pid, NULL, 0);
			break;
		}
		usleep(END_STEP_US);
	}
	*child = (struct bench_child){.name = child->name, .fd = -1};
}
