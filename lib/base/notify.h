/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Telling the service manager how we are (systemd's sd_notify(3) protocol): one datagram of
 * "NAME=value" lines to the socket that $NOTIFY_SOCKET names. Without that variable nothing is
 * sent, and nothing is wrong.
 */
#pragma once

#include <stdint.h>

/*
 * Sends printf-formatted lines, like "READY=1\nSTATUS=forwarding". Returns 0, also where nobody
 * wants to know, or -errno. Any thread.
 */
int gw_notify(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "RELOADING=1" with the time it began, as Type=notify-reload wants it. Returns like gw_notify. */
int gw_notify_reloading(void);

/*
 * Logs what either of them returned, unless it is 0: a service manager that cannot be told is no
 * reason for a daemon to stop, but to say so.
 */
void gw_notify_warn(int error);

/*
 * How often "WATCHDOG=1" has to be sent, in milliseconds: half of what $WATCHDOG_USEC allows, so
 * that one may be late. 0: there is no watchdog, or it is another process's ($WATCHDOG_PID).
 */
uint64_t gw_notify_watchdog_ms(void);
