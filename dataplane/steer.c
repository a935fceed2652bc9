/* SPDX-License-Identifier: BSD-2-Clause */
#include "steer.h"

#include "abi/xdp_maps.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PROGRAM_MAPS 16

struct gw_steer {
	int vips;		 /* gw_steer_vips */
	int trie;		 /* gw_steer_trie */
	struct gw_vip_key *keys; /* what the maps hold, sorted */
	size_t count;
};

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct gw_vip_key));
}

/* Takes the maps by name out of the program's list. */
static int find_maps(struct gw_steer *steer, const uint32_t *ids, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct bpf_map_info info = {};
		uint32_t size = sizeof(info);
		int fd = bpf_map_get_fd_by_id(ids[i]);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0) {
			if (strcmp(info.name, "gw_steer_vips") == 0 && steer->vips < 0) {
				steer->vips = fd;
				continue;
			}
			if (strcmp(info.name, "gw_steer_trie") == 0 && steer->trie < 0) {
				steer->trie = fd;
				continue;
			}
		}
		close(fd);
	}
	return steer->vips >= 0 && steer->trie >= 0 ? 0 : -ENOENT;
}

static int find_program(struct gw_steer *steer, const char *interface, const char **why)
{
	uint32_t ids[PROGRAM_MAPS] = {}, id = 0, size;
	struct bpf_prog_info info = {.map_ids = (uintptr_t)ids, .nr_map_ids = PROGRAM_MAPS};
	unsigned int ifindex = if_nametoindex(interface);
	int fd, error;

	*why = "there is no such interface";
	if (!ifindex)
		return -ENODEV;
	*why = "no XDP program is attached; start EAL's net_af_xdp with xdp_prog=…/steer.bpf.o";
	error = bpf_xdp_query_id((int)ifindex, 0, &id);
	if (error || !id)
		return error ? error : -ENOENT;
	fd = bpf_prog_get_fd_by_id(id);
	if (fd < 0)
		return -errno;
	size = sizeof(info);
	error = bpf_obj_get_info_by_fd(fd, &info, &size) ? -errno : 0;
	close(fd);
	if (error)
		return error;
	*why = "the XDP program there is not steer.bpf.o: it has no gw_steer_vips and "
	       "gw_steer_trie";
	return find_maps(
		steer, ids, info.nr_map_ids < PROGRAM_MAPS ? info.nr_map_ids : PROGRAM_MAPS);
}

/* An abstract socket's name is the kernel's to free, however the process ends. */
static int interface_lock(const char *interface)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length = snprintf(
		address.sun_path + 1, sizeof(address.sun_path) - 1, "guideway-steer/%s", interface);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (bind(fd, (const struct sockaddr *)&address, size) < 0) {
		error = errno == EADDRINUSE ? -EBUSY : -errno;
		close(fd);
	}
	return error; /* fd stays open until the process ends */
}

int gw_steer_take(const char *interface)
{
	unsigned int ifindex = if_nametoindex(interface);
	struct gw_steer *left;
	const char *why;
	int error = interface_lock(interface);

	if (error)
		return error;
	if (gw_steer_open(interface, &left, &why))
		return 0; /* nothing there, or not ours */
	gw_steer_close(left);
	return bpf_xdp_detach((int)ifindex, 0, NULL);
}

int gw_steer_open(const char *interface, struct gw_steer **out, const char **why)
{
	struct gw_steer *steer = calloc(1, sizeof(*steer));
	int error;

	*why = "no memory";
	if (!steer)
		return -ENOMEM;
	steer->vips = steer->trie = -1;
	error = find_program(steer, interface, why);
	if (error) {
		gw_steer_close(steer);
		return error;
	}
	*out = steer;
	return 0;
}

void gw_steer_close(struct gw_steer *steer)
{
	if (!steer)
		return;
	if (steer->vips >= 0)
		close(steer->vips);
	if (steer->trie >= 0)
		close(steer->trie);
	free(steer->keys);
	free(steer);
}

static int add(const struct gw_steer *steer, const struct gw_vip_key *key)
{
	uint8_t value = 1;
	int error = key->prefix_length == 128
			    ? bpf_map_update_elem(steer->vips, &key->address, &value, BPF_ANY)
			    : bpf_map_update_elem(steer->trie, key, &value, BPF_ANY);

	return error ? -errno : 0;
}

static int take_out(const struct gw_steer *steer, const struct gw_vip_key *key)
{
	int error = key->prefix_length == 128 ? bpf_map_delete_elem(steer->vips, &key->address)
					      : bpf_map_delete_elem(steer->trie, key);

	return error && errno != ENOENT ? -errno : 0;
}

static bool holds(const struct gw_vip_key *keys, size_t count, const struct gw_vip_key *key)
{
	return count && bsearch(key, keys, count, sizeof(*keys), compare);
}

int gw_steer_update(struct gw_steer *steer, const struct gw_vip *vips, size_t count)
{
	struct gw_vip_key *wanted = calloc(count + 1, sizeof(*wanted));
	struct gw_vip_key *kept = calloc(count + steer->count + 1, sizeof(*kept));
	size_t kept_count = 0;
	int first = 0;

	if (!wanted || !kept) {
		free(wanted);
		free(kept);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++) {
		wanted[i].prefix_length = vips[i].prefix_length;
		wanted[i].address = vips[i].address;
	}
	qsort(wanted, count, sizeof(*wanted), compare);
	/* What could not be done is not remembered as done, so that the next call tries again. */
	for (size_t i = 0; i < count; i++) {
		int error =
			holds(steer->keys, steer->count, &wanted[i]) ? 0 : add(steer, &wanted[i]);

		if (error)
			first = first ? first : error;
		else
			kept[kept_count++] = wanted[i];
	}
	for (size_t i = 0; i < steer->count; i++) {
		int error = holds(wanted, count, &steer->keys[i])
				    ? 0
				    : take_out(steer, &steer->keys[i]);

		if (!error)
			continue;
		first = first ? first : error;
		kept[kept_count++] = steer->keys[i];
	}
	qsort(kept, kept_count, sizeof(*kept), compare);
	free(wanted);
	free(steer->keys);
	steer->keys = kept;
	steer->count = kept_count;
	return first;
}
