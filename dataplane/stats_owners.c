/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats_owners.h"

#include <stdlib.h>
#include <string.h>

struct gw_stats_owner {
	struct gw_address address; /* backends; zero before the first owner */
	uint16_t pool;
	bool in_use;
	struct gw_traffic last; /* raw, when last looked at */
	struct gw_traffic base; /* raw, when the owner came */
};

void gw_stats_owners_fit(struct gw_stats_owners *owners, size_t count)
{
	struct gw_stats_owner *grown;

	if (count <= owners->count)
		return;
	grown = realloc(owners->list, count * sizeof(*grown));
	if (!grown)
		return;
	memset(grown + owners->count, 0, (count - owners->count) * sizeof(*grown));
	owners->list = grown;
	owners->count = count;
}

void gw_stats_owners_free(struct gw_stats_owners *owners)
{
	free(owners->list);
	*owners = (struct gw_stats_owners){};
}

/* The former owner left long ago, so what was there at the last look was its. */
static struct gw_traffic owner_count(
	struct gw_stats_owner *owner, bool is_new, struct gw_traffic raw)
{
	if (is_new)
		owner->base = owner->last;
	owner->last = raw;
	return (struct gw_traffic){.packets = raw.packets - owner->base.packets,
		.bytes = raw.bytes - owner->base.bytes,
		.flows_new = raw.flows_new - owner->base.flows_new};
}

struct gw_traffic gw_stats_owner_backend(struct gw_stats_owners *owners, uint32_t id,
	const struct gw_backend *backend, struct gw_traffic raw)
{
	struct gw_stats_owner *owner;
	bool is_new;

	if (id >= owners->count)
		return raw;
	owner = &owners->list[id];
	if (backend->state == GW_BACKEND_FREE)
		return owner_count(owner, false, raw);
	is_new = owner->pool != backend->pool ||
		 memcmp(&owner->address, &backend->outer_destination, sizeof(owner->address)) != 0;
	owner->pool = backend->pool;
	owner->address = backend->outer_destination;
	return owner_count(owner, is_new, raw);
}

struct gw_traffic gw_stats_owner_service(
	struct gw_stats_owners *owners, uint32_t id, bool in_use, struct gw_traffic raw)
{
	struct gw_stats_owner *owner;
	bool is_new;

	if (id >= owners->count)
		return raw;
	owner = &owners->list[id];
	is_new = in_use && !owner->in_use;
	owner->in_use = in_use;
	return owner_count(owner, is_new, raw);
}
