/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether this node wants traffic. A drained node stops announcing its service addresses and says
 * so to whoever asks (`GET /v1/ready`); what still arrives is forwarded as before, so flows go on.
 * Kept in the state folder (node.json): a node that was drained by hand stays so after a restart.
 * A node that is about to end withdraws too, but that is forgotten with the process.
 */
#pragma once

#include <jansson.h>

#include <stdbool.h>
#include <stdint.h>

struct gw_node;

/* Reads the file below state_dir, if there is one. warning: a line when what is there could not be
 * read (the node then counts as drained: nobody knows that it was not), else "". */
#define GW_NODE_WARNING 320
int gw_node_open(const char *state_dir, struct gw_node **out, char warning[static GW_NODE_WARNING]);
void gw_node_free(struct gw_node *node); /* NULL is fine */

/* On disk before it returns. *changed is false when it was so before. Returns 0 or -errno, and then
 * nothing has changed. */
int gw_node_drain(struct gw_node *node, bool drain, const char *who, const char *why,
	int64_t now_ms, bool *changed);

/* The process is about to end. */
void gw_node_leave(struct gw_node *node);

/* Whether to attract traffic: what announces asks this. */
bool gw_node_announces(const struct gw_node *node);

/* {"state":"serving|drained|leaving","announces","who","why","since"}; the caller's. */
json_t *gw_node_json(const struct gw_node *node);
