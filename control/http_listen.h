/* SPDX-License-Identifier: BSD-2-Clause */
/* Listening descriptors, non-blocking. */
#pragma once

#include "control/model_api.h"

/*
 * A socket that nobody listens on any more is replaced; -EADDRINUSE when somebody does. The folder
 * is made if only its last level is missing. Returns the descriptor or -errno; -ENOKEY: no such
 * group.
 */
int gw_http_listen_unix(const struct gw_config_socket *socket);

/* Whether its group exists: 0 or -ENOKEY. */
int gw_http_group_check(const struct gw_config_socket *socket);

/*
 * Group and mode of a socket that is there. Returns 0 or -errno; -ENOKEY: no such group; -EPERM:
 * the group needs a privilege that is gone after the start (the mode is set all the same).
 */
int gw_http_socket_allow(const struct gw_config_socket *socket);

int gw_http_listen_tcp(const struct gw_config_listen *listen);
