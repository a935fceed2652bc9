/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services name addresses, protocols and ports in any order and overlap by rank (exact port over
 * narrower range over wider range over any). A datapath wants, for each address and protocol,
 * sorted disjoint spans. The ranges of one address and protocol are cut at all their ends, then
 * painted from the narrowest to the widest onto what is still bare.
 */
#include "control/builder_parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* One (address, protocol, ports) of one service. */
struct vip_rule {
	struct gw_prefix prefix;
	uint8_t protocol;
	bool host;
	bool announce;
	bool has_backend; /* an eligible one */
	enum gw_config_echo echo;
	struct gw_config_range range;
	uint32_t service;
};

static uint32_t range_width(const struct gw_config_range *range)
{
	return (uint32_t)range->high - range->low;
}

static int number_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Longest prefix first, then address, protocol, narrowest first. */
static int rule_order(const void *a, const void *b)
{
	const struct vip_rule *left = a, *right = b;
	int order = number_order(right->prefix.length, left->prefix.length);

	if (!order)
		order = memcmp(left->prefix.address, right->prefix.address, 16);
	if (!order)
		order = number_order(left->protocol, right->protocol);
	if (!order)
		order = number_order(range_width(&left->range), range_width(&right->range));
	if (!order)
		order = number_order(left->range.low, right->range.low);
	return order ? order : number_order(left->service, right->service);
}

static int number_compare(const void *a, const void *b)
{
	return number_order(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* The cuts of `count` rules: each range's first port and the one behind its last; sorted, unique.
 */
static size_t cuts_make(const struct vip_rule *rules, size_t count, uint32_t *cuts)
{
	size_t unique = 0;

	for (size_t i = 0; i < count; i++) {
		cuts[2 * i] = rules[i].range.low;
		cuts[2 * i + 1] = rules[i].range.high + 1u;
	}
	qsort(cuts, 2 * count, sizeof(*cuts), number_compare);
	for (size_t i = 0; i < 2 * count; i++)
		if (!unique || cuts[unique - 1] != cuts[i])
			cuts[unique++] = cuts[i];
	return unique;
}

static size_t cut_find(const uint32_t *cuts, size_t count, uint32_t port)
{
	const uint32_t *cut = bsearch(&port, cuts, count, sizeof(port), number_compare);

	return (size_t)(cut - cuts);
}

/* The first piece at or behind `piece` that is still bare, shortening the way for the next. */
static size_t bare_find(size_t *next, size_t piece)
{
	while (next[piece] != piece) {
		next[piece] = next[next[piece]];
		piece = next[piece];
	}
	return piece;
}

/* Rules of one address and protocol, narrowest first; appends their spans to job->spans. */
static int spans_flatten(
	struct build_job *job, const struct vip_rule *rules, size_t count, struct gw_span_run *run)
{
	uint32_t *cuts = malloc(2 * count * sizeof(*cuts));
	uint32_t *owner = malloc(2 * count * sizeof(*owner));
	size_t *next = malloc((2 * count + 1) * sizeof(*next));
	size_t pieces;
	int status = cuts && owner && next ? 0 : -ENOMEM;

	if (status)
		goto out;
	pieces = cuts_make(rules, count, cuts);
	for (size_t i = 0; i <= pieces; i++)
		next[i] = i;
	for (size_t i = 0; i < pieces; i++)
		owner[i] = GW_NONE;
	for (size_t i = 0; i < count; i++) {
		size_t piece = bare_find(next, cut_find(cuts, pieces, rules[i].range.low));

		while (piece < pieces && cuts[piece] <= rules[i].range.high) {
			owner[piece] = rules[i].service;
			next[piece] = piece + 1;
			piece = bare_find(next, piece);
		}
	}
	run->first = (uint32_t)job->span_count;
	for (size_t i = 0; i + 1 < pieces; i++) {
		struct gw_span *last =
			job->span_count > run->first ? &job->spans[job->span_count - 1] : NULL;

		if (owner[i] == GW_NONE)
			continue;
		if (last && last->service == owner[i] && last->last + 1u == cuts[i])
			last->last = (uint16_t)(cuts[i + 1] - 1);
		else
			job->spans[job->span_count++] = (struct gw_span){.first = (uint16_t)cuts[i],
				.last = (uint16_t)(cuts[i + 1] - 1),
				.service = owner[i]};
	}
	run->count = (uint32_t)(job->span_count - run->first);
	if (!run->count)
		run->first = 0;
out:
	free(cuts);
	free(owner);
	free(next);
	return status;
}

static bool same_address(const struct vip_rule *a, const struct vip_rule *b)
{
	return a->prefix.length == b->prefix.length &&
	       !memcmp(a->prefix.address, b->prefix.address, 16);
}

/* What the address's services say of it together; echo is the same in all of them. */
static uint8_t vip_flags(const struct vip_rule *rules, size_t count)
{
	enum gw_config_echo echo = rules->echo;
	bool has_backend = false;
	uint8_t flags = 0;

	for (size_t i = 0; i < count; i++) {
		has_backend |= rules[i].has_backend;
		if (rules[i].host)
			flags |= GW_VIP_NO_SERVICE_HOST;
		if (rules[i].announce)
			flags |= GW_VIP_ANNOUNCE_L2;
	}
	if (echo == GW_CONFIG_ECHO_NEVER || (echo == GW_CONFIG_ECHO_WHILE_UP && !has_backend))
		flags |= GW_VIP_NO_ECHO;
	return flags;
}

/* Rules of one address, sorted; makes one vip of them. */
static int vip_make(struct build_job *job, const struct vip_rule *rules, size_t count)
{
	struct gw_vip *vip = &job->vips[job->vip_count];
	int status = 0;

	*vip = (struct gw_vip){.prefix_length = rules->prefix.length,
		.flags = vip_flags(rules, count),
		.any_service = GW_NONE};
	memcpy(vip->address.bytes, rules->prefix.address, 16);
	for (size_t first = 0, end; !status && first < count; first = end) {
		uint8_t protocol = rules[first].protocol;
		struct gw_span_run *run = protocol == IPPROTO_TCP   ? &vip->tcp
					  : protocol == IPPROTO_UDP ? &vip->udp
								    : &vip->sctp;

		for (end = first; end < count && rules[end].protocol == protocol;)
			end++;
		if (protocol == GW_CONFIG_PROTOCOL_ANY)
			vip->any_service = rules[first].service;
		else
			status = spans_flatten(job, rules + first, end - first, run);
	}
	job->vip_count++;
	return status;
}

static bool has_backend(const struct build_job *job, size_t service)
{
	const struct gw_build *build = job->build;

	return build->pools[build->services[service].pool].member_count > 0;
}

static size_t rules_collect(const struct build_job *job, struct vip_rule *rules)
{
	const struct gw_config *config = job->input->config;
	size_t count = 0;

	for (size_t s = 0; s < config->service_count; s++) {
		const struct gw_config_service *service = &config->services[s];

		for (size_t a = 0; a < service->address_count; a++) {
			for (size_t p = 0; p < service->port_count; p++) {
				if (rules)
					rules[count] = (struct vip_rule){
						.prefix = service->addresses[a].prefix,
						.protocol = service->protocol,
						.host = service->no_service ==
							GW_CONFIG_NO_SERVICE_HOST,
						.announce =
							service->announce == GW_CONFIG_ANNOUNCE_L2,
						.has_backend = has_backend(job, s),
						.echo = service->echo,
						.range = service->ports[p].range,
						.service = job->build->services[s].id};
				count++;
			}
		}
	}
	return count;
}

static int limits_check(struct build_job *job)
{
	if (job->vip_count > GW_MAX_VIPS)
		return build_fail(job, -E2BIG,
			"%zu service addresses; at most %u are possible: use prefixes",
			job->vip_count, GW_MAX_VIPS);
	if (job->span_count > GW_MAX_SPANS)
		return build_fail(job, -E2BIG,
			"the services' ports make %zu spans; at most %u are possible: use ranges",
			job->span_count, GW_MAX_SPANS);
	return 0;
}

int build_vips(struct build_job *job)
{
	size_t count = rules_collect(job, NULL);
	struct vip_rule *rules = malloc((count ? count : 1) * sizeof(*rules));
	int status = 0;

	/* n ranges have 2n ends, so they make fewer than 2n spans. */
	job->vips = malloc((count ? count : 1) * sizeof(*job->vips));
	job->spans = malloc((count ? 2 * count : 1) * sizeof(*job->spans));
	if (!rules || !job->vips || !job->spans) {
		free(rules);
		return build_fail(job, -ENOMEM, "no memory for %zu service addresses", count);
	}
	rules_collect(job, rules);
	qsort(rules, count, sizeof(*rules), rule_order);
	for (size_t first = 0, end; !status && first < count; first = end) {
		for (end = first; end < count && same_address(&rules[first], &rules[end]);)
			end++;
		status = vip_make(job, rules + first, end - first);
	}
	free(rules);
	if (status < 0)
		return build_fail(job, status, "no memory for the services' ports");
	return limits_check(job);
}
