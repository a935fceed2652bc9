/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration as the rest of control works on it: plain structs, made by gw_config_load
 * (config.h), never changed afterwards.
 *
 * Everything below one struct gw_config, strings included, lives in one arena and dies with
 * gw_config_free; nothing in it may be freed or written alone. Since it is immutable, any number of
 * threads may read it; whoever frees it sees to it that nobody still does.
 *
 * Order is the file's (the main file first, then included ones in order of name) and carries no
 * meaning: identity is the name. A backend's identity is "pool/name" and survives reloads, its
 * position does not. Lookups by name are binary searches.
 */
#pragma once

#include "abi/objects.h"
#include "base/address.h"
#include "model_api.h"
#include "model_place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gw_arena;

#define GW_NAME_MAX 63u /* bytes of a name (node, pool, service, backend, zone) */
/* Of a pool or service, with the address that config_expand.h puts behind its name. */
#define GW_PART_MAX (GW_NAME_MAX + GW_PREFIX_TEXT)
#define GW_KEY_MAX  255u /* bytes of a member key */

enum gw_config_path {
	GW_CONFIG_PATH_XDP,
	GW_CONFIG_PATH_DPDK,
};

enum gw_config_xdp_mode {
	GW_CONFIG_XDP_AUTO,
	GW_CONFIG_XDP_NATIVE,
	GW_CONFIG_XDP_GENERIC,
};

/* Of name, pci and vdev exactly one is set; with path xdp it is name. */
struct gw_config_interface {
	const char *name;
	const char *pci;
	const char *vdev;	      /* "net_af_packet0,iface=eth1" */
	enum gw_config_xdp_mode mode; /* path xdp */
	uint16_t vlan;		      /* 0: untagged */
	struct gw_place place;
};

struct gw_config_dataplane {
	enum gw_config_path path;
	struct gw_config_interface *interfaces;
	size_t interface_count;
	uint16_t *cpus; /* the workers' CPUs in the order given */
	size_t cpu_count;
	const char *cpus_text; /* as written, "1" or "1-3,5"; NULL: not given */
	bool poll_busy;	       /* false: adaptive, workers sleep when idle */
	uint32_t flows;	       /* entries of the flow table */
	const char *socket;    /* guideway-dataplane's Unix socket */
};

struct gw_config_timeouts {
	/* whole seconds, 1 to GW_FLOW_TIMEOUT_MAX */
	uint32_t tcp_new;
	uint32_t tcp_established;
	uint32_t tcp_closing;
	uint32_t udp;
	uint32_t sctp;
	uint32_t fragment_ms; /* milliseconds */
};

enum gw_config_check_type {
	GW_CONFIG_CHECK_NONE, /* every backend counts as healthy */
	GW_CONFIG_CHECK_TCP,
	GW_CONFIG_CHECK_HTTP,
	GW_CONFIG_CHECK_HTTPS,
	GW_CONFIG_CHECK_UDP,
	GW_CONFIG_CHECK_DNS,
	GW_CONFIG_CHECK_ICMP,
	GW_CONFIG_CHECK_GRPC,
	GW_CONFIG_CHECK_TYPES
};

/* How a backend begins that its pool does not know yet. */
enum gw_config_initial {
	GW_CONFIG_INITIAL_AUTO, /* up in a pool that is new, else down */
	GW_CONFIG_INITIAL_DOWN, /* waits for `rise` successes */
	GW_CONFIG_INITIAL_UP,	/* serves at once; the first probe judges it */
};

enum gw_config_check_via {
	GW_CONFIG_VIA_DIRECT,
	GW_CONFIG_VIA_TUNNEL,
};

/* Numbers low to high, both included. */
struct gw_config_range {
	uint16_t low;
	uint16_t high;
};

struct gw_config_bytes {
	const uint8_t *data; /* NULL: not given */
	size_t length;
};

/* A pool's is complete: the defaults are already merged in, key by key. */
struct gw_config_check {
	enum gw_config_check_type type;
	enum gw_config_check_via via;
	uint32_t interval_ms;
	uint32_t fast_interval_ms; /* between probes while results contradict the state */
	uint32_t timeout_ms;	   /* of the whole probe; at most either interval */
	uint16_t rise;		   /* successes in a row that bring a backend up */
	uint16_t fall;		   /* failures in a row that take it down */
	/*
	 * Not given in the file: the first port of the first service that uses the pool. 0 only in
	 * a pool that nobody can check: type none, or loaded without GW_CONFIG_DAEMON.
	 */
	uint16_t port;
	bool port_bad;	/* written, but no port: only while errors are looked for */
	bool query_bad; /* the same of query */
	enum gw_config_initial initial;
	const char *path; /* http, https: begins with '/' */
	const char *host; /* http, https, grpc: the Host header; NULL: the address probed */
	struct gw_config_range *expect; /* http, https: status codes that count as success */
	size_t expect_count;
	struct gw_config_bytes body; /* http, https: what the answer's body must contain */
	const char *sni;	     /* https: name asked for and verified; NULL: host, or none */
	bool verify;		     /* https: the certificate must be good */
	const char *ca_file;	     /* https: NULL: the system's authorities */
	struct gw_config_bytes send; /* udp; NULL: an empty datagram */
	struct gw_config_bytes receive; /* udp: what the answer must contain; NULL: any answer */
	const char *query;		/* dns: the name asked for */
	uint16_t query_type;		/* dns */
	uint16_t *rcodes;		/* dns: response codes that count as success */
	size_t rcode_count;
	const char *answer;	  /* dns: an address or name that a record must have; NULL: any */
	const char *grpc_service; /* grpc: NULL: the server as a whole */
	struct gw_place place;	  /* file NULL: no healthcheck in the file */
	struct gw_place timeout_place; /* file NULL: not written */
	struct gw_place fast_interval_place;
};

enum gw_config_backend_state {
	GW_CONFIG_ACTIVE,
	GW_CONFIG_DRAIN,    /* no new flows */
	GW_CONFIG_DISABLED, /* nothing */
};

struct gw_config_backend {
	const char *name;    /* unique in the pool */
	const char *id;	     /* "pool/name", the identity that survives reloads */
	uint8_t address[16]; /* base/address.h; unique in the pool */
	const char *key;     /* member key: `key`, else the address in RFC 5952 text */
	uint32_t weight;     /* 0: no new flows */
	enum gw_config_backend_state state;
	const char *zone; /* NULL: none */
	bool removed;	  /* the file has it no longer: drains (gw_config_keep_leavers) */
	struct gw_place place;
	struct gw_place address_place;
	struct gw_place weight_place; /* file NULL: not written */
	struct gw_place key_place;    /* file NULL: not written */
};

/* A backend that flips again and again is held down: runtime.h. */
struct gw_config_damping {
	uint32_t after;	    /* flips that are free; 0: no damping */
	uint32_t window_ms; /* staying up this long forgives them */
	uint32_t hold_ms;   /* the first time; doubles with each flip more */
	uint32_t hold_max_ms;
};

/* The weight of a backend that enters rises in equal steps. */
struct gw_config_slow_start {
	uint32_t duration_ms; /* 0: none */
	uint8_t from;	      /* per cent */
	uint8_t steps;
};

/* At most `count` members enter within `per_ms`. */
struct gw_config_enter_limit {
	uint32_t count; /* 0: no limit */
	uint32_t per_ms;
};

struct gw_config_pool {
	const char *name;
	const char *base; /* config_expand.h: the pool this one is a part of; NULL: of the file */
	/* Where probes go that are sent through the tunnel; set by gw_config_expand. */
	bool has_probe_address;
	uint8_t probe_address[16];
	enum gw_encap encap;
	uint32_t table_size;	   /* a prime */
	uint8_t panic_below;	   /* per cent of healthy backends; 0: off */
	bool keep_on_down;	   /* on_down: keep */
	uint32_t drain_timeout_ms; /* 0: off, a draining backend is never disabled by time */
	bool entropy;		   /* vary the outer source by flow, and the IPv6 flow label */
	uint16_t gue_port;
	bool gue_checksum;
	uint16_t mtu; /* 0: the egress interface's */
	struct gw_config_check check;
	struct gw_config_damping damping;
	struct gw_config_slow_start slow_start;
	struct gw_config_enter_limit enter_limit;
	struct gw_config_backend *backends;
	size_t backend_count;
	const char *members_file; /* where the backends came from; NULL: the pool's own list */
	struct gw_config_backend **by_name; /* backend_count, sorted by name */
	struct gw_place place;
	struct gw_place table_size_place; /* file NULL: not written */
	struct gw_place on_down_place;	  /* file NULL: not written */
	struct gw_place entropy_place;	  /* file NULL: not written */
};

#define GW_CONFIG_PROTOCOL_ANY 0 /* otherwise IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP */

enum gw_config_announce {
	GW_CONFIG_ANNOUNCE_NONE,
	GW_CONFIG_ANNOUNCE_L2,
	GW_CONFIG_ANNOUNCE_BGP,
};

/* Who answers an echo request to the address. */
enum gw_config_echo {
	GW_CONFIG_ECHO_ALWAYS,	 /* the balancer */
	GW_CONFIG_ECHO_WHILE_UP, /* the balancer, while some service there has a backend */
	GW_CONFIG_ECHO_NEVER,
};

enum gw_config_no_service {
	GW_CONFIG_NO_SERVICE_DROP,
	GW_CONFIG_NO_SERVICE_HOST,
};

struct gw_config_service_address {
	struct gw_prefix prefix;
	struct gw_place place;
};

struct gw_config_service_ports {
	struct gw_config_range range; /* any: 0-65535 */
	struct gw_place place;
};

/* Serves each of its addresses on each of its ports. */
struct gw_config_service {
	const char *name;
	const char
		*base; /* config_expand.h: the service this one is a part of; NULL: of the file */
	struct gw_config_service_address *addresses;
	size_t address_count;
	struct gw_config_service_address *written; /* those of the file, where they were split */
	size_t written_count;
	uint8_t protocol;
	struct gw_config_service_ports *ports; /* protocol any: one entry, any */
	size_t port_count;
	const struct gw_config_pool *pool;
	const char *pool_name;
	enum gw_affinity affinity;
	bool track_flows;
	enum gw_config_announce announce;
	enum gw_config_no_service no_service; /* the same in all services of one address */
	enum gw_config_echo echo;	      /* the same in all services of one address */
	struct gw_place place;
	struct gw_place pool_place;
	struct gw_place protocol_place;
	struct gw_place ports_place;	   /* file NULL: not written */
	struct gw_place no_service_place;  /* file NULL: not written */
	struct gw_place echo_place;	   /* file NULL: not written */
	struct gw_place track_flows_place; /* file NULL: not written */
};

/* The outer source by family; the prefixes are what entropy varies it within. */
struct gw_config_node {
	const char *name; /* NULL: not given */
	bool has_source_ipv4;
	bool has_source_ipv6;
	bool has_source_prefix_ipv4;
	bool has_source_prefix_ipv6;
	uint8_t source_ipv4[16];
	uint8_t source_ipv6[16];
	struct gw_prefix source_prefix_ipv4;
	struct gw_prefix source_prefix_ipv6;
};

/* What is run when something changes state; program NULL: nothing. */
struct gw_config_hooks {
	const char *program;
	uint32_t timeout_ms; /* then it is killed */
};

/* What the datapath does when it has not heard of control for so long. */
struct gw_config_control_lost {
	uint32_t after_s;
	bool withdraw; /* false: it keeps announcing */
};

enum gw_config_text_kind {
	GW_CONFIG_TEXT_MAIN,
	GW_CONFIG_TEXT_INCLUDE,
	GW_CONFIG_TEXT_MEMBERS,
};

/* A file of the configuration, whole. */
struct gw_config_text {
	const char *name;
	const char *text; /* with a NUL behind it */
	size_t length;
	enum gw_config_text_kind kind;
};

/* How probes through the tunnel find their way (check_tunnel.h). */
struct gw_config_probe_mark {
	uint32_t bits;	/* of the socket's mark: one run of at least two */
	uint32_t table; /* of routes */
};

struct gw_config {
	struct gw_config_node node;
	uint64_t hash_seed;
	const char
		*hash_seed_file; /* the seed is a secret and came from here; NULL: from the file */
	struct gw_config_dataplane dataplane;
	struct gw_config_timeouts timeouts;
	struct gw_config_check default_check;
	struct gw_config_hooks hooks;
	struct gw_config_probe_mark probe_mark;
	struct gw_config_pool *pools;
	size_t pool_count;
	struct gw_config_pool **pools_by_name;
	struct gw_config_service *services;
	size_t service_count;
	struct gw_config_service **services_by_name;
	const char *state_dir;	 /* state file and the like */
	const char *xdp_pin_dir; /* below a bpffs */
	struct gw_config_control_lost control_lost;
	uint32_t shutdown_drain_ms; /* how long SIGTERM waits for flows to end; 0: off */
	struct gw_config_api api;
	struct gw_config_listen metrics;
	/* The files as they were read: the main one, those it includes, members files. */
	struct gw_config_text *texts;
	size_t text_count;
	const char **files; /* every configuration file read, the main one first */
	size_t file_count;
	struct gw_arena *arena;
};

/* All of it; NULL is fine. */
void gw_config_free(struct gw_config *config);

/* NULL: no such name. */
struct gw_config_pool *gw_config_pool_find(const struct gw_config *config, const char *name);
struct gw_config_service *gw_config_service_find(const struct gw_config *config, const char *name);
struct gw_config_backend *gw_config_backend_find(
	const struct gw_config_pool *pool, const char *name);

/* The words of the file for the enums above; never NULL for a valid value. */
const char *gw_config_path_name(enum gw_config_path path);
const char *gw_config_xdp_mode_name(enum gw_config_xdp_mode mode);
const char *gw_config_check_type_name(enum gw_config_check_type type);
const char *gw_config_backend_state_name(enum gw_config_backend_state state);
const char *gw_config_encap_name(enum gw_encap encap);
const char *gw_config_affinity_name(enum gw_affinity affinity);
const char *gw_config_protocol_name(uint8_t protocol);
/* Of the DNS: NULL for a number that the file has no word for. */
const char *gw_config_rcode_name(uint16_t code);
const char *gw_config_query_type_name(uint16_t type);
