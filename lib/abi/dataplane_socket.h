/* SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */
/*
 * Messages between guideway-control and guideway-dataplane: SOCK_SEQPACKET, Unix domain. The
 * dataplane listens (default /run/guideway/dataplane.sock) and serves one control at a time; a
 * newer connection replaces the older. Every message is one struct below, starting with struct
 * gw_message, at most GW_MESSAGE_MAX bytes. Whoever sees a bad magic, ABI version, type or length
 * closes the connection and goes on with what is in force.
 *
 *	dataplane -> control   HELLO            once, after accept; carries the statistics memfd
 *	                                        (SCM_RIGHTS)
 *	control -> dataplane   SNAPSHOT         with one sealed memfd (SCM_RIGHTS)
 *	dataplane -> control   SNAPSHOT_REPLY   in force, or why not, or which tables it lacks
 *	control -> dataplane   STATS_GET        asks for fresh numbers in the statistics memfd
 *	dataplane -> control   STATS_REPLY      they are there now
 *	control -> dataplane   FLOW_GET         one tuple
 *	dataplane -> control   FLOW_REPLY       its entry, exactly
 *	control -> dataplane   NODE             the node attracts traffic or not; no answer
 */
/* clang-format on */
#pragma once

#include "abi/key.h"
#include "abi/snapshot.h"
#include "abi/verdict.h"

#define GW_MESSAGE_MAGIC    0x4757414du /* "GWAM" */
#define GW_MESSAGE_ABI	    3u
#define GW_MESSAGE_MAX	    65536
#define GW_DATAPLANE_SOCKET "/run/guideway/dataplane.sock"

enum gw_message_type {
	GW_MESSAGE_HELLO = 1,
	GW_MESSAGE_SNAPSHOT = 2,
	GW_MESSAGE_SNAPSHOT_REPLY = 3,
	GW_MESSAGE_STATS_GET = 4,
	GW_MESSAGE_STATS_REPLY = 5,
	GW_MESSAGE_FLOW_GET = 6,
	GW_MESSAGE_FLOW_REPLY = 7,
	GW_MESSAGE_ALIVE = 8, /* control, every second; no answer */
	GW_MESSAGE_NODE = 9,
};

struct gw_message {
	uint32_t magic;
	uint16_t abi;
	uint16_t type;
	uint32_t length; /* of the whole message */
	uint32_t id;	 /* a reply carries its request's */
};

#define GW_PORT_NAME_MAX 64
#define GW_HELLO_PORTS	 16

struct gw_hello_port {
	char name[GW_PORT_NAME_MAX]; /* ethdev's */
	char kernel[16]; /* kernel interface that carries its routes; "" when there is none */
	char driver[32];
	uint8_t mac[6];
	uint16_t mtu;
	uint16_t queues;
	uint8_t link_up;
	uint8_t reserved[5];
};

struct gw_message_hello {
	struct gw_message head;
	uint64_t snapshot_version; /* in force; 0: none yet */
	uint64_t flow_capacity;
	uint64_t start_time_ns; /* CLOCK_MONOTONIC */
	uint32_t pid;
	uint32_t worker_count;
	uint32_t port_count;
	uint32_t reserved;
	char version[32];
	struct gw_hello_port ports[GW_HELLO_PORTS];
};

struct gw_message_snapshot {
	struct gw_message head;
	uint64_t version;
};

/* Whether the node attracts traffic; sent after each HELLO and at each change. */
struct gw_message_node {
	struct gw_message head;
	uint32_t withdrawn;
	uint32_t reserved;
};

enum gw_snapshot_result {
	GW_SNAPSHOT_IN_FORCE = 0,
	GW_SNAPSHOT_MISSING_TABLES = 1, /* missing[] lists pools; send them whole */
	GW_SNAPSHOT_UNSEALED = 2,
	GW_SNAPSHOT_INVALID = 3, /* `text` says what, and where */
	GW_SNAPSHOT_NO_MEMORY = 4,
	GW_SNAPSHOT_OLD = 5, /* version not above the one in force */
};

#define GW_SNAPSHOT_TEXT    200
#define GW_SNAPSHOT_MISSING GW_MAX_POOLS

struct gw_message_snapshot_reply {
	struct gw_message head;
	uint64_t version;  /* of the snapshot answered */
	uint64_t in_force; /* version in force now */
	uint32_t result;   /* enum gw_snapshot_result */
	uint32_t missing_count;
	char text[GW_SNAPSHOT_TEXT];
	uint32_t missing[GW_SNAPSHOT_MISSING]; /* pool ids; the message ends behind the last one
						  used */
};
_Static_assert(sizeof(struct gw_message_snapshot_reply) <= GW_MESSAGE_MAX, "reply fits a message");

struct gw_message_flow_get {
	struct gw_message head;
	struct gw_flow_key key;
};

struct gw_message_flow_reply {
	struct gw_message head;
	uint32_t found;
	uint32_t backend;
	uint32_t state; /* enum gw_flow_state */
	uint32_t age;	/* seconds since its last packet */
};

/*
 * The statistics memfd, mapped read-only by control. The dataplane's main thread sums the workers'
 * counters into it once a second and on STATS_GET. `sequence` is odd while it writes; a reader
 * that saw it odd or changed reads again. Arrays follow at the offsets given, by id.
 */
#define GW_STATS_MAGIC 0x3153544154535747ull

struct gw_stats {
	uint64_t magic;
	uint32_t abi_version;
	uint32_t sequence;
	uint64_t total_size;
	uint64_t updated_ns; /* CLOCK_MONOTONIC */
	uint64_t snapshot_version;
	uint64_t flows_active;
	struct gw_counters counters;	   /* sum over all workers */
	struct gw_section backend_traffic; /* struct gw_traffic */
	struct gw_section backend_flows;   /* uint32_t active flows */
	struct gw_section service_traffic; /* struct gw_traffic */
	struct gw_section workers;	   /* struct gw_worker_stats */
	struct gw_section ports;	   /* struct gw_port_stats */
	struct gw_section flow_samples;	   /* struct gw_flow_sample, outside `sequence` */
};

/* What a port lost before the datapath saw it, or behind the datapath. */
struct gw_port_stats {
	char name[GW_PORT_NAME_MAX];
	uint64_t rx_missed;  /* by the NIC, for want of a descriptor */
	uint64_t rx_dropped; /* for want of a buffer, or by the kernel */
	uint64_t rx_errors;
	uint64_t tx_errors;
};

struct gw_worker_stats {
	struct gw_counters counters;
	uint32_t cpu;
	uint32_t asleep; /* waiting for an interrupt just now */
	uint64_t busy_cycles;
	uint64_t total_cycles;
};
