/* SPDX-License-Identifier: BSD-2-Clause */
/* The slow half of service.h: builds the hashes that the packet path asks. */
#include "abi/xdp_maps.h"
#include "service.h"

#include <rte_hash.h>
#include <rte_hash_crc.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* CRC of a key of 16 or 20 bytes, which lies in a packet's record without alignment to speak of. */
static uint32_t key_hash(const void *key, uint32_t length, uint32_t initial)
{
	uint64_t word[2];
	uint32_t rest = 0;

	memcpy(word, key, sizeof(word));
	memcpy(&rest, (const uint8_t *)key + sizeof(word), length - sizeof(word));
	initial = rte_hash_crc_8byte(word[0], initial);
	initial = rte_hash_crc_8byte(word[1], initial);
	return rest ? rte_hash_crc_4byte(rest, initial) : initial;
}

/* A hash filled to the brim can refuse a key: give it twice the room. */
static struct rte_hash *hash_create(
	const char *kind, uint32_t count, uint32_t key_size, int socket, uint32_t serial)
{
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters parameters = {
		.name = name,
		.entries = count < 32 ? 64 : count * 2,
		.key_len = key_size,
		.hash_func = key_hash,
		.socket_id = socket,
	};

	snprintf(name, sizeof(name), "gw_%s_%d_%u", kind, socket, serial);
	return rte_hash_create(&parameters);
}

static int add_vip(struct gw_view *view, const struct gw_vip *vip)
{
	struct gw_vip_key key = {.prefix_length = vip->prefix_length, .address = vip->address};
	struct rte_hash *hash = vip->prefix_length == 128 ? view->vip_exact : view->vip_prefix;
	const void *at = vip->prefix_length == 128 ? (const void *)&key.address : &key;

	if (rte_hash_lookup(hash, at) >= 0)
		return -EEXIST;
	return rte_hash_add_key_data(hash, at, (void *)(uintptr_t)vip) ? -ENOMEM : 0;
}

int gw_vip_index_build(struct gw_view *view, int socket, uint32_t serial)
{
	bool occurs[129] = {};
	uint32_t exact = 0;
	int error = 0;

	for (uint32_t i = 0; i < view->vip_count; i++) {
		occurs[view->vip[i].prefix_length] = true;
		exact += view->vip[i].prefix_length == 128;
	}
	view->prefix_length_count = 0;
	for (int length = 127; length >= 0; length--)
		if (occurs[length])
			view->prefix_lengths[view->prefix_length_count++] = (uint8_t)length;
	view->vip_exact = hash_create("vip", exact, sizeof(struct gw_address), socket, serial);
	if (view->prefix_length_count)
		view->vip_prefix = hash_create("prefix", view->vip_count - exact,
			sizeof(struct gw_vip_key), socket, serial);
	if (!view->vip_exact || (view->prefix_length_count && !view->vip_prefix))
		error = -ENOMEM;
	for (uint32_t i = 0; i < view->vip_count && !error; i++)
		error = add_vip(view, &view->vip[i]);
	if (error)
		gw_vip_index_free(view);
	return error;
}

void gw_vip_index_free(struct gw_view *view)
{
	rte_hash_free(view->vip_exact);
	rte_hash_free(view->vip_prefix);
	view->vip_exact = NULL;
	view->vip_prefix = NULL;
}
