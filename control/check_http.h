/* SPDX-License-Identifier: BSD-2-Clause */
/* libcurl's share of struct gw_checker. */
#pragma once

#include <uv.h>

struct gw_checker;
struct gw_http_prober;

int gw_http_prober_new(uv_loop_t *loop, struct gw_http_prober **out);
void gw_http_prober_free(struct gw_http_prober *prober); /* NULL is fine */

struct gw_http_prober *gw_checker_http(struct gw_checker *checker);
