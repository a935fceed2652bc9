/* SPDX-License-Identifier: BSD-2-Clause */
/* The sockets for ICMP that all echo probes share; struct gw_checker's part. */
#pragma once

#include <uv.h>

struct gw_checker;
struct gw_check_pinger;

/* Opens nothing yet: a raw socket comes with the first probe of its family. 0 or -ENOMEM. */
int gw_check_pinger_new(uv_loop_t *loop, struct gw_check_pinger **out);
void gw_check_pinger_free(struct gw_check_pinger *pinger); /* NULL is fine */

struct gw_check_pinger *gw_checker_pinger(struct gw_checker *checker);
