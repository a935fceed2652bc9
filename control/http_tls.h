/* SPDX-License-Identifier: BSD-2-Clause */
/* A certificate and its key, read and tried. */
#pragma once

#include "control/private_file.h"

#include <stdint.h>

struct gw_http_tls {
	char *certificate; /* PEM */
	char *key;
	size_t key_length;
	int64_t expires_ms; /* wall clock */
	uint64_t hash;	    /* of both: tells a new pair from the old one */
};

/*
 * Reads both files and checks that they suit each other. Returns 0, or -errno with a line in
 * `error`. The key's file must be private (private_file.h).
 */
int gw_http_tls_read(struct gw_http_tls *tls, const char *certificate, const char *key,
	char error[static GW_PRIVATE_ERROR]);

/* Wipes the key. {0} is fine. */
void gw_http_tls_clear(struct gw_http_tls *tls);
