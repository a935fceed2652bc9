/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include <stdbool.h>

/* The listening descriptor, non-blocking, or -errno; the rules are api_server.h's. */
int gw_api_socket_listen(const char *path);
