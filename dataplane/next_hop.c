/* SPDX-License-Identifier: BSD-2-Clause */
#include "next_hop.h"

#include "abi/encap.h"
#include "memory.h"

#include <errno.h>
#include <string.h>

#define BUCKETS 65536u

int gw_next_hops_init(struct gw_next_hops *hops)
{
	struct gw_next_hops made = {.end = 1};

	made.live = gw_memory_alloc(GW_NEXT_HOPS_MAX * sizeof(*made.live), 0);
	made.paths = gw_memory_alloc(GW_MAX_PATHS * sizeof(*made.paths), 0);
	made.entry = gw_memory_alloc(GW_NEXT_HOPS_MAX * sizeof(*made.entry), 0);
	made.bucket = gw_memory_alloc(BUCKETS * sizeof(*made.bucket), 0);
	*hops = made;
	if (!made.live || !made.paths || !made.entry || !made.bucket) {
		gw_next_hops_fini(hops);
		return -ENOMEM;
	}
	pthread_mutex_init(&hops->lock, NULL);
	return 0;
}

void gw_next_hops_fini(struct gw_next_hops *hops)
{
	gw_memory_free(hops->live, GW_NEXT_HOPS_MAX * sizeof(*hops->live));
	gw_memory_free(hops->paths, GW_MAX_PATHS * sizeof(*hops->paths));
	gw_memory_free(hops->entry, GW_NEXT_HOPS_MAX * sizeof(*hops->entry));
	gw_memory_free(hops->bucket, BUCKETS * sizeof(*hops->bucket));
	hops->live = NULL;
	hops->paths = NULL;
	hops->entry = NULL;
	hops->bucket = NULL;
}

static uint32_t *bucket_of(struct gw_next_hops *hops, const struct gw_address *address)
{
	return &hops->bucket[XXH3_64bits(address, sizeof(*address)) % BUCKETS];
}

uint32_t gw_next_hop_find(
	struct gw_next_hops *hops, const struct gw_address *address, uint8_t flags)
{
	uint32_t index = *bucket_of(hops, address);

	while (index &&
		(hops->entry[index].flags != flags ||
			memcmp(&hops->entry[index].address, address, sizeof(*address)) != 0))
		index = hops->entry[index].chain;
	return index;
}

/* A free entry's number, not yet in any chain; 0: none left. */
static uint32_t claim(struct gw_next_hops *hops)
{
	uint32_t index = hops->free;

	if (index)
		hops->free = hops->entry[index].chain;
	else if (hops->end < GW_NEXT_HOPS_MAX)
		index = hops->end++;
	return index;
}

uint32_t gw_next_hop_take(struct gw_next_hops *hops, const struct gw_next_hop *hint)
{
	uint32_t *bucket = bucket_of(hops, &hint->address);
	uint32_t index;

	pthread_mutex_lock(&hops->lock);
	index = gw_next_hop_find(hops, &hint->address, hint->flags);
	if (!index) {
		index = claim(hops);
		if (!index)
			goto out;
		hops->entry[index] = (struct gw_hop_entry){.address = hint->address,
			.family = hint->family,
			.flags = hint->flags,
			.chain = *bucket};
		*bucket = index;
		gw_next_hop_store_mtu(hops, index, hint->mtu);
		gw_next_hop_learn(hops, index, 0);
		gw_next_hop_store(hops, index, &hint->link);
		__atomic_add_fetch(&hops->version, 1, __ATOMIC_RELEASE);
	}
	hops->entry[index].references++;
out:
	pthread_mutex_unlock(&hops->lock);
	return index;
}

void gw_next_hop_drop(struct gw_next_hops *hops, uint32_t index)
{
	struct gw_hop_entry *entry = &hops->entry[index];
	uint32_t *link;

	if (!index)
		return;
	pthread_mutex_lock(&hops->lock);
	if (--entry->references == 0) {
		link = bucket_of(hops, &entry->address);
		while (*link != index)
			link = &hops->entry[*link].chain;
		*link = entry->chain;
		gw_next_hop_store(hops, index, &(struct gw_link){});
		entry->chain = hops->free;
		entry->owner = 0;
		hops->free = index;
		__atomic_add_fetch(&hops->version, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&hops->lock);
}

/* Behind the change itself, so that who sees this sees that. */
static void changed(struct gw_next_hops *hops)
{
	__atomic_add_fetch(&hops->changes, 1, __ATOMIC_RELEASE);
}

void gw_next_hop_store(struct gw_next_hops *hops, uint32_t index, const struct gw_link *link)
{
	if (memcmp(&hops->live[index].link, link, sizeof(*link)) == 0)
		return;
	gw_link_store(&hops->live[index].link, link);
	changed(hops);
}

void gw_next_hop_store_mtu(struct gw_next_hops *hops, uint32_t index, uint32_t mtu)
{
	if (__atomic_exchange_n(&hops->live[index].mtu, mtu, __ATOMIC_RELAXED) != mtu)
		changed(hops);
}

void gw_next_hop_learn(struct gw_next_hops *hops, uint32_t index, uint64_t word)
{
	uint64_t old = __atomic_exchange_n(&hops->live[index].path_mtu, word, __ATOMIC_RELAXED);

	/* Whether there is one is all that workers keep for longer than a packet. */
	if (!old != !word)
		changed(hops);
}
