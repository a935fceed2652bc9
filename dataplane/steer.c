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

struct entry {
	struct gw_vip_key key;
	uint32_t value; /* one byte of it is the map's */
};

/* Addresses, and prefixes where there is a trie: what the maps hold, sorted. */
struct set {
	int exact;
	int trie; /* -1: full-length addresses only */
	struct entry *entries;
	size_t count;
};

struct gw_steer {
	struct set vips; /* gw_steer_vips, gw_steer_trie */
	struct set ends; /* gw_steer_ends */
};

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct gw_vip_key));
}

/* Takes the maps by name out of the program's list. */
static int find_maps(struct gw_steer *steer, const uint32_t *ids, uint32_t count)
{
	const struct {
		const char *name;
		int *fd;
	} wanted[] = {{"gw_steer_vips", &steer->vips.exact}, {"gw_steer_trie", &steer->vips.trie},
		{"gw_steer_ends", &steer->ends.exact}};
	size_t found = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct bpf_map_info info = {};
		uint32_t size = sizeof(info);
		int fd = bpf_map_get_fd_by_id(ids[i]);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
			for (size_t k = 0; k < sizeof(wanted) / sizeof(*wanted) && fd >= 0; k++) {
				if (strcmp(info.name, wanted[k].name) || *wanted[k].fd >= 0)
					continue;
				*wanted[k].fd = fd;
				fd = -1;
				found++;
			}
		if (fd >= 0)
			close(fd);
	}
	return found == sizeof(wanted) / sizeof(*wanted) ? 0 : -ENOENT;
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
	*why = "the XDP program there is not steer.bpf.o: it lacks gw_steer_vips, "
	       "gw_steer_trie or gw_steer_ends";
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
	steer->vips.exact = steer->vips.trie = -1;
	steer->ends.exact = steer->ends.trie = -1;
	error = find_program(steer, interface, why);
	if (error) {
		gw_steer_close(steer);
		return error;
	}
	*out = steer;
	return 0;
}

static void set_close(struct set *set)
{
	if (set->exact >= 0)
		close(set->exact);
	if (set->trie >= 0)
		close(set->trie);
	free(set->entries);
}

void gw_steer_close(struct gw_steer *steer)
{
	if (!steer)
		return;
	set_close(&steer->vips);
	set_close(&steer->ends);
	free(steer);
}

static int put(const struct set *set, const struct entry *entry)
{
	uint8_t value = (uint8_t)entry->value;
	int error = entry->key.prefix_length == 128
			    ? bpf_map_update_elem(set->exact, &entry->key.address, &value, BPF_ANY)
			    : bpf_map_update_elem(set->trie, &entry->key, &value, BPF_ANY);

	return error ? -errno : 0;
}

static int take_out(const struct set *set, const struct entry *entry)
{
	int error = entry->key.prefix_length == 128
			    ? bpf_map_delete_elem(set->exact, &entry->key.address)
			    : bpf_map_delete_elem(set->trie, &entry->key);

	return error && errno != ENOENT ? -errno : 0;
}

static const struct entry *find(const struct entry *list, size_t count, const struct entry *entry)
{
	return count ? bsearch(entry, list, count, sizeof(*list), compare) : NULL;
}

/* Makes the set hold `wanted`, which it sorts. Returns 0 or the first -errno. */
static int set_update(struct set *set, struct entry *wanted, size_t count)
{
	struct entry *kept = calloc(count + set->count + 1, sizeof(*kept));
	size_t kept_count = 0;
	int first = 0;

	if (!kept)
		return -ENOMEM;
	qsort(wanted, count, sizeof(*wanted), compare);
	/* What could not be done is not remembered as done, so that the next call tries again. */
	for (size_t i = 0; i < count; i++) {
		const struct entry *old = find(set->entries, set->count, &wanted[i]);
		int error = old && old->value == wanted[i].value ? 0 : put(set, &wanted[i]);

		if (!error)
			kept[kept_count++] = wanted[i];
		else if (old)
			kept[kept_count++] = *old;
		first = first ? first : error;
	}
	for (size_t i = 0; i < set->count; i++) {
		int error =
			find(wanted, count, &set->entries[i]) ? 0 : take_out(set, &set->entries[i]);

		if (!error)
			continue;
		first = first ? first : error;
		kept[kept_count++] = set->entries[i];
	}
	qsort(kept, kept_count, sizeof(*kept), compare);
	free(set->entries);
	set->entries = kept;
	set->count = kept_count;
	return first;
}

static size_t collect_vips(const struct gw_view *view, struct entry *list)
{
	for (uint32_t i = 0; i < view->vip_count; i++) {
		list[i].key.prefix_length = view->vip[i].prefix_length;
		list[i].key.address = view->vip[i].address;
		list[i].value = view->vip[i].flags;
	}
	return view->vip_count;
}

/* An address may stand there twice, once without a tunnel. */
static size_t collect_ends(const struct gw_view *view, struct entry *list)
{
	size_t count = 0;

	for (uint32_t i = 0; i < view->endpoint_count; i++) {
		if (!view->endpoint[i].endpoint.modes)
			continue;
		list[count].key.prefix_length = 128;
		list[count].key.address = view->endpoint[i].address;
		list[count++].value = view->endpoint[i].endpoint.modes;
	}
	return count;
}

int gw_steer_update(struct gw_steer *steer, const struct gw_view *view)
{
	size_t room =
		view->vip_count > view->endpoint_count ? view->vip_count : view->endpoint_count;
	struct entry *wanted = calloc(room + 1, sizeof(*wanted));
	int error, later;

	if (!wanted)
		return -ENOMEM;
	error = set_update(&steer->vips, wanted, collect_vips(view, wanted));
	memset(wanted, 0, (room + 1) * sizeof(*wanted));
	later = set_update(&steer->ends, wanted, collect_ends(view, wanted));
	free(wanted);
	return error ? error : later;
}
