/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * guideway-dataplane: starts DPDK, opens the ports, starts the threads, and then sleeps in epoll
 * for the control socket, a timer and signals. engine.h tells what the threads share.
 */
#include "args.h"
#include "base/log.h"
#include "base/output.h"
#include "control_socket.h"
#include "eal.h"
#include "engine.h"
#include "fragment.h"
#include "host.h"
#include "process.h"
#include "stats.h"
#include "steer.h"
#include "sweeper.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define STATS_INTERVAL_S 1
#define RECLAIM_MS	 10
#define POOL_CACHE	 256
#define EVENTS		 8

struct program {
	struct gw_args args;
	struct gw_engine *engine;
	struct gw_stats_area stats;
	struct gw_control_socket control;
	struct gw_sweeper *sweeper;
	struct gw_host *host;
	struct gw_steer *steer[GW_PORTS_MAX]; /* NULL: the port is not steered */
	uint64_t steered;		      /* version of the snapshot they follow */
	struct gw_process process;
	int epoll;
	int timer;
	int signals;
};

/* Signals ---------------------------------------------------------------------------------- */

/* Before EAL starts threads: they all inherit the mask. */
static int open_signals(struct program *program)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGPIPE);
	if (pthread_sigmask(SIG_BLOCK, &set, NULL))
		return -EINVAL;
	sigdelset(&set, SIGPIPE);
	program->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return program->signals < 0 ? -errno : 0;
}

/* True when the signal ends the program. There is no file to read again: SIGHUP does nothing. */
static bool signal_ends(struct program *program)
{
	struct signalfd_siginfo info;

	if (read(program->signals, &info, sizeof(info)) != sizeof(info) || info.ssi_signo == SIGHUP)
		return false;
	gw_log_info("%s: stopping", strsignal((int)info.ssi_signo));
	gw_process_stopping();
	return true;
}

/* Ports ------------------------------------------------------------------------------------ */

/* Enough frames for every queue, what workers hold, and the rings to and from the host thread. */
static struct rte_mempool *create_pool(const struct gw_args *args)
{
	unsigned int count = (unsigned int)args->port_count * args->cpu_count * 2 * 1024 +
			     args->cpu_count * (2 * 1024 + GW_HELD_MAX * 8 + POOL_CACHE * 2) + 1024;

	if (args->mbufs)
		count = args->mbufs;
	return rte_pktmbuf_pool_create(
		"gw_frames", count, POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
}

/* So that the port can attach its program: nobody else steers, and nothing is left over. */
static int take_steering(const struct gw_port_spec *spec)
{
	int error = spec->steer && spec->kernel[0] ? gw_steer_take(spec->kernel) : 0;

	if (error == -EBUSY)
		gw_log_error("port %s: another guideway-dataplane steers on '%s'; end that one "
			     "first",
			spec->name, spec->kernel);
	else if (error)
		gw_log_error("port %s: the steering program that was left on '%s' cannot be "
			     "detached: %s",
			spec->name, spec->kernel, strerror(-error));
	return error;
}

static int open_steering(struct program *program, const struct gw_port *port)
{
	const char *why;
	int error = gw_steer_open(port->kernel, &program->steer[port->index], &why);

	if (error)
		gw_log_error("port %s: cannot steer on '%s': %s (%s)", port->name, port->kernel,
			why, strerror(-error));
	return error;
}

/* What the steering programs let through to DPDK follows the snapshot in force. */
static void follow_snapshot(struct program *program)
{
	const struct gw_view *view = gw_generation_view(program->engine->generation);

	bool done = true;

	if (!view || view->version == program->steered)
		return;
	for (uint16_t i = 0; i < program->engine->port_count; i++) {
		int error = program->steer[i] ? gw_steer_update(program->steer[i], view) : 0;

		if (error)
			gw_log_error("port %s: steering: %s; trying again",
				program->engine->port[i].name, strerror(-error));
		done &= !error;
	}
	if (done)
		program->steered = view->version;
}

static int open_ports(struct program *program)
{
	struct gw_engine *engine = program->engine;
	const struct gw_args *args = &program->args;

	engine->pool = create_pool(args);
	if (!engine->pool) {
		gw_log_error("no memory for frames: %s; give EAL more (-m, or huge pages)",
			rte_strerror(rte_errno));
		return -ENOMEM;
	}
	for (uint16_t i = 0; i < args->port_count; i++) {
		int error = take_steering(&args->port[i]);

		if (!error)
			error = gw_port_open(
				&engine->port[i], &args->port[i], i, args->cpu_count, engine->pool);
		if (error)
			return error;
		engine->port_count++;
		error = gw_port_start(&engine->port[i]);
		if (!error && engine->port[i].steer)
			error = open_steering(program, &engine->port[i]);
		if (error)
			return error;
		gw_log_info("port %s: %s, kernel interface %s, %u receive queues, MTU %u",
			engine->port[i].name, engine->port[i].driver,
			engine->port[i].kernel[0] ? engine->port[i].kernel : "none",
			engine->port[i].rx_queues, engine->port[i].mtu);
	}
	gw_engine_connect(engine);
	return 0;
}

static void close_ports(struct program *program)
{
	for (uint16_t i = 0; i < GW_PORTS_MAX; i++)
		gw_steer_close(program->steer[i]);
	for (uint16_t i = 0; i < program->engine->port_count; i++)
		gw_port_close(&program->engine->port[i]);
	program->engine->port_count = 0;
}

/* Threads ---------------------------------------------------------------------------------- */

static int start_threads(struct program *program)
{
	struct gw_engine *engine = program->engine;
	int error = gw_sweeper_start(&program->sweeper, engine);

	if (!error)
		error = gw_host_start(engine, &program->host);
	for (uint16_t i = 0; i < engine->worker_count && !error; i++)
		error = rte_eal_remote_launch(gw_worker_run, engine->worker[i], gw_eal_lcore(i));
	if (error)
		gw_log_error("a thread does not start: %s", strerror(-error));
	return error;
}

static void stop_threads(struct program *program)
{
	struct gw_engine *engine = program->engine;

	for (uint16_t i = 0; i < engine->worker_count; i++)
		__atomic_store_n(&engine->worker[i]->stop, true, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
	gw_host_stop(program->host);
	program->host = NULL;
	gw_sweeper_stop(program->sweeper);
	program->sweeper = NULL;
}

/* Main loop -------------------------------------------------------------------------------- */

static int watch(struct program *program, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(program->epoll, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int open_loop(struct program *program)
{
	struct itimerspec second = {
		.it_interval.tv_sec = STATS_INTERVAL_S, .it_value.tv_sec = STATS_INTERVAL_S};
	int error;

	program->epoll = epoll_create1(EPOLL_CLOEXEC);
	program->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (program->epoll < 0 || program->timer < 0 ||
		timerfd_settime(program->timer, 0, &second, NULL) < 0)
		return -errno;
	error = watch(program, program->signals);
	return error ? error : watch(program, program->timer);
}

static void on_timer(struct program *program)
{
	uint64_t times;

	if (read(program->timer, &times, sizeof(times)) != sizeof(times))
		return;
	gw_stats_update(&program->stats, program->engine);
	gw_control_socket_tick(&program->control);
	gw_process_tick(&program->process, program->engine);
}

/* Until a signal ends it. Generations that readers may still hold are looked at more often. */
static int run(struct program *program)
{
	for (;;) {
		struct epoll_event events[EVENTS];
		int wait = gw_engine_reclaim(program->engine) ? RECLAIM_MS : -1;
		int count = epoll_wait(program->epoll, events, EVENTS, wait);

		if (count < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < count; i++) {
			int fd = events[i].data.fd;

			if (fd == program->signals && signal_ends(program))
				return 0;
			if (fd == program->timer)
				on_timer(program);
			else
				gw_control_socket_event(&program->control, fd);
			/* It may have been a snapshot. */
			follow_snapshot(program);
			gw_host_wake(program->host);
		}
	}
}

static int open_control(struct program *program)
{
	const char *path = program->args.socket;
	int error = gw_stats_open(&program->stats, program->engine);

	if (error) {
		gw_log_error("statistics memory: %s", strerror(-error));
		return error;
	}
	program->engine->samples = gw_stats_samples(&program->stats);
	error = gw_control_socket_open(
		&program->control, path, program->epoll, program->engine, &program->stats);
	if (error == -EADDRINUSE)
		gw_log_error("%s: another guideway-dataplane serves it; give a --socket", path);
	else if (error)
		gw_log_error("%s: %s", path, strerror(-error));
	return error;
}

static int serve(struct program *program)
{
	int error = open_loop(program);

	if (!error)
		error = open_control(program);
	if (error)
		goto out_stats;
	error = start_threads(program);
	if (!error)
		error = gw_process_started();
	if (!error) {
		gw_process_ready(&program->process, "forwarding what guideway-control says");
		gw_log_info("version %s: %u workers, %llu flows, listening at %s", GW_VERSION,
			program->engine->worker_count,
			(unsigned long long)gw_flow_table_capacity(&program->engine->flows),
			program->args.socket);
		error = run(program);
	}
	stop_threads(program);
	gw_control_socket_close(&program->control);
out_stats:
	gw_stats_close(&program->stats);
	return error;
}

static int start(struct program *program)
{
	struct gw_engine_options options = {
		.flows = program->args.flows,
		.worker_count = program->args.cpu_count,
		.cpus = program->args.cpu,
		.busy_poll = program->args.busy_poll,
	};
	int error = gw_engine_create(&program->engine, &options);

	if (error) {
		gw_log_error("no room for %llu flows and %u workers: %s; give EAL more memory (-m, "
			     "huge pages) or fewer --flows",
			(unsigned long long)options.flows, options.worker_count, strerror(-error));
		return error;
	}
	error = open_ports(program);
	if (!error)
		error = serve(program);
	close_ports(program);
	gw_engine_destroy(program->engine);
	return error;
}

static int run_program(int argc, char **argv)
{
	static struct program program;
	int status = gw_args_parse(&program.args, argc, argv);
	int error;

	if (status != GW_ARGS_RUN)
		return status;
	gw_log_open("guideway-dataplane", program.args.verbose ? GW_LOG_DEBUG : GW_LOG_INFO);
	gw_log_format_set(program.args.log_format);
	if (gw_process_restrict())
		return 1;
	error = open_signals(&program);
	if (error) {
		gw_log_error("signals: %s", strerror(-error));
		return 1;
	}
	error = gw_eal_start(&program.args);
	if (error)
		return 1;
	error = start(&program);
	rte_eal_cleanup();
	return error ? 1 : 0;
}

int main(int argc, char **argv)
{
	return gw_output_finish("guideway-dataplane", run_program(argc, argv));
}
