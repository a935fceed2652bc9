/* SPDX-License-Identifier: BSD-2-Clause */
/* The resolver's links and neighbours: what the kernel reports of them, and the questions that keep
 * them alive. */
#include "base/resolver_internal.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_INTERVAL_MS 590 /* three ticks, with room for a tick that comes a little early */
#define PROBE_ANSWER_MS	  150
#define RETRY_INTERVAL_MS 990
#define INCOMPLETE_MS	  5000 /* the kernel gives up by itself after some 3 s */

#define NUD_USABLE (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_PROBE | NUD_STALE | NUD_DELAY)

static int neighbour_compare(const void *left, const void *right)
{
	const struct neighbour *a = left, *b = right;

	if (a->ifindex != b->ifindex)
		return a->ifindex < b->ifindex ? -1 : 1;
	return memcmp(a->address.bytes, b->address.bytes, 16);
}

static int link_compare(const void *left, const void *right)
{
	const struct gw_link_report *a = left, *b = right;

	return a->ifindex == b->ifindex ? 0 : a->ifindex < b->ifindex ? -1 : 1;
}

struct gw_link_report *gw_resolver_link(const struct gw_resolver *resolver, uint32_t ifindex)
{
	struct gw_link_report key = {.ifindex = ifindex};
	struct gw_link_report **found = tfind(&key, &resolver->links, link_compare);

	return found ? *found : NULL;
}

static struct neighbour *neighbour_find(
	const struct gw_resolver *resolver, uint32_t ifindex, const struct gw_address *address)
{
	struct neighbour key = {.ifindex = ifindex, .address = *address};
	struct neighbour **found = tfind(&key, &resolver->neighbours, neighbour_compare);

	return found ? *found : NULL;
}

struct neighbour *gw_resolver_neighbour_hold(
	struct gw_resolver *resolver, uint32_t ifindex, const struct gw_address *address)
{
	struct neighbour *neighbour = neighbour_find(resolver, ifindex, address);

	if (neighbour)
		return neighbour;
	neighbour = calloc(1, sizeof(*neighbour));
	if (!neighbour)
		return NULL;
	neighbour->ifindex = ifindex;
	neighbour->address = *address;
	if (!tsearch(neighbour, &resolver->neighbours, neighbour_compare)) {
		free(neighbour);
		return NULL;
	}
	resolver->neighbour_count++;
	resolver->neighbours_added = true;
	return neighbour;
}

void gw_resolver_neighbour_release(struct gw_resolver *resolver, struct neighbour *neighbour)
{
	if (neighbour->users)
		return;
	tdelete(neighbour, &resolver->neighbours, neighbour_compare);
	resolver->neighbour_count--;
	free(neighbour);
}

static void request_add(
	struct gw_resolver *resolver, struct neighbour *neighbour, enum gw_neighbour_action action)
{
	resolver->requests[resolver->request_count++] = (struct gw_neighbour_request){
		.ifindex = neighbour->ifindex,
		.action = action,
		.address = neighbour->address,
	};
	neighbour->probing = action == GW_NEIGHBOUR_PROBE;
	neighbour->resolving = action != GW_NEIGHBOUR_PROBE;
	neighbour->asked_ms = resolver->now_ms;
	/* Keeps thousands that were first asked for together from being probed together. */
	if (action == GW_NEIGHBOUR_RESOLVE)
		neighbour->asked_ms -= GW_RESOLVER_TICK_MS * (neighbour->address.bytes[15] % 3);
}

static void neighbour_visit(const void *node, VISIT visit, void *context)
{
	struct neighbour *neighbour = *(struct neighbour *const *)node;
	struct gw_resolver *resolver = context;
	const struct gw_link_report *link;
	int64_t age = resolver->now_ms - neighbour->asked_ms;

	if (visit != leaf && visit != postorder)
		return;
	link = gw_resolver_link(resolver, neighbour->ifindex);
	if (!link || !link->up || (neighbour->nud & (NUD_PERMANENT | NUD_NOARP)))
		return;
	if (neighbour->nud & NUD_INCOMPLETE) {
		if (age >= INCOMPLETE_MS)
			request_add(resolver, neighbour, GW_NEIGHBOUR_RESTART);
	} else if (neighbour->nud & NUD_PROBE) {
		if (!neighbour->probing) {
			neighbour->probing = true;
			neighbour->asked_ms = resolver->now_ms;
		} else if (age >= PROBE_ANSWER_MS) {
			request_add(resolver, neighbour, GW_NEIGHBOUR_RESTART);
		}
	} else if (neighbour->nud & NUD_USABLE) {
		if (age >= PROBE_INTERVAL_MS)
			request_add(resolver, neighbour, GW_NEIGHBOUR_PROBE);
	} else if (age >= RETRY_INTERVAL_MS) {
		request_add(resolver, neighbour, GW_NEIGHBOUR_RESOLVE);
	}
}

int gw_resolver_neighbours_ask(struct gw_resolver *resolver)
{
	struct gw_neighbour_request *requests;

	if (!resolver->neighbour_count)
		return 0;
	requests = realloc(resolver->requests, resolver->neighbour_count * sizeof(*requests));
	if (!requests)
		return -ENOMEM;
	resolver->requests = requests;
	resolver->request_count = 0;
	twalk_r(resolver->neighbours, neighbour_visit, resolver);
	return gw_rtnetlink_neighbours(&resolver->netlink, requests, resolver->request_count);
}

static bool link_equal(const struct gw_link_report *a, const struct gw_link_report *b)
{
	return a->mtu == b->mtu && a->gone == b->gone && a->up == b->up &&
	       a->ethernet == b->ethernet && !memcmp(a->mac, b->mac, sizeof(a->mac)) &&
	       !strcmp(a->name, b->name);
}

bool gw_resolver_link_set(struct gw_resolver *resolver, const struct gw_link_report *report)
{
	struct gw_link_report *link = gw_resolver_link(resolver, report->ifindex);

	if (link ? link_equal(link, report) : report->gone)
		return false;
	if (!link) {
		link = calloc(1, sizeof(*link));
		if (!link)
			return false;
		link->ifindex = report->ifindex;
		if (!tsearch(link, &resolver->links, link_compare)) {
			free(link);
			return false;
		}
	}
	*link = *report;
	if (report->gone) {
		tdelete(link, &resolver->links, link_compare);
		free(link);
	}
	return true;
}

void gw_resolver_neighbour_set(
	struct gw_resolver *resolver, const struct gw_neighbour_report *report)
{
	struct neighbour *neighbour = neighbour_find(resolver, report->ifindex, &report->address);
	bool had_mac, asked;
	uint8_t mac[6];

	if (!neighbour)
		return;
	had_mac = neighbour->has_mac;
	asked = neighbour->resolving || (neighbour->nud & (NUD_INCOMPLETE | NUD_PROBE));
	memcpy(mac, neighbour->mac, 6);
	neighbour->nud = report->state;
	if ((report->state & NUD_USABLE) && report->has_mac) {
		neighbour->has_mac = true;
		neighbour->resolving = false;
		memcpy(neighbour->mac, report->mac, 6);
	} else if ((report->state & NUD_FAILED) && asked) {
		/* Without a question before, it is how the kernel announces that an entry is being
		 * deleted. */
		neighbour->has_mac = false;
	}
	if (neighbour->has_mac == had_mac && !memcmp(mac, neighbour->mac, 6))
		return;
	for (struct path *path = neighbour->users; path; path = path->next)
		gw_resolver_evaluate(resolver, path->target);
}

static void neighbour_forget(const void *node, VISIT visit, void *context)
{
	if (visit == leaf || visit == postorder)
		(*(struct neighbour *const *)node)->nud = 0;
}

static void link_forget(const void *node, VISIT visit, void *context)
{
	if (visit == leaf || visit == postorder)
		(*(struct gw_link_report *const *)node)->up = false;
}

void gw_resolver_forget(struct gw_resolver *resolver)
{
	twalk_r(resolver->neighbours, neighbour_forget, NULL);
	twalk_r(resolver->links, link_forget, NULL);
}
