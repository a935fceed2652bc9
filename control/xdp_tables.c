/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_tables.h"

#include "abi/encap.h"
#include "xdp_lb.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the maps hold of a pool: equal means its inner map need not be made anew. */
struct gw_xdp_known_pool {
	bool present;
	uint32_t table_size;
	uint32_t member_count;
	struct gw_digest digest;
	uint64_t members_hash;
};

static const void *section(const struct gw_snapshot *snapshot, const struct gw_section *section)
{
	return (const uint8_t *)snapshot->data + section->offset;
}

/* What an inner map of a former process holds: it was filled before it came into force. */
static void read_inner(struct gw_xdp_known_pool *known, int fd)
{
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);
	const struct gw_pool_row *first;

	known->present = true;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) || info.value_size != sizeof(*first))
		return;
	first = mmap(NULL, sizeof(*first), PROT_READ, MAP_SHARED, fd, 0);
	if (first == MAP_FAILED)
		return;
	*known = (struct gw_xdp_known_pool){
		.present = true,
		.table_size = first->head.table_size,
		.member_count = first->head.member_count,
		.digest = first->head.digest,
		.members_hash = first->head.members_hash,
	};
	munmap((void *)first, sizeof(*first));
}

/* So that a restart makes no table anew that is in force already, and clears what nobody names. */
static void read_pools(struct gw_xdp_tables *tables)
{
	int outer = bpf_map__fd(tables->object->skeleton->maps.gw_pools);

	for (uint32_t id = 0; id < GW_MAX_POOLS; id++) {
		uint32_t inner;
		int fd;

		if (bpf_map_lookup_elem(outer, &id, &inner))
			continue;
		fd = bpf_map_get_fd_by_id(inner);
		if (fd < 0)
			continue;
		read_inner(&tables->pools[id], fd);
		close(fd);
	}
}

int gw_xdp_tables_init(struct gw_xdp_tables *tables, struct gw_xdp_object *object)
{
	*tables = (struct gw_xdp_tables){.object = object, .settled = true};
	tables->pools = calloc(GW_MAX_POOLS, sizeof(*tables->pools));
	if (!tables->pools)
		return -ENOMEM;
	if (object->adopted)
		read_pools(tables);
	return 0;
}

void gw_xdp_tables_fini(struct gw_xdp_tables *tables)
{
	gw_snapshot_unref(tables->current);
	free(tables->pools);
	free(tables->vips);
	gw_xdp_endpoints_fini(&tables->endpoints);
	*tables = (struct gw_xdp_tables){0};
}

/* ---- backends */

void gw_xdp_link_store(struct gw_backend *backend, const struct gw_link *link, uint16_t mtu)
{
	__atomic_store_n(&backend->mtu, mtu, __ATOMIC_RELAXED);
	gw_link_store(&backend->link, link);
}

/* All but the link, word by word: state, flags and MTU share one, so they change together. */
static void store_backend(struct gw_backend *live, const struct gw_backend *wanted, bool keep_link)
{
	uint64_t word[sizeof(*wanted) / 8];
	struct gw_backend next = *wanted;

	if (keep_link) {
		next.link = live->link;
		next.mtu = live->mtu;
	}
	memcpy(word, &next, sizeof(word));
	for (size_t i = 0; i < sizeof(word) / 8; i++)
		if (((uint64_t *)live)[i] != word[i])
			__atomic_store_n(&((uint64_t *)live)[i], word[i], __ATOMIC_RELEASE);
}

/*
 * A number that was another backend's before: what it counted is not this one's. Its former owner
 * has left long ago (ids.h), and settle left the address in its record.
 */
static bool owner_is_new(const struct gw_backend *live, const struct gw_backend *wanted)
{
	static const struct gw_address never;

	return live->state == GW_BACKEND_FREE &&
	       memcmp(&live->outer_destination, &never, sizeof(never)) != 0 &&
	       (live->pool != wanted->pool ||
		       memcmp(&live->outer_destination, &wanted->outer_destination,
			       sizeof(never)) != 0);
}

static void store_backends(
	struct gw_xdp_tables *tables, const struct gw_snapshot *snapshot, bool keep_links)
{
	const struct gw_backend *backends = section(snapshot, &snapshot->data->backends);
	const struct gw_next_hop *hops = section(snapshot, &snapshot->data->next_hops);

	for (uint64_t i = 0; i < snapshot->data->backends.count; i++) {
		struct gw_backend *live = &tables->object->backends[i], wanted = backends[i];
		bool same = live->state != GW_BACKEND_FREE && live->family == wanted.family &&
			    (live->encap == GW_ENCAP_L2) == (wanted.encap == GW_ENCAP_L2) &&
			    !memcmp(&live->outer_destination, &wanted.outer_destination, 16);

		/* What left stays as it is until settle, so that a packet on its way still finds
		 * it. */
		if (wanted.state == GW_BACKEND_FREE)
			continue;
		if (owner_is_new(live, &wanted))
			gw_xdp_traffic_clear(tables->object, GW_XDP_TRAFFIC_BACKENDS, (uint32_t)i);
		if (wanted.next_hop < snapshot->data->next_hops.count) {
			wanted.link = hops[wanted.next_hop].link;
			wanted.mtu = (uint16_t)gw_mtu_lower(wanted.mtu, hops[wanted.next_hop].mtu);
		}
		store_backend(live, &wanted, keep_links && same);
	}
}

/* ---- pools */

static uint32_t rows_for(const struct gw_pool *pool)
{
	if (!pool->member_count || pool->table_size <= GW_POOL_FIRST_SLOTS)
		return 1;
	return 2 + (pool->table_size - GW_POOL_FIRST_SLOTS - 1) / GW_POOL_ROW_SLOTS;
}

static struct gw_xdp_known_pool known_of(
	const struct gw_snapshot *snapshot, const struct gw_pool *pool)
{
	const uint32_t *members = section(snapshot, &snapshot->data->members);

	return (struct gw_xdp_known_pool){
		.present = true,
		.table_size = pool->table_size,
		.member_count = pool->member_count,
		.digest = pool->digest,
		.members_hash = XXH3_64bits(
			members + pool->member_first, pool->member_count * sizeof(*members)),
	};
}

_Static_assert(GW_XDP_BACKENDS <= 1u << 16, "a slot has 16 bits for its backend");

/* The backend of each slot of the run, of which `table` names the members. */
static void fill_slots(
	uint16_t *slots, const uint16_t *table, const uint32_t *members, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		slots[i] = (uint16_t)members[table[i]];
}

static void fill_rows(struct gw_pool_row *rows, const struct gw_snapshot *snapshot,
	const struct gw_pool *pool, uint64_t members_hash)
{
	size_t position =
		(size_t)(pool - (const struct gw_pool *)section(snapshot, &snapshot->data->pools));
	const uint32_t *members = section(snapshot, &snapshot->data->members);
	const uint16_t *table = gw_snapshot_slots(snapshot, position);
	uint32_t left = pool->member_count ? pool->table_size : 0;
	uint32_t run = left < GW_POOL_FIRST_SLOTS ? left : GW_POOL_FIRST_SLOTS;

	members += pool->member_first;
	rows->head = (struct gw_pool_head){
		.table_size = pool->table_size,
		.member_count = pool->member_count,
		.members_hash = members_hash,
		.pool = pool->id,
		.table_version = pool->table_version,
		.digest = pool->digest,
	};
	fill_slots(rows->first_slots, table, members, run);
	while (left -= run) {
		table += run;
		run = left < GW_POOL_ROW_SLOTS ? left : GW_POOL_ROW_SLOTS;
		fill_slots((++rows)->slots, table, members, run);
	}
}

/* A descriptor of the pool's inner map, filled, or -errno. */
static int make_inner(
	const struct gw_snapshot *snapshot, const struct gw_pool *pool, uint64_t members_hash)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_INNER_MAP | BPF_F_MMAPABLE);
	uint32_t rows = rows_for(pool);
	size_t bytes = rows * sizeof(struct gw_pool_row); /* whole pages */
	void *memory;
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "gw_pool", sizeof(uint32_t),
		sizeof(struct gw_pool_row), rows, &options);

	if (fd < 0)
		return -errno;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		int error = -errno;

		close(fd);
		return error;
	}
	fill_rows(memory, snapshot, pool, members_hash);
	munmap(memory, bytes);
	return fd;
}

static bool known_equal(const struct gw_xdp_known_pool *a, const struct gw_xdp_known_pool *b)
{
	return a->present == b->present && a->table_size == b->table_size &&
	       a->member_count == b->member_count && a->members_hash == b->members_hash &&
	       !memcmp(&a->digest, &b->digest, sizeof(a->digest));
}

/* One batch: single updates would each wait for a grace period of some 8 ms. */
static int swap_inner(
	struct gw_xdp_tables *tables, const uint32_t *ids, const int *fds, uint32_t count)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t done = count;

	if (!count)
		return 0;
	return bpf_map_update_batch(bpf_map__fd(tables->object->skeleton->maps.gw_pools), ids, fds,
		       &done, &options)
		       ? -errno
		       : 0;
}

static int store_pools(struct gw_xdp_tables *tables, const struct gw_snapshot *snapshot)
{
	const struct gw_pool *pools = section(snapshot, &snapshot->data->pools);
	uint64_t total = snapshot->data->pools.count;
	uint32_t *ids = calloc(total + 1, sizeof(*ids));
	int *fds = calloc(total + 1, sizeof(*fds));
	uint32_t count = 0;
	int error = ids && fds ? 0 : -ENOMEM;

	for (uint64_t i = 0; i < total && !error; i++) {
		struct gw_xdp_known_pool wanted = known_of(snapshot, &pools[i]);

		if (known_equal(&tables->pools[pools[i].id], &wanted))
			continue;
		ids[count] = pools[i].id;
		fds[count] = make_inner(snapshot, &pools[i], wanted.members_hash);
		if (fds[count] < 0)
			error = fds[count];
		else
			count++;
	}
	if (!error)
		error = swap_inner(tables, ids, fds, count);
	for (uint64_t i = 0; i < total && !error; i++)
		tables->pools[pools[i].id] = known_of(snapshot, &pools[i]);
	for (uint32_t i = 0; i < count; i++)
		close(fds[i]);
	tables->rebuilt_pools = error ? 0 : count;
	free(ids);
	free(fds);
	return error;
}

/* ---- services, addresses, ports */

static bool sections_equal(const struct gw_snapshot *a, const struct gw_section *x,
	const struct gw_snapshot *b, const struct gw_section *y, size_t record)
{
	return x->count == y->count && !memcmp(section(a, x), section(b, y), x->count * record);
}

static bool services_unchanged(const struct gw_snapshot *a, const struct gw_snapshot *b)
{
	return a &&
	       sections_equal(
		       a, &a->data->services, b, &b->data->services, sizeof(struct gw_service)) &&
	       sections_equal(a, &a->data->vips, b, &b->data->vips, sizeof(struct gw_vip)) &&
	       sections_equal(a, &a->data->spans, b, &b->data->spans, sizeof(struct gw_span));
}

static void store_services(struct gw_xdp_tables *tables, const struct gw_snapshot *snapshot)
{
	const struct gw_service *services = section(snapshot, &snapshot->data->services);
	uint64_t word;

	for (uint64_t i = 0; i < snapshot->data->services.count; i++) {
		if (services[i].pool == GW_NONE)
			continue;
		if (tables->object->services[i].pool == GW_NONE)
			gw_xdp_traffic_clear(tables->object, GW_XDP_TRAFFIC_SERVICES, (uint32_t)i);
		memcpy(&word, &services[i], sizeof(word));
		__atomic_store_n((uint64_t *)&tables->object->services[i], word, __ATOMIC_RELEASE);
	}
}

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct gw_vip_key));
}

static int store_vip(
	const struct gw_xdp_tables *tables, const struct gw_vip_key *key, const struct gw_vip *vip)
{
	const struct bpf_map *exact = tables->object->skeleton->maps.gw_vips;
	const struct bpf_map *trie = tables->object->skeleton->maps.gw_vip_trie;
	int failed = key->prefix_length == 128
			     ? bpf_map_update_elem(bpf_map__fd(exact), &key->address, vip, BPF_ANY)
			     : bpf_map_update_elem(bpf_map__fd(trie), key, vip, BPF_ANY);

	return failed ? -errno : 0;
}

static void delete_vip(const struct gw_xdp_tables *tables, const struct gw_vip_key *key)
{
	if (key->prefix_length == 128)
		bpf_map_delete_elem(
			bpf_map__fd(tables->object->skeleton->maps.gw_vips), &key->address);
	else
		bpf_map_delete_elem(bpf_map__fd(tables->object->skeleton->maps.gw_vip_trie), key);
}

/* Which half of the spans an address in force points into. */
static uint32_t half_in_use(const struct gw_xdp_tables *tables, const struct gw_vip_key *key)
{
	const struct bpf_map *exact = tables->object->skeleton->maps.gw_vips;
	const struct bpf_map *trie = tables->object->skeleton->maps.gw_vip_trie;
	struct gw_vip vip;
	int failed = key->prefix_length == 128
			     ? bpf_map_lookup_elem(bpf_map__fd(exact), &key->address, &vip)
			     : bpf_map_lookup_elem(bpf_map__fd(trie), key, &vip);

	return !failed && vip.tcp.first >= GW_MAX_SPANS;
}

/* The keys that the maps hold, read from them: a restart knows no other way. */
static int read_vips(struct gw_xdp_tables *tables)
{
	int exact = bpf_map__fd(tables->object->skeleton->maps.gw_vips);
	int trie = bpf_map__fd(tables->object->skeleton->maps.gw_vip_trie);
	struct gw_vip_key *keys = calloc(2 * GW_MAX_VIPS, sizeof(*keys));
	struct gw_vip_key *last = NULL;
	size_t count = 0;

	if (!keys)
		return -ENOMEM;
	while (count < GW_MAX_VIPS &&
		!bpf_map_get_next_key(exact, last ? &last->address : NULL, &keys[count].address)) {
		keys[count].prefix_length = 128;
		last = &keys[count++];
	}
	last = NULL;
	while (count < 2 * GW_MAX_VIPS && !bpf_map_get_next_key(trie, last, &keys[count]))
		last = &keys[count++];
	tables->half = count ? half_in_use(tables, &keys[0]) : 0;
	qsort(keys, count, sizeof(*keys), compare_keys);
	free(tables->vips);
	tables->vips = keys;
	tables->vip_count = count;
	return 0;
}

/* Spans go to the half that no address points into, then each address turns to it at once. */
static int store_vips(struct gw_xdp_tables *tables, const struct gw_snapshot *snapshot)
{
	const struct gw_vip *vips = section(snapshot, &snapshot->data->vips);
	uint32_t half = !tables->half, base = half * GW_MAX_SPANS;
	struct gw_xdp_config *config = tables->object->config;
	int error = 0;

	memcpy(tables->object->spans + base, section(snapshot, &snapshot->data->spans),
		snapshot->data->spans.count * sizeof(struct gw_span));
	for (uint64_t i = 0; i < snapshot->data->vips.count && !error; i++) {
		struct gw_vip_key key = {
			.prefix_length = vips[i].prefix_length, .address = vips[i].address};
		struct gw_vip vip = vips[i];

		vip.tcp.first += base;
		vip.udp.first += base;
		vip.sctp.first += base;
		if (vip.prefix_length < 128)
			__atomic_or_fetch(&config->flags, GW_XDP_HAVE_TRIE, __ATOMIC_RELEASE);
		error = store_vip(tables, &key, &vip);
	}
	if (!error)
		tables->half = half;
	return error;
}

/* What the program remembers of addresses, spans and services is void from here on. */
static void services_changed(struct gw_xdp_tables *tables)
{
	__atomic_add_fetch(&tables->object->config->services_generation, 1, __ATOMIC_SEQ_CST);
}

/* ---- the whole */

static int check_room(const struct gw_snapshot *snapshot, char why[static GW_XDP_WHY])
{
	const struct gw_snapshot_header *head = snapshot->data;

	if (head->backends.count <= GW_XDP_BACKENDS && head->services.count <= GW_MAX_SERVICES &&
		head->spans.count <= GW_MAX_SPANS && head->vips.count <= GW_MAX_VIPS)
		return 0;
	snprintf(why, GW_XDP_WHY,
		"%llu backends, %llu services, %llu port spans, %llu addresses: the maps have room "
		"for %u, %u, "
		"%u, %u",
		(unsigned long long)head->backends.count, (unsigned long long)head->services.count,
		(unsigned long long)head->spans.count, (unsigned long long)head->vips.count,
		GW_XDP_BACKENDS, GW_MAX_SERVICES, GW_MAX_SPANS, GW_MAX_VIPS);
	return -E2BIG;
}

static int fail(int error, const char *what, char why[static GW_XDP_WHY])
{
	if (error)
		snprintf(why, GW_XDP_WHY, "%s: %s", what, strerror(-error));
	return error;
}

int gw_xdp_tables_publish(struct gw_xdp_tables *tables, struct gw_snapshot *snapshot,
	bool keep_links, char why[static GW_XDP_WHY])
{
	struct gw_xdp_config *config = tables->object->config;
	int error = check_room(snapshot, why);

	if (error)
		return error;
	if (!tables->settled)
		gw_xdp_tables_settle(tables);
	if (!tables->vips)
		error = fail(read_vips(tables), "reading the addresses in force", why);
	if (error)
		return error;
	store_backends(tables, snapshot, keep_links);
	config->timeouts = snapshot->data->timeouts;
	config->fragment_ms = snapshot->data->fragment_ms;
	config->control_lost_s = snapshot->data->control_lost_s;
	__atomic_store_n(&config->hash_seed, snapshot->data->hash_seed, __ATOMIC_RELEASE);
	error = fail(store_pools(tables, snapshot), "tables", why);
	if (!error && (tables->services_torn || !services_unchanged(tables->current, snapshot))) {
		tables->services_torn = true;
		store_services(tables, snapshot);
		error = fail(store_vips(tables, snapshot), "service addresses", why);
		services_changed(tables);
	}
	if (!error)
		error = fail(gw_xdp_endpoints_publish(&tables->endpoints, tables->object, snapshot),
			"backends' addresses", why);
	if (error)
		return error;
	gw_snapshot_unref(tables->current);
	tables->current = gw_snapshot_ref(snapshot);
	tables->settled = false;
	tables->services_torn = false;
	__atomic_store_n(&config->snapshot_version, snapshot->data->version, __ATOMIC_RELEASE);
	return 0;
}

static int settle_vips(struct gw_xdp_tables *tables)
{
	const struct gw_snapshot *now = tables->current;
	const struct gw_vip *vips = section(now, &now->data->vips);
	size_t count = now->data->vips.count;
	struct gw_vip_key *keys = calloc(count + 1, sizeof(*keys));
	bool trie = false;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		keys[i] = (struct gw_vip_key){
			.prefix_length = vips[i].prefix_length, .address = vips[i].address};
		trie |= vips[i].prefix_length < 128;
	}
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < tables->vip_count; i++)
		if (!count || !bsearch(&tables->vips[i], keys, count, sizeof(*keys), compare_keys))
			delete_vip(tables, &tables->vips[i]);
	if (!trie)
		__atomic_and_fetch(
			&tables->object->config->flags, ~GW_XDP_HAVE_TRIE, __ATOMIC_RELEASE);
	free(tables->vips);
	tables->vips = keys;
	tables->vip_count = count;
	return 0;
}

static void settle_services(struct gw_xdp_tables *tables)
{
	const struct gw_snapshot *now = tables->current;
	const struct gw_service *services = section(now, &now->data->services);

	for (uint32_t i = 0; i < GW_MAX_SERVICES; i++)
		if (i >= now->data->services.count || services[i].pool == GW_NONE)
			__atomic_store_n(
				&tables->object->services[i].pool, GW_NONE, __ATOMIC_RELEASE);
}

static void settle_pools(struct gw_xdp_tables *tables)
{
	const struct gw_snapshot *now = tables->current;
	const struct gw_pool *pools = section(now, &now->data->pools);
	bool *named = calloc(GW_MAX_POOLS, sizeof(*named));
	int fd = bpf_map__fd(tables->object->skeleton->maps.gw_pools);

	if (!named)
		return;
	for (uint64_t i = 0; i < now->data->pools.count; i++)
		named[pools[i].id] = true;
	for (uint32_t id = 0; id < GW_MAX_POOLS; id++) {
		if (named[id] || !tables->pools[id].present)
			continue;
		bpf_map_delete_elem(fd, &id);
		tables->pools[id].present = false;
	}
	free(named);
}

static void settle_backends(struct gw_xdp_tables *tables)
{
	const struct gw_snapshot *now = tables->current;
	const struct gw_backend *backends = section(now, &now->data->backends);

	for (uint32_t i = 0; i < GW_XDP_BACKENDS; i++)
		if ((i >= now->data->backends.count || backends[i].state == GW_BACKEND_FREE) &&
			tables->object->backends[i].state != GW_BACKEND_FREE)
			__atomic_store_n(&tables->object->backends[i].state, GW_BACKEND_FREE,
				__ATOMIC_RELEASE);
}

void gw_xdp_tables_settle(struct gw_xdp_tables *tables)
{
	if (tables->settled || !tables->current)
		return;
	/* Addresses first: without them nothing leads to the rest. Without memory the next time
	 * tries. */
	if (settle_vips(tables))
		return;
	settle_services(tables);
	services_changed(tables);
	settle_pools(tables);
	settle_backends(tables);
	tables->settled = true;
}
