/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a flow goes, and why: the datapaths' decision, made from a build with the same abi
 * functions. Online it may be completed by the flow table's entry.
 */
#pragma once

#include "abi/key.h"
#include "control/builder.h"
#include "control/publisher.h"

#include <jansson.h>

#include <stddef.h>
#include <stdint.h>

#define GW_LOOKUP_ERROR 160

/*
 * Reads "tcp 198.51.100.7:40000 203.0.113.10:80", "udp [2001:db8::7]:5 [2001:db8:113::10]:53", or a
 * protocol without ports ("icmp", "gre", "47") and bare addresses. 0 or -EINVAL with one line in
 * `error` that quotes what is wrong; key untouched then.
 */
int gw_flow_parse(const char *text, struct gw_flow_key *key, char error[static GW_LOOKUP_ERROR]);
/* The same text back. Returns text. */
#define GW_FLOW_TEXT 128
char *gw_flow_format(const struct gw_flow_key *key, char text[static GW_FLOW_TEXT]);

enum gw_lookup_reason {
	GW_LOOKUP_TABLE,      /* the slot's member */
	GW_LOOKUP_TABLE_ONLY, /* the same, for each packet: the service tracks no flows */
	GW_LOOKUP_TRACKED,    /* the flow table's entry, whatever the table says */
	GW_LOOKUP_HOST,	      /* no service's address, or no_service: host: the kernel's */
	GW_LOOKUP_NO_SERVICE, /* a service's address, no service on this protocol and port */
	GW_LOOKUP_NO_BACKEND, /* the pool has no eligible member */
	GW_LOOKUP_MARTIAN,    /* dropped for its source, before a service is asked for */
	GW_LOOKUP_ICMP_OTHER, /* dropped as ICMP, before a service is asked for */
};

struct gw_lookup {
	enum gw_lookup_reason reason;
	const struct gw_build_service *service; /* NULL: none */
	const struct gw_build_pool *pool;	/* NULL: none */
	const struct gw_build_backend *backend; /* NULL: none */
	uint64_t hash;				/* 0 without a service */
	uint32_t slot;				/* GW_NONE without a table */
	bool tracked;				/* the flow table has an entry */
	uint32_t tracked_backend;		/* its backend's id */
};

/* Reads the build only; any thread. */
void gw_lookup_flow(
	const struct gw_build *build, const struct gw_flow_key *key, struct gw_lookup *result);
/*
 * Takes the flow table's answer into account, for a packet that is no SYN: a tracked flow stays
 * while its backend may keep it. One of a service that tracks none does not, whatever the table
 * still has of the time when it did.
 */
void gw_lookup_track(const struct gw_build *build, const struct gw_flow_answer *answer,
	struct gw_lookup *result);

/* "table", "table_only", "tracked", "host", "no_service", "no_backend", "martian", "icmp_other". */
const char *gw_lookup_reason_name(enum gw_lookup_reason reason);
/* The object of contract.md (and "flow", "address", "explanation"); NULL without memory. */
json_t *gw_lookup_json(const struct gw_build *build, const struct gw_flow_key *key,
	const struct gw_lookup *result);
/* The lines for people, as snprintf. */
int gw_lookup_print(const struct gw_build *build, const struct gw_flow_key *key,
	const struct gw_lookup *result, char *text, size_t size);
