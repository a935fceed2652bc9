/* SPDX-License-Identifier: BSD-2-Clause */
/* The image of abi/snapshot.h, all but the tables: layout and records. */
#include "abi/encap.h"
#include "control/builder_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SECTION_ALIGN 64u

static uint64_t align_up(uint64_t offset)
{
	return (offset + SECTION_ALIGN - 1) & ~(uint64_t)(SECTION_ALIGN - 1);
}

static uint64_t section_place(
	struct gw_section *section, uint64_t at, uint64_t count, size_t record_size)
{
	section->offset = count ? at : 0;
	section->count = count;
	return align_up(at + count * record_size);
}

static void *section_data(const struct build_job *job, const struct gw_section *section)
{
	return (char *)job->image + section->offset;
}

static int hop_order(const void *a, const void *b)
{
	const struct gw_next_hop *left = a, *right = b;

	int order = memcmp(&left->address, &right->address, sizeof(left->address));

	return order ? order : left->flags - right->flags;
}

static struct gw_next_hop next_hop_of(
	const struct gw_build_pool *pool, const struct gw_build_backend *backend)
{
	struct gw_next_hop hop = {.flags = pool->encap == GW_ENCAP_L2 ? GW_HOP_ON_LINK : 0};

	memcpy(hop.address.bytes, backend->address, 16);
	hop.family = gw_address_is_ipv4(&hop.address) ? GW_IPV4 : GW_IPV6;
	return hop;
}

/* One next hop for each distinct backend address and way to reach it, sorted. */
static int next_hops_make(struct build_job *job)
{
	const struct gw_build *build = job->build;
	size_t room = 0, count = 0, unique = 0;
	struct gw_next_hop *hops;

	for (size_t p = 0; p < build->pool_count; p++)
		room += build->pools[p].backend_count;
	hops = calloc(room ? room : 1, sizeof(*hops));
	if (!hops)
		return build_fail(job, -ENOMEM, "no memory for %zu next hops", room);
	for (size_t p = 0; p < build->pool_count; p++) {
		const struct gw_build_pool *pool = &build->pools[p];

		for (size_t b = 0; b < pool->backend_count; b++)
			hops[count++] = next_hop_of(pool, &pool->backends[b]);
	}
	qsort(hops, count, sizeof(*hops), hop_order);
	for (size_t i = 0; i < count; i++)
		if (!unique || hop_order(&hops[unique - 1], &hops[i]) != 0)
			hops[unique++] = hops[i];
	for (size_t i = 0; job->input->hint && i < unique; i++)
		job->input->hint(job->input->hint_owner, &hops[i]);
	job->next_hops = hops;
	job->next_hop_count = unique;
	return 0;
}

static uint32_t next_hop_find(const struct build_job *job, const struct gw_next_hop *key)
{
	const struct gw_next_hop *hop =
		bsearch(key, job->next_hops, job->next_hop_count, sizeof(*key), hop_order);

	return (uint32_t)(hop - job->next_hops);
}

/* Offsets of all sections. */
static void layout_make(struct build_job *job, struct gw_snapshot_header *header)
{
	const struct gw_build *build = job->build;
	uint64_t at = align_up(sizeof(*header)), members = 0;

	for (size_t i = 0; i < build->pool_count; i++)
		members += build->pools[i].member_count;
	at = section_place(&header->pools, at, build->pool_count, sizeof(struct gw_pool));
	at = section_place(
		&header->services, at, build->service_by_id_count, sizeof(struct gw_service));
	at = section_place(&header->vips, at, job->vip_count, sizeof(struct gw_vip));
	at = section_place(&header->spans, at, job->span_count, sizeof(struct gw_span));
	at = section_place(
		&header->backends, at, build->backend_by_id_count, sizeof(struct gw_backend));
	at = section_place(&header->members, at, members, sizeof(uint32_t));
	at = section_place(&header->next_hops, at, job->next_hop_count, sizeof(struct gw_next_hop));
	header->total_size = at;
}

static struct gw_flow_timeouts timeouts_make(const struct gw_config_timeouts *timeouts)
{
	uint16_t udp = (uint16_t)timeouts->udp, sctp = (uint16_t)timeouts->sctp;
	uint16_t new_flow = (uint16_t)timeouts->tcp_new;
	uint16_t established = (uint16_t)timeouts->tcp_established;
	uint16_t closing = (uint16_t)timeouts->tcp_closing;

	return (struct gw_flow_timeouts){
		.seconds = {
			[GW_CLASS_OTHER] = {0, udp, udp, udp},
			[GW_CLASS_TCP] = {0, new_flow, established, closing},
			[GW_CLASS_UDP] = {0, udp, udp, udp},
			[GW_CLASS_SCTP] = {0, sctp, sctp, sctp},
		}};
}

/*
 * The outer source: the node's address, or with entropy the base of its prefix and how many bits of
 * it vary, 32 at most. l2 has none: the unspecified address of the right family.
 */
static int source_write(struct build_job *job, const struct gw_build_pool *pool,
	const struct gw_build_backend *backend, struct gw_backend *record)
{
	const struct gw_config_node *node = &job->input->config->node;
	bool ipv4 = record->family == GW_IPV4;
	const struct gw_prefix *prefix =
		ipv4 ? &node->source_prefix_ipv4 : &node->source_prefix_ipv6;
	bool has_prefix = ipv4 ? node->has_source_prefix_ipv4 : node->has_source_prefix_ipv6;
	bool has_source = ipv4 ? node->has_source_ipv4 : node->has_source_ipv6;

	if (pool->encap == GW_ENCAP_L2) {
		if (ipv4)
			gw_address_set_ipv4(&record->outer_source, (const uint8_t[4]){0});
		return 0;
	}
	if (pool->entropy ? !has_prefix : !has_source)
		return build_fail(job, -EINVAL,
			"backend %s/%s needs an outer source address: set node.source_%s%s",
			pool->name, backend->name, pool->entropy ? "prefix_" : "",
			ipv4 ? "ipv4" : "ipv6");
	if (pool->entropy) {
		unsigned int bits = 128u - prefix->length;

		memcpy(record->outer_source.bytes, prefix->address, 16);
		record->source_bits = (uint8_t)(bits < 32 ? bits : 32);
		record->flags |= GW_BACKEND_FLOW_LABEL;
		return 0;
	}
	memcpy(record->outer_source.bytes, ipv4 ? node->source_ipv4 : node->source_ipv6, 16);
	return 0;
}

static int backend_write(struct build_job *job, const struct gw_build_pool *pool,
	const struct gw_build_backend *backend, struct gw_backend *record)
{
	struct gw_next_hop key = next_hop_of(pool, backend);
	uint32_t hop = next_hop_find(job, &key);
	uint8_t encap = (uint8_t)pool->encap;

	*record = (struct gw_backend){
		.pool = (uint16_t)pool->id,
		.gue_port = GW_HTONS(pool->gue_port),
		.next_hop = hop,
		.state = (uint8_t)backend->effect.state,
		.encap = encap,
		.family = key.family,
		.flags = (uint8_t)((pool->keep_on_down ? GW_BACKEND_KEEP_ON_DOWN : 0) |
				   (pool->gue_checksum ? GW_BACKEND_GUE_CHECKSUM : 0)),
		.mtu = (uint16_t)gw_mtu_lower(pool->mtu, job->next_hops[hop].mtu),
		.overhead = (uint8_t)gw_encap_overhead_of(encap, key.family),
		.outer_destination = key.address,
		.link = job->next_hops[hop].link,
	};
	return source_write(job, pool, backend, record);
}

/* Pools, members and backends. */
static int pools_write(struct build_job *job)
{
	const struct gw_build *build = job->build;
	struct gw_pool *records = section_data(job, &job->image->pools);
	uint32_t *members = section_data(job, &job->image->members);
	struct gw_backend *backends = section_data(job, &job->image->backends);
	uint32_t next_member = 0;

	for (size_t p = 0; p < build->pool_count; p++) {
		const struct gw_build_pool *pool = &build->pools[p];

		records[p] = (struct gw_pool){.id = pool->id,
			.table_size = pool->table_size,
			.member_first = pool->member_count ? next_member : 0,
			.member_count = pool->member_count,
			.digest = pool->digest,
			.table_version = pool->table_version};
		for (uint32_t m = 0; m < pool->member_count; m++)
			members[next_member++] = pool->backends[pool->members[m]].id;
		for (size_t b = 0; b < pool->backend_count; b++) {
			const struct gw_build_backend *backend = &pool->backends[b];
			int status = backend_write(job, pool, backend, &backends[backend->id]);

			if (status < 0)
				return status;
		}
	}
	return 0;
}

static void services_write(struct build_job *job)
{
	const struct gw_build *build = job->build;
	struct gw_service *records = section_data(job, &job->image->services);

	for (size_t i = 0; i < build->service_by_id_count; i++)
		records[i].pool = GW_NONE;
	for (size_t i = 0; i < build->service_count; i++) {
		const struct gw_build_service *service = &build->services[i];

		records[service->id] = (struct gw_service){.pool = build->pools[service->pool].id,
			.affinity = (uint8_t)service->affinity,
			.flags = service->track_flows ? 0 : GW_SERVICE_UNTRACKED};
	}
}

int build_image(struct build_job *job)
{
	const struct gw_build_input *input = job->input;
	struct gw_snapshot_header header = {.magic = GW_SNAPSHOT_MAGIC,
		.abi_version = GW_SNAPSHOT_ABI_VERSION,
		.header_size = sizeof(header),
		.version = input->version,
		.hash_seed = input->config->hash_seed,
		.control_lost_s = input->config->control_lost.withdraw
					  ? input->config->control_lost.after_s
					  : 0,
		.timeouts = timeouts_make(&input->config->timeouts),
		.fragment_ms = input->config->timeouts.fragment_ms};
	int status = next_hops_make(job);

	if (status < 0)
		return status;
	layout_make(job, &header);
	job->image = aligned_alloc(SECTION_ALIGN, header.total_size);
	if (!job->image)
		return build_fail(job, -ENOMEM, "no memory for a snapshot of %llu bytes",
			(unsigned long long)header.total_size);
	memset(job->image, 0, header.total_size);
	*job->image = header;
	services_write(job);
	if (job->vip_count)
		memcpy(section_data(job, &header.vips), job->vips,
			job->vip_count * sizeof(*job->vips));
	if (job->span_count)
		memcpy(section_data(job, &header.spans), job->spans,
			job->span_count * sizeof(*job->spans));
	if (job->next_hop_count)
		memcpy(section_data(job, &header.next_hops), job->next_hops,
			job->next_hop_count * sizeof(*job->next_hops));
	return pools_write(job);
}

int build_finish(struct build_job *job)
{
	struct gw_snapshot *snapshot = calloc(1, sizeof(*snapshot));

	if (!snapshot)
		return build_fail(job, -ENOMEM, "no memory for the snapshot");
	*snapshot = (struct gw_snapshot){.data = job->image,
		.size = job->image->total_size,
		.tables = job->tables,
		.references = 1};
	job->image = NULL;
	job->tables = NULL;
	job->build->snapshot = snapshot;
	return 0;
}

bool gw_build_same(const struct gw_build *a, const struct gw_build *b)
{
	struct gw_snapshot_header left = *a->snapshot->data, right = *b->snapshot->data;

	left.version = right.version = 0;
	return a->snapshot->size == b->snapshot->size && !memcmp(&left, &right, sizeof(left)) &&
	       !memcmp(a->snapshot->data + 1, b->snapshot->data + 1,
		       a->snapshot->size - sizeof(left));
}

void gw_build_renumber(struct gw_build *build, uint64_t version)
{
	struct gw_snapshot_header *header = (struct gw_snapshot_header *)build->snapshot->data;

	header->version = version;
	build->version = version;
}
