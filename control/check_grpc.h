/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of grpc.health.v1, apart from any connection. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A frame and a HealthCheckRequest around a name of at most 255 bytes. */
#define GW_GRPC_REQUEST_MAX (5 + 3 + 255)

/* Writes the frame for a service, NULL: the server as a whole; returns its length. */
size_t gw_grpc_request_make(const char *service, uint8_t frame[static GW_GRPC_REQUEST_MAX]);

/*
 * The status in a frame with a HealthCheckResponse: 0 UNKNOWN, 1 SERVING, 2 NOT_SERVING,
 * 3 SERVICE_UNKNOWN, or what the server made up. -EBADMSG when it is no such thing.
 */
int gw_grpc_status_read(const uint8_t *data, size_t length, uint64_t *status);
