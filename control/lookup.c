/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/lookup.h"

#include "abi/parse.h"
#include "abi/service.h"
#include "abi/table_slot.h"
#include "base/address.h"

#include <stdio.h>
#include <string.h>

/* The vip of this prefix among those of one length, sorted by address. */
static const struct gw_vip *vip_search(
	const struct gw_vip *vips, size_t count, const struct gw_address *address)
{
	size_t low = 0;

	while (low < count) {
		size_t middle = low + (count - low) / 2;
		int order = memcmp(address, &vips[middle].address, sizeof(*address));

		if (!order)
			return &vips[middle];
		if (order < 0)
			count = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static struct gw_address address_mask(const struct gw_address *address, uint8_t length)
{
	struct gw_address masked = {0};

	memcpy(masked.bytes, address->bytes, length / 8);
	if (length % 8)
		masked.bytes[length / 8] =
			(uint8_t)(address->bytes[length / 8] & (0xff00 >> length % 8));
	return masked;
}

/* Behind the last vip of vips[first]'s length; builder.c sorts by length, longest first. */
static size_t length_end(const struct gw_vip *vips, size_t count, size_t first)
{
	size_t low = first + 1, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (vips[middle].prefix_length == vips[first].prefix_length)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const void *section_data(
	const struct gw_snapshot_header *header, const struct gw_section *section)
{
	return (const char *)header + section->offset;
}

/* The longest service prefix that holds the address. */
static const struct gw_vip *vip_find(
	const struct gw_snapshot_header *header, const struct gw_address *address)
{
	const struct gw_vip *vips = section_data(header, &header->vips);

	for (size_t first = 0, end; first < header->vips.count; first = end) {
		uint8_t length = vips[first].prefix_length;
		struct gw_address masked = address_mask(address, length);
		const struct gw_vip *vip;

		end = length_end(vips, header->vips.count, first);
		/* ::/0 and the like are IPv6: they do not hold IPv4's mapped block. */
		if (length < 96 && gw_address_is_ipv4(address))
			return NULL;
		vip = vip_search(vips + first, end - first, &masked);
		if (vip)
			return vip;
	}
	return NULL;
}

static const struct gw_span *span_at(const void *path, uint32_t index)
{
	const struct gw_snapshot_header *header = path;
	const struct gw_span *spans = section_data(header, &header->spans);

	return &spans[index];
}

/* What the datapaths drop before they ask for a service: a packet that no client can have sent,
 * ICMP. */
static bool lookup_refuse(const struct gw_flow_key *key, struct gw_lookup *result)
{
	struct gw_packet packet = {
		.key = *key,
		.family = gw_address_is_ipv4(&key->destination) ? GW_IPV4 : GW_IPV6,
		.protocol = key->protocol,
	};

	if (gw_parse_source_is_martian(&packet))
		result->reason = GW_LOOKUP_MARTIAN;
	else if (gw_parse_is_icmp(&packet))
		result->reason = GW_LOOKUP_ICMP_OTHER;
	else
		return false;
	return true;
}

void gw_lookup_flow(
	const struct gw_build *build, const struct gw_flow_key *key, struct gw_lookup *result)
{
	const struct gw_snapshot_header *header = build->snapshot->data;
	const struct gw_vip *vip = vip_find(header, &key->destination);
	struct gw_flow_key reduced = *key;
	uint32_t service;

	*result = (struct gw_lookup){.reason = GW_LOOKUP_HOST, .slot = GW_NONE};
	if (!vip || lookup_refuse(key, result))
		return;
	service = gw_service_match(
		vip, key->protocol, GW_NTOHS(key->destination_port), header, span_at);
	if (service == GW_NONE) {
		result->reason =
			vip->flags & GW_VIP_NO_SERVICE_HOST ? GW_LOOKUP_HOST : GW_LOOKUP_NO_SERVICE;
		return;
	}
	result->service = build->service_by_id[service];
	result->pool = &build->pools[result->service->pool];
	gw_flow_key_reduce(&reduced, (uint8_t)result->service->affinity);
	result->hash = gw_flow_hash(&reduced, header->hash_seed);
	if (!result->pool->member_count) {
		result->reason = GW_LOOKUP_NO_BACKEND;
		return;
	}
	result->slot = gw_table_slot(result->hash, result->pool->table_size);
	result->backend =
		&result->pool->backends[result->pool->members[result->pool->slots[result->slot]]];
	result->reason = result->service->track_flows ? GW_LOOKUP_TABLE : GW_LOOKUP_TABLE_ONLY;
}

void gw_lookup_track(
	const struct gw_build *build, const struct gw_flow_answer *answer, struct gw_lookup *result)
{
	const struct gw_snapshot_header *header = build->snapshot->data;
	const struct gw_backend *backends = section_data(header, &header->backends);

	if (!answer->found || !result->service || !result->service->track_flows)
		return;
	result->tracked = true;
	result->tracked_backend = answer->backend;
	if (answer->backend >= header->backends.count || !build->backend_by_id[answer->backend])
		return;
	if (!gw_backend_keeps_flow(&backends[answer->backend], result->pool->id, false))
		return;
	result->reason = GW_LOOKUP_TRACKED;
	result->backend = build->backend_by_id[answer->backend];
}

const char *gw_lookup_reason_name(enum gw_lookup_reason reason)
{
	static const char *const names[] = {"table", "table_only", "tracked", "host", "no_service",
		"no_backend", "martian", "icmp_other"};

	return names[reason];
}

/* A sentence for people. */
static void explain(const struct gw_lookup *result, char *text, size_t size)
{
	const char *tail = result->tracked && result->reason != GW_LOOKUP_TRACKED
				   ? "; the flow is tracked on a backend that may not keep it"
				   : "";

	switch (result->reason) {
	case GW_LOOKUP_TABLE:
		snprintf(text, size, "slot %u of %u belongs to %s (%s)%s", result->slot,
			result->pool->table_size, result->backend->name,
			gw_reason_text(result->backend->effect.reason), tail);
		break;
	case GW_LOOKUP_TABLE_ONLY:
		snprintf(text, size,
			"slot %u of %u belongs to %s (%s); service %s does not track flows",
			result->slot, result->pool->table_size, result->backend->name,
			gw_reason_text(result->backend->effect.reason), result->service->base);
		break;
	case GW_LOOKUP_TRACKED:
		snprintf(text, size, "the flow table keeps it on %s (%s)", result->backend->name,
			gw_backend_state_name(result->backend->effect.state));
		break;
	case GW_LOOKUP_HOST:
		snprintf(text, size, "no service has this address and port: the host's own packet");
		break;
	case GW_LOOKUP_NO_SERVICE:
		snprintf(text, size, "a service's address, but none on this protocol and port");
		break;
	case GW_LOOKUP_NO_BACKEND:
		snprintf(text, size, "no backend of pool %s is eligible%s", result->pool->name,
			tail);
		break;
	case GW_LOOKUP_MARTIAN:
		snprintf(text, size, "dropped: no client of a service can have this source");
		break;
	case GW_LOOKUP_ICMP_OTHER:
		snprintf(text, size, "dropped: ICMP is not balanced as a flow");
		break;
	}
}

json_t *gw_lookup_json(
	const struct gw_build *build, const struct gw_flow_key *key, const struct gw_lookup *result)
{
	const struct gw_build_pool *pool = result->pool;
	bool table = pool && pool->member_count;
	char flow[GW_FLOW_TEXT], hash[17], digest[33], address[GW_ADDRESS_TEXT], text[256];

	explain(result, text, sizeof(text));
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)result->hash);
	if (table)
		gw_digest_format(&pool->digest, digest);
	if (result->backend)
		gw_address_format(result->backend->address, address);
	return json_pack("{s:s,s:s?,s:s?,s:s?,s:o,s:s?,s:s?,s:o,s:o,s:s?,s:I,s:b,s:s,s:s,s:s?}",
		"flow", gw_flow_format(key, flow), "service",
		result->service ? result->service->base : NULL, "pool", pool ? pool->base : NULL,
		"hash", result->service ? hash : NULL, "slot",
		result->slot == GW_NONE ? json_null() : json_integer(result->slot), "backend",
		result->backend ? result->backend->name : NULL, "address",
		result->backend ? address : NULL, "table_size",
		pool ? json_integer(pool->table_size) : json_null(), "table_version",
		table ? json_integer((json_int_t)pool->table_version) : json_null(), "digest",
		table ? digest : NULL, "version", (json_int_t)build->version, "tracked",
		result->tracked, "reason", gw_lookup_reason_name(result->reason), "explanation",
		text, "table", pool ? pool->name : NULL);
}

int gw_lookup_print(const struct gw_build *build, const struct gw_flow_key *key,
	const struct gw_lookup *result, char *text, size_t size)
{
	const struct gw_build_pool *pool = result->pool;
	char flow[GW_FLOW_TEXT], digest[33], address[GW_ADDRESS_TEXT], why[256];

	explain(result, why, sizeof(why));
	gw_flow_format(key, flow);
	if (!result->service)
		return snprintf(text, size, "flow     %s\nservice  none\nwhy      %s\n", flow, why);
	if (!result->backend)
		return snprintf(text, size,
			"flow     %s\nservice  %s (pool %s)\nhash     %016llx\nbackend  none\n"
			"why      %s\n",
			flow, result->service->name, pool->name, (unsigned long long)result->hash,
			why);
	return snprintf(text, size,
		"flow     %s\nservice  %s (pool %s)\nhash     %016llx\nslot     %u of %u\n"
		"backend  %s (%s)\ntable    version %llu, digest %s, snapshot %llu\n"
		"why      %s\n",
		flow, result->service->name, pool->name, (unsigned long long)result->hash,
		result->slot, pool->table_size, result->backend->name,
		gw_address_format(result->backend->address, address),
		(unsigned long long)pool->table_version, gw_digest_format(&pool->digest, digest),
		(unsigned long long)build->version, why);
}
