/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker's memory of services: which one an address, a protocol and a port lead to, as the whole
 * look-up (service.c) said, for as long as the snapshot lasts. One or ten thousand services, the
 * common packet finds its own with one comparison. It remembers TCP and UDP only, and never that
 * there is no service: what it does not have goes the long road.
 *
 * Open addressing with a few probes. Entries of older snapshots count as free, so nothing is wiped
 * when one comes. When all probes are taken the home place is: clients can fill the memory only
 * with the ports of a service that has many, and then pay the long road's price themselves.
 */
#pragma once

#include "abi/wire.h"
#include "pipeline.h"

#define GW_SERVICE_SEEN_PROBES 4
#define GW_SERVICE_SEEN_MIN    1024
#define GW_SERVICE_SEEN_MAX    32768

struct gw_service_seen {
	uint64_t address[2];
	uint32_t port;	/* the key's destination port, then its protocol, as they lie there */
	uint32_t epoch; /* of the worker's; 0: never used */
	uint32_t service;
	uint32_t reserved;
};
_Static_assert(sizeof(struct gw_service_seen) == 32, "two a cache line");

static __rte_always_inline uint32_t gw_service_seen_home(const uint64_t address[2], uint32_t port)
{
	uint64_t h = address[0] * 0x9e3779b97f4a7c15 + address[1];

	/* A product's middle sees only what stands below it, and addresses differ in their end. */
	h ^= h >> 32;
	return (uint32_t)(((h ^ port) * 0x9e3779b97f4a7c15) >> 40);
}

static __rte_always_inline bool gw_service_seen_is(const struct gw_service_seen *seen,
	uint32_t epoch, const uint64_t address[2], uint32_t port)
{
	return seen->address[0] == address[0] && seen->address[1] == address[1] &&
	       seen->port == port && seen->epoch == epoch;
}

/* The service, or GW_NONE when the worker has not met it. */
static __rte_always_inline uint32_t gw_service_seen_find(const struct gw_service_seen *memory,
	uint32_t mask, uint32_t epoch, const uint64_t address[2], uint32_t port)
{
	uint32_t at = gw_service_seen_home(address, port);
	const struct gw_service_seen *seen = &memory[at & mask];

	for (uint32_t n = 1; unlikely(!gw_service_seen_is(seen, epoch, address, port)); n++) {
		if (n == GW_SERVICE_SEEN_PROBES || seen->epoch != epoch)
			return GW_NONE;
		seen = &memory[(at + n) & mask];
	}
	return seen->service;
}

static inline void gw_service_seen_put(
	struct gw_worker *worker, const struct gw_flow_key *key, uint32_t service)
{
	uint32_t port = key->protocol << 16 | GW_WIRE_LOAD(uint16_t, &key->destination_port);
	const struct gw_service_seen made = {
		.address = {GW_WIRE_LOAD(uint64_t, key->destination.bytes),
			GW_WIRE_LOAD(uint64_t, key->destination.bytes + 8)},
		.port = port,
		.epoch = worker->service_seen_epoch,
		.service = service,
	};
	uint32_t home = gw_service_seen_home(made.address, port), at = home;

	if (key->protocol != GW_PROTO_TCP && key->protocol != GW_PROTO_UDP)
		return;
	for (uint32_t n = 0; n < GW_SERVICE_SEEN_PROBES; n++) {
		struct gw_service_seen *seen =
			&worker->service_seen[(home + n) & worker->service_seen_mask];

		if (seen->epoch != made.epoch ||
			gw_service_seen_is(seen, made.epoch, made.address, port)) {
			at = home + n;
			break;
		}
	}
	worker->service_seen[at & worker->service_seen_mask] = made;
}

/* The worker looks at another snapshot from now on: all that it remembers is of the last one. */
static inline void gw_service_seen_forget(struct gw_worker *worker, uint32_t span_count)
{
	uint32_t room = GW_SERVICE_SEEN_MIN;

	while (room < GW_SERVICE_SEEN_MAX && room < 4 * span_count)
		room *= 2;
	worker->service_seen_mask = room - 1;
	worker->service_seen_epoch++;
}
