/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One probe of one address: started by the monitor (monitor.c), answered once. A kind of check is a
 * table of operations (check_tcp.c and the like); the monitor knows no other difference.
 *
 * The timeout bounds the whole probe, from the first packet to the last byte of the answer, so that
 * a server which drips bytes fails in time; time in which we ourselves stood still does not count
 * (check_deadline.h). Connections are closed by RST (SO_LINGER 0): thousands
 * of probes a minute to one address and port would otherwise use up the local ports by TIME_WAIT.
 *
 * tcp, udp and dns are one socket and one timer each (check_socket.h). http, https and grpc are
 * libcurl's (check_curl.h). icmp shares one raw socket a family (check_icmp.c), because every raw
 * socket would be handed every answer.
 *
 * Everything here runs in the event loop's thread.
 */
#pragma once

#include "control/model.h"

#include <uv.h>

#include <stdbool.h>
#include <stdint.h>

#define GW_CHECK_TEXT 128

/* The text is a cause for people: "http 503", "connection refused", "no answer in 1000 ms". */
struct gw_check_outcome {
	bool success;
	char text[GW_CHECK_TEXT];
};

/* Borrowed: what it points to must outlive the probe. */
struct gw_check_target {
	const uint8_t *address; /* 16 bytes, base/address.h */
	const uint8_t *source;	/* 16 bytes, what to send from; NULL: the kernel chooses */
	uint32_t mark;		/* SO_MARK; 0: none */
	const struct gw_config_check *check;
};

struct gw_checker;

typedef void gw_check_done(void *owner, const struct gw_check_outcome *outcome);

struct gw_probe {
	const struct gw_check_ops *ops;
};

struct gw_check_ops {
	/*
	 * Starts a probe; `done` is called once, later, never from within start(). The probe then
	 * frees itself. Returns 0 or -errno.
	 */
	int (*start)(struct gw_checker *checker, const struct gw_check_target *target,
		gw_check_done *done, void *owner, struct gw_probe **out);
	/* Gives it up; `done` is not called any more. */
	void (*cancel)(struct gw_probe *probe);
};

/* What probes share: the loop, libcurl's multi handle, the sockets for ICMP. */
struct gw_checker;

/* The loop must outlive it. Returns 0 or -errno. */
int gw_checker_new(uv_loop_t *loop, struct gw_checker **out);

/* Every probe must be answered or cancelled; its handles close on the loop's next turns. NULL is
 * fine. */
void gw_checker_free(struct gw_checker *checker);

uv_loop_t *gw_checker_loop(struct gw_checker *checker);

/* NULL for GW_CONFIG_CHECK_NONE. */
const struct gw_check_ops *gw_check_ops_find(enum gw_config_check_type type);

extern const struct gw_check_ops gw_check_tcp;
extern const struct gw_check_ops gw_check_http; /* and https */
extern const struct gw_check_ops gw_check_udp;
extern const struct gw_check_ops gw_check_dns;
extern const struct gw_check_ops gw_check_icmp;
extern const struct gw_check_ops gw_check_grpc;
