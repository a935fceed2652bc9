/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * What the decapsulator decides, from headers alone, for tc and XDP alike: whether a frame is a
 * tunnel packet, how many bytes of outer header go, and what the inner header's ECN field becomes.
 * Each step returns 0 to go on, DECAP_NOT_OURS for the stack's own packet, or the counter to drop
 * under.
 */
#pragma once

#include "abi/decap.h"

#include <linux/bpf.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <stdbool.h>

#define DECAP_NOT_OURS (-1)
#define IP_OFFSET      0x1fff
#define IP_OFFSET_MASK 0x3fff /* more-fragments flag and offset */
#define ECN_MASK       3
#define ECN_NOT_ECT    0
#define ECN_ECT1       1
#define ECN_CE	       3

#define GRE_HEADER     4 /* without options */
#define IP_HEADER_MASK 0x3c
#define OUTER_MASK     0x7c /* the longest outer header has 60 + 8 bytes */
#define OUTER_MAX      68

/* What the loader set: the encapsulations to take, and GUE's port in network order. */
struct decap_wants {
	__u32 modes; /* GW_DECAP_MODE */
	__be16 gue_port;
};

struct decap_plan {
	__u32 ip_len;	 /* of the outer IP header */
	__u32 outer_len; /* bytes between the Ethernet header and the inner packet */
	__u32 payload;	 /* bytes that the outer header says follow it */
	__u32 pseudo;	 /* with `verify`: the sum of the pseudo header, as the CPU loads words */
	__u8 encap;	 /* enum gw_encap */
	__u8 outer_ecn;
	bool outer_ipv6;
	bool inner_ipv6;
	bool verify;  /* the UDP checksum is not zero: it has to be right */
	bool rewrite; /* the two fields below are to be written into the inner header */
	__be16 word0; /* its first 16 bits: version and traffic class, of either family */
	__be16 check; /* IPv4: its checksum */
};

/* Ones' complement sum of an IPv4 header of len bytes, in range of the packet; 0xffff when it is
 * right. */
static __always_inline __u32 header_sum(const void *header, __u32 len, const void *end)
{
	const __u16 *word = header;
	__u32 sum = 0;

	for (__u32 i = 0; i < 30; i++, word++) {
		if (i * 2 >= len || (const void *)(word + 1) > end)
			break;
		sum += *word;
	}
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* IP directly in UDP: the first four bits of what follows are its version. */
static __always_inline int gue_read(
	const void *at, const void *end, const struct decap_wants *wants, struct decap_plan *plan)
{
	const struct udphdr *udp = at;
	const __u8 *inner = (const void *)(udp + 1);

	if ((const void *)(udp + 1) > end || udp->dest != wants->gue_port)
		return DECAP_NOT_OURS;
	plan->encap = GW_ENCAP_GUE;
	plan->outer_len = plan->ip_len + sizeof(*udp);
	plan->inner_ipv6 = inner + 1 <= (const __u8 *)end && *inner >> 4 == 6;
	return 0;
}

/* GRE with a checksum, a key or a sequence number, or with something else inside, is another's. */
static __always_inline int gre_read(const void *at, const void *end, struct decap_plan *plan)
{
	const __be16 *word = at;

	if ((const void *)(word + 2) > end || word[0] ||
		(word[1] != bpf_htons(ETH_P_IP) && word[1] != bpf_htons(ETH_P_IPV6)))
		return DECAP_NOT_OURS;
	plan->encap = GW_ENCAP_GRE;
	plan->outer_len = plan->ip_len + GRE_HEADER;
	plan->inner_ipv6 = word[1] == bpf_htons(ETH_P_IPV6);
	return 0;
}

/* Which tunnel's packet it is, if any, by what lies behind an IP header of plan->ip_len bytes. */
static __always_inline int tunnel_read(const void *l3, const void *end, __u8 protocol,
	const struct decap_wants *wants, struct decap_plan *plan)
{
	const void *at = (const __u8 *)l3 + (plan->ip_len & IP_HEADER_MASK);

	if (protocol == IPPROTO_UDP && wants->modes & GW_DECAP_MODE(GW_ENCAP_GUE))
		return gue_read(at, end, wants, plan);
	if (protocol == IPPROTO_GRE && wants->modes & GW_DECAP_MODE(GW_ENCAP_GRE))
		return gre_read(at, end, plan);
	if ((protocol != IPPROTO_IPIP && protocol != IPPROTO_IPV6) ||
		!(wants->modes & GW_DECAP_MODE(GW_ENCAP_IPIP)))
		return DECAP_NOT_OURS;
	plan->encap = GW_ENCAP_IPIP;
	plan->outer_len = plan->ip_len;
	plan->inner_ipv6 = protocol == IPPROTO_IPV6;
	return 0;
}

/* Reads what an outer header says; the source is a key of the prefix map, to be looked up before
 * more is read. A later fragment has no header behind IP's: it is the stack's. */
static __always_inline int outer_read_v4(const struct iphdr *ip, const void *end,
	const struct decap_wants *wants, struct decap_plan *plan, struct gw_decap_source *source)
{
	if ((const void *)(ip + 1) > end)
		return DECAP_NOT_OURS;
	if (ip->frag_off & bpf_htons(IP_OFFSET) && ip->protocol != IPPROTO_IPIP &&
		ip->protocol != IPPROTO_IPV6)
		return DECAP_NOT_OURS;
	plan->outer_ipv6 = false;
	plan->outer_ecn = ip->tos & ECN_MASK;
	plan->ip_len = ip->ihl * 4u;
	*source = (struct gw_decap_source){.bits = 128};
	source->address[10] = 0xff;
	source->address[11] = 0xff;
	__builtin_memcpy(&source->address[12], &ip->saddr, 4);
	return tunnel_read(ip, end, ip->protocol, wants, plan);
}

static __always_inline int outer_read_v6(const struct ipv6hdr *ip, const void *end,
	const struct decap_wants *wants, struct decap_plan *plan, struct gw_decap_source *source)
{
	if ((const void *)(ip + 1) > end)
		return DECAP_NOT_OURS;
	plan->outer_ipv6 = true;
	plan->outer_ecn = (bpf_ntohs(*(const __be16 *)ip) >> 4) & ECN_MASK;
	plan->ip_len = sizeof(*ip);
	source->bits = 128;
	__builtin_memcpy(source->address, &ip->saddr, sizeof(source->address));
	return tunnel_read(ip, end, ip->nexthdr, wants, plan);
}

/*
 * Words of the pseudo header (RFC 768, RFC 8200 section 8.1), as the CPU loads them. The addresses
 * are there; as clang 19 compiles it, the verifier wants to be told once more.
 */
static __always_inline __u32 pseudo_sum(
	const void *l3, const void *end, const struct decap_plan *plan, __u32 length)
{
	__u32 source =
		plan->outer_ipv6 ? offsetof(struct ipv6hdr, saddr) : offsetof(struct iphdr, saddr);
	const __u16 *word = (const void *)((const __u8 *)l3 + source);
	__u32 sum = bpf_htons(IPPROTO_UDP) + bpf_htons(length);

	for (int i = 0; i < 4; i++)
		sum += word[i];
	if (plan->outer_ipv6 && (const void *)(word + 16) <= end)
		for (int i = 4; i < 16; i++)
			sum += word[i];
	return sum;
}

/* UDP's own length may leave bytes behind its end unused, never reach beyond IP's. */
static __always_inline int gue_check(const void *l3, const void *end, struct decap_plan *plan)
{
	const struct udphdr *udp =
		(const void *)((const __u8 *)l3 + (plan->ip_len & IP_HEADER_MASK));
	__u32 length;

	if ((const void *)(udp + 1) > end)
		return GW_DECAP_MALFORMED;
	length = bpf_ntohs(udp->len);
	if (length < sizeof(*udp) || length > plan->payload + sizeof(*udp))
		return GW_DECAP_MALFORMED;
	plan->payload = length - sizeof(*udp);
	plan->verify = udp->check;
	if (plan->verify)
		plan->pseudo = pseudo_sum(l3, end, plan, length);
	return 0;
}

/* Judges the outer header once its source is allowed; `avail` counts the bytes from it to the
 * frame's end. */
static __always_inline int outer_check(
	const void *l3, const void *end, __u32 avail, struct decap_plan *plan)
{
	const struct ipv6hdr *v6 = l3;
	const struct iphdr *v4 = l3;
	__u32 total;

	if (plan->outer_ipv6) {
		if ((const void *)(v6 + 1) > end || v6->version != 6)
			return GW_DECAP_MALFORMED;
		total = sizeof(*v6) + bpf_ntohs(v6->payload_len);
	} else {
		if ((const void *)(v4 + 1) > end || v4->version != 4 || v4->ihl < 5)
			return GW_DECAP_MALFORMED;
		total = bpf_ntohs(v4->tot_len);
	}
	if (total > avail || total < plan->outer_len)
		return GW_DECAP_MALFORMED;
	if (!plan->outer_ipv6) {
		if (header_sum(v4, plan->ip_len, end) != 0xffff)
			return GW_DECAP_OUTER_CHECKSUM;
		if (v4->frag_off & bpf_htons(IP_OFFSET_MASK))
			return GW_DECAP_OUTER_FRAGMENT;
	}
	plan->payload = total - plan->outer_len;
	return plan->encap == GW_ENCAP_GUE ? gue_check(l3, end, plan) : 0;
}

/*
 * The ECN field that an inner packet leaves with, RFC 6040 section 4.2, figure 4; below zero: drop
 * it. ECT(1) outside outranks ECT(0) inside; everything else but CE leaves the inner field as it
 * is.
 */
static __always_inline int ecn_fold(__u8 inner, __u8 outer)
{
	if (inner == ECN_NOT_ECT)
		return outer == ECN_CE ? -1 : ECN_NOT_ECT;
	if (outer == ECN_CE || (outer == ECN_ECT1 && inner != ECN_CE))
		return outer;
	return inner;
}

/* HC' = ~(~HC + ~m + m'), RFC 1624: the checksum after one 16-bit word changed. */
static __always_inline __be16 checksum_replace(__be16 check, __be16 from, __be16 to)
{
	__u32 sum = (__u16)~check + (__u32)(__u16)~from + to;

	sum = (sum & 0xffff) + (sum >> 16);
	return ~(__u16)((sum & 0xffff) + (sum >> 16));
}

/* Judges the inner packet at `l3` and works out its ECN field. */
static __always_inline int inner_check(const void *l3, const void *end, struct decap_plan *plan)
{
	const struct ipv6hdr *v6 = l3;
	const struct iphdr *v4 = l3;
	__u16 word, changed;
	int ecn, shift = plan->inner_ipv6 ? 4 : 0;

	if (plan->inner_ipv6) {
		if ((const void *)(v6 + 1) > end || v6->version != 6 ||
			sizeof(*v6) + bpf_ntohs(v6->payload_len) > plan->payload)
			return GW_DECAP_MALFORMED;
	} else {
		if ((const void *)(v4 + 1) > end || v4->version != 4 || v4->ihl < 5 ||
			bpf_ntohs(v4->tot_len) < v4->ihl * 4u ||
			bpf_ntohs(v4->tot_len) > plan->payload)
			return GW_DECAP_MALFORMED;
		plan->check = v4->check;
	}
	word = bpf_ntohs(*(const __be16 *)l3);
	ecn = ecn_fold((word >> shift) & ECN_MASK, plan->outer_ecn);
	if (ecn < 0)
		return GW_DECAP_ECN_NOT_ECT;
	changed = (word & ~(ECN_MASK << shift)) | ecn << shift;
	plan->rewrite = changed != word;
	plan->word0 = bpf_htons(changed);
	plan->check = checksum_replace(plan->check, bpf_htons(word), bpf_htons(changed));
	return 0;
}
