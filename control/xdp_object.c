/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_object.h"

#include "abi/flow_place.h"
#include "base/log.h"
#include "xdp_lb.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define PATH_SIZE 4200

/* ---- pin folder */

/* mkdir -p of all but what is there. */
static int make_folders(const char *path)
{
	char part[PATH_SIZE];
	size_t length = strlen(path);

	if (length >= sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, path, length + 1);
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
}

static bool in_bpffs(const char *path)
{
	struct statfs info;

	return statfs(path, &info) == 0 && info.f_type == BPF_FS_MAGIC;
}

int gw_xdp_pin_dir_make(const char *pin_dir)
{
	static const char usual[] = "/sys/fs/bpf";
	bool below = !strncmp(pin_dir, usual, sizeof(usual) - 1);
	const char *mount_point = below ? usual : pin_dir;
	int error;

	if (below && !in_bpffs(usual) && mount("bpf", usual, "bpf", 0, NULL) == 0)
		gw_log_info("%s: a bpf file system was mounted there", usual);
	error = make_folders(pin_dir);
	if (!error && !in_bpffs(pin_dir)) {
		error = mount("bpf", pin_dir, "bpf", 0, NULL) ? -errno : 0;
		if (!error)
			gw_log_info("%s: a bpf file system was mounted there", pin_dir);
	}
	if (error)
		gw_log_error("%s: cannot pin there: %s; mount a bpf file system at %s", pin_dir,
			strerror(-error), mount_point);
	return error;
}

int gw_xdp_pin_dir_lock(const char *pin_dir)
{
	int fd = open(pin_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	if (in_bpffs(pin_dir)) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		error = errno == EWOULDBLOCK ? -EBUSY : -errno;
	} else {
		error = -ENOTDIR;
	}
	close(fd);
	return error;
}

/* ---- maps */

static char *pin_path(char path[static PATH_SIZE], const char *pin_dir, const char *name)
{
	snprintf(path, PATH_SIZE, "%s/%s", pin_dir, name);
	return path;
}

static void size_maps(struct xdp_lb_bpf *skeleton, uint64_t flows)
{
	bpf_map__set_max_entries(skeleton->maps.gw_vips, GW_MAX_VIPS);
	bpf_map__set_max_entries(skeleton->maps.gw_vip_trie, GW_MAX_VIPS);
	bpf_map__set_max_entries(skeleton->maps.gw_spans, 2 * GW_MAX_SPANS);
	bpf_map__set_max_entries(skeleton->maps.gw_services, GW_MAX_SERVICES);
	bpf_map__set_max_entries(skeleton->maps.gw_backends, GW_XDP_BACKENDS);
	bpf_map__set_max_entries(skeleton->maps.gw_endpoints, GW_XDP_BACKENDS);
	bpf_map__set_max_entries(skeleton->maps.gw_pools, GW_MAX_POOLS);
	bpf_map__set_max_entries(skeleton->maps.gw_flows, gw_flow_buckets_for(flows));
	bpf_map__set_max_entries(skeleton->maps.gw_backend_traffic, GW_XDP_BACKENDS);
	bpf_map__set_max_entries(skeleton->maps.gw_service_traffic, GW_MAX_SERVICES);
}

/* Adopted maps keep their size; only the flow table's may differ from what this build would make.
 */
static int adopt_map(struct bpf_map *map, int fd, const char *name)
{
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &size))
		return -errno;
	if (info.type != bpf_map__type(map) || info.key_size != bpf_map__key_size(map) ||
		info.value_size != bpf_map__value_size(map)) {
		gw_log_error("pinned map %s is of another build's shape", name);
		return -EPROTO;
	}
	bpf_map__set_max_entries(map, info.max_entries);
	return bpf_map__reuse_fd(map, fd);
}

/* Not those that hold nothing from one packet to the next. */
static bool is_pinned(const struct bpf_map *map)
{
	return !bpf_map__is_internal(map) && !strncmp(bpf_map__name(map), "gw_", 3);
}

static int check_abi(uint32_t abi)
{
	if (!abi || abi == GW_XDP_ABI_VERSION)
		return 0;
	gw_log_error("the pinned maps are of ABI %u, this program is of ABI %u", abi,
		GW_XDP_ABI_VERSION);
	return -EPROTO;
}

/*
 * Before maps of another ABI are touched: what they are in shape this build may not be able to
 * tell, and the verifier, which can, would refuse the program in words of its own.
 */
static int check_pinned_abi(const char *pin_dir)
{
	char path[PATH_SIZE];
	struct gw_xdp_config config = {};
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info), zero = 0;
	int fd = bpf_obj_get(pin_path(path, pin_dir, "gw_config"));

	if (fd < 0) /* nothing is pinned, or adopt_maps says why not */
		return 0;
	if (!bpf_obj_get_info_by_fd(fd, &info, &size) && info.key_size == sizeof(zero) &&
		info.value_size == sizeof(config))
		bpf_map_lookup_elem(fd, &zero, &config);
	close(fd);
	return check_abi(config.abi_version);
}

/* All maps that are pinned are used again; the first of them decides whether any are. */
static int adopt_maps(struct gw_xdp_object *object, const char *pin_dir)
{
	char path[PATH_SIZE];
	struct bpf_map *map;
	int error = check_pinned_abi(pin_dir);

	if (error)
		return error;
	bpf_object__for_each_map(map, object->skeleton->obj)
	{
		int fd;

		if (!is_pinned(map))
			continue;
		fd = bpf_obj_get(pin_path(path, pin_dir, bpf_map__name(map)));
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return -errno;
		error = adopt_map(map, fd, path);
		close(fd);
		if (error)
			return error;
		object->adopted = true;
	}
	return 0;
}

static int pin_maps(struct gw_xdp_object *object, const char *pin_dir)
{
	char path[PATH_SIZE];
	struct bpf_map *map;

	bpf_object__for_each_map(map, object->skeleton->obj)
	{
		if (!is_pinned(map))
			continue;
		pin_path(path, pin_dir, bpf_map__name(map));
		if (access(path, F_OK) == 0)
			continue;
		if (bpf_obj_pin(bpf_map__fd(map), path)) {
			int error = -errno;

			gw_log_error("%s: cannot pin: %s", path, strerror(-error));
			return error;
		}
	}
	return 0;
}

/* The kernel wants the whole map, rounded up to pages. */
static size_t map_bytes(const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t value = ((size_t)bpf_map__value_size(map) + 7) / 8 * 8;

	return (value * bpf_map__max_entries(map) + page - 1) / page * page;
}

static void *map_memory(const struct bpf_map *map)
{
	void *memory =
		mmap(NULL, map_bytes(map), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void unmap_memory(void *memory, const struct bpf_map *map)
{
	if (memory)
		munmap(memory, map_bytes(map));
}

static int map_all(struct gw_xdp_object *object)
{
	if (object->cpus < 0)
		return object->cpus;
	object->values = calloc((size_t)object->cpus, sizeof(struct gw_counters));
	object->config = map_memory(object->skeleton->maps.gw_config);
	object->spans = map_memory(object->skeleton->maps.gw_spans);
	object->services = map_memory(object->skeleton->maps.gw_services);
	object->backends = map_memory(object->skeleton->maps.gw_backends);
	object->paths = map_memory(object->skeleton->maps.gw_paths);
	object->flows = map_memory(object->skeleton->maps.gw_flows);
	object->samples = map_memory(object->skeleton->maps.gw_flow_samples);
	object->trace = map_memory(object->skeleton->maps.gw_trace);
	if (!object->config || !object->spans || !object->services || !object->backends ||
		!object->paths || !object->flows || !object->samples || !object->trace ||
		!object->values)
		return -ENOMEM;
	object->bucket_count = bpf_map__max_entries(object->skeleton->maps.gw_flows);
	return 0;
}

static int start_config(struct gw_xdp_object *object)
{
	struct gw_xdp_config *config = object->config;

	config->bucket_count = object->bucket_count;
	if (config->abi_version)
		return 0;
	if (getrandom(&config->flow_seed, sizeof(config->flow_seed), 0) !=
		sizeof(config->flow_seed))
		return -EIO;
	/* A service index that nobody set must not read as pool 0. */
	for (uint32_t i = 0; i < GW_MAX_SERVICES; i++)
		object->services[i].pool = GW_NONE;
	__atomic_store_n(&config->abi_version, GW_XDP_ABI_VERSION, __ATOMIC_RELEASE);
	return 0;
}

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static int load(struct gw_xdp_object *object, const struct gw_xdp_object_options *options)
{
	libbpf_print_fn_t before;
	int error;

	object->skeleton = xdp_lb_bpf__open();
	if (!object->skeleton)
		return -errno;
	object->skeleton->rodata->gw_tracing = options->tracing;
	size_maps(object->skeleton, options->flows);
	error = options->pin_dir ? adopt_maps(object, options->pin_dir) : 0;
	if (error)
		return error;
	before = libbpf_set_print(print_nothing);
	error = xdp_lb_bpf__load(object->skeleton);
	libbpf_set_print(before);
	if (error)
		gw_log_error("the XDP program does not load: %s%s", strerror(-error),
			error == -EPERM ? " (root, or CAP_BPF and CAP_NET_ADMIN, is needed)" : "");
	return error;
}

int gw_xdp_object_open(struct gw_xdp_object *out, const struct gw_xdp_object_options *options)
{
	struct gw_xdp_object object = {.program = -1, .cpus = libbpf_num_possible_cpus()};
	int error = options->pin_dir ? gw_xdp_pin_dir_make(options->pin_dir) : 0;

	if (!error)
		error = load(&object, options);
	if (!error)
		error = map_all(&object);
	if (!error)
		error = start_config(&object);
	if (!error && options->pin_dir)
		error = pin_maps(&object, options->pin_dir);
	if (error == -EPROTO)
		gw_log_error("%s: remove what is pinned with `guideway-control --detach` "
			     "(forwarding stops "
			     "until the next start), or run the program that made it",
			options->pin_dir);
	if (error) {
		gw_xdp_object_close(&object);
		return error;
	}
	object.program = bpf_program__fd(object.skeleton->progs.guideway_lb);
	*out = object;
	return 0;
}

void gw_xdp_object_close(struct gw_xdp_object *object)
{
	if (!object->skeleton)
		return;
	unmap_memory(object->config, object->skeleton->maps.gw_config);
	unmap_memory(object->spans, object->skeleton->maps.gw_spans);
	unmap_memory(object->services, object->skeleton->maps.gw_services);
	unmap_memory(object->backends, object->skeleton->maps.gw_backends);
	unmap_memory(object->paths, object->skeleton->maps.gw_paths);
	unmap_memory(object->flows, object->skeleton->maps.gw_flows);
	unmap_memory(object->samples, object->skeleton->maps.gw_flow_samples);
	unmap_memory(object->trace, object->skeleton->maps.gw_trace);
	free(object->values);
	xdp_lb_bpf__destroy(object->skeleton);
	*object = (struct gw_xdp_object){.program = -1};
}

/* ---- reading */

/* Values of a per-CPU map are whole numbers of 8 bytes here, so they lie without gaps. */
static int sum_words(const struct gw_xdp_object *object, const struct bpf_map *map, uint32_t key,
	uint64_t *sum, size_t words)
{
	if (bpf_map_lookup_elem(bpf_map__fd(map), &key, object->values))
		return -errno;
	memset(sum, 0, words * sizeof(*sum));
	for (size_t i = 0; i < (size_t)object->cpus * words; i++)
		sum[i % words] += object->values[i];
	return 0;
}

int gw_xdp_counters(const struct gw_xdp_object *object, struct gw_counters *sum)
{
	return sum_words(
		object, object->skeleton->maps.gw_counters, 0, (uint64_t *)sum, sizeof(*sum) / 8);
}

static const struct bpf_map *traffic_map(
	const struct gw_xdp_object *object, enum gw_xdp_traffic which)
{
	return which == GW_XDP_TRAFFIC_BACKENDS ? object->skeleton->maps.gw_backend_traffic
						: object->skeleton->maps.gw_service_traffic;
}

int gw_xdp_traffic(const struct gw_xdp_object *object, enum gw_xdp_traffic which, uint32_t id,
	struct gw_traffic *sum)
{
	return sum_words(object, traffic_map(object, which), id, (uint64_t *)sum, sizeof(*sum) / 8);
}

int gw_xdp_traffic_clear(const struct gw_xdp_object *object, enum gw_xdp_traffic which, uint32_t id)
{
	memset(object->values, 0, (size_t)object->cpus * sizeof(struct gw_traffic));
	return bpf_map_update_elem(
		       bpf_map__fd(traffic_map(object, which)), &id, object->values, BPF_ANY)
		       ? -errno
		       : 0;
}

uint64_t gw_xdp_flow_find(
	const struct gw_xdp_object *object, const struct gw_flow_key *key, uint32_t now)
{
	struct gw_flow_place place =
		gw_flow_place(key, object->config->flow_seed, object->bucket_count);
	uint32_t bucket = place.bucket;

	for (int i = 0; i < 2; i++) {
		const struct gw_flow_bucket *at = &object->flows[bucket];
		uint32_t index = gw_flow_find(at, place.tag);

		if (index < GW_FLOW_BUCKET_WORDS) {
			uint64_t word = at->word[index];

			return gw_flow_expired(word, now, &object->config->timeouts) ? GW_FLOW_EMPTY
										     : word;
		}
		if (gw_flow_bucket_has_empty(at))
			break;
		bucket = gw_flow_other_bucket(place.bucket, place.tag, object->bucket_count);
	}
	return GW_FLOW_EMPTY;
}
