/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the API's paths mean (docs/api.md): api.c finds the row for a path, one file a subject
 * answers. Every error is {"error": "..."} with a status: 400 wrong use, 404 no such thing, 405
 * wrong method, 422 configuration invalid, 503 no datapath.
 */
#pragma once

#include "control/api_server.h"
#include "control/daemon.h"

/* The handler for gw_api_server_open; the owner is the struct gw_daemon. */
void gw_api_handle(void *owner, const struct gw_api_request *request, struct gw_api_reply *reply);
