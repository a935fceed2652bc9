/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/decap.h"
#include "base/log.h"
#include "decap.h"
#include "decap.skel.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

/* Of Linux 6.6; libbpf 1.1 passes attach types on that it does not know. */
#define TCX_INGRESS 46

/* Where our filter sits among those of clsact: one place, so that it is found again. */
#define TC_HANDLE   1
#define TC_PRIORITY 6080

static int libbpf_print(enum libbpf_print_level level, const char *format, va_list args)
{
	char text[512];

	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	gw_log_warning("%s", text);
	return 0;
}

/* Who holds the XDP hook, for the message that refuses to push it aside. */
static void xdp_holder_log(const struct decap_options *options, unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);
	struct bpf_prog_info info = {};
	uint32_t length = sizeof(info);
	int fd = -1;

	if (!bpf_xdp_query(ifindex, 0, &query))
		fd = bpf_prog_get_fd_by_id(query.prog_id);
	if (fd >= 0)
		bpf_obj_get_info_by_fd(fd, &info, &length);
	gw_log_error("%s: the XDP program '%s' (id %u) holds the hook; remove it, or attach with "
		     "--hook tcx or tc, which run beside other programs",
		options->interface, info.name, query.prog_id);
	if (fd >= 0)
		close(fd);
}

static int link_pin(const struct decap_options *options, int link_fd)
{
	char path[PATH_MAX];
	int ret = decap_pin_path(options, "link", path);

	if (!ret && bpf_obj_pin(link_fd, path))
		ret = -errno;
	if (ret)
		gw_log_error("%s: cannot pin the link: %s", options->interface, strerror(-ret));
	return ret;
}

static int xdp_attach(const struct decap_options *options, unsigned int ifindex, int prog_fd)
{
	uint32_t mode =
		options->hook == DECAP_HOOK_XDP_GENERIC ? XDP_FLAGS_SKB_MODE : XDP_FLAGS_DRV_MODE;
	LIBBPF_OPTS(bpf_link_create_opts, create, .flags = mode);
	int ret, fd = bpf_link_create(prog_fd, ifindex, BPF_XDP, &create);

	if (fd == -EBUSY || fd == -EEXIST) {
		xdp_holder_log(options, ifindex);
		return fd;
	}
	if (fd < 0) {
		gw_log_error("%s: cannot attach at XDP: %s%s", options->interface, strerror(-fd),
			mode == XDP_FLAGS_DRV_MODE ? "; if the driver knows no XDP, try "
						     "--hook xdp-generic or tc"
						   : "");
		return fd;
	}
	ret = link_pin(options, fd);
	close(fd);
	return ret;
}

/* Returns -EOPNOTSUPP, silently, where the kernel has no tcx. */
static int tcx_attach(const struct decap_options *options, unsigned int ifindex, int prog_fd)
{
	int ret, fd = bpf_link_create(prog_fd, ifindex, (enum bpf_attach_type)TCX_INGRESS, NULL);

	if (fd == -EINVAL)
		return -EOPNOTSUPP;
	if (fd < 0) {
		gw_log_error(
			"%s: cannot attach at tcx ingress: %s", options->interface, strerror(-fd));
		return fd;
	}
	ret = link_pin(options, fd);
	close(fd);
	return ret;
}

static int tc_attach(const struct decap_options *options, unsigned int ifindex, int prog_fd)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = TC_HANDLE, .priority = TC_PRIORITY,
		.prog_fd = prog_fd, .flags = BPF_TC_F_REPLACE);
	char path[PATH_MAX];
	int ret = bpf_tc_hook_create(&hook);

	if (!ret || ret == -EEXIST)
		ret = bpf_tc_attach(&hook, &filter);
	if (ret) {
		gw_log_error("%s: cannot attach at clsact ingress: %s", options->interface,
			strerror(-ret));
		return ret;
	}
	ret = decap_pin_path(options, "filter", path);
	unlink(path);
	if (!ret && bpf_obj_pin(prog_fd, path))
		ret = -errno;
	if (ret)
		gw_log_error("%s: cannot pin the program: %s", options->interface, strerror(-ret));
	return ret;
}

static void tc_detach(unsigned int ifindex)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_INGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = TC_HANDLE, .priority = TC_PRIORITY);

	bpf_tc_detach(&hook, &filter);
}

/* Takes the program off the hook that the pins tell of; the maps' pins stay. */
static int hook_release(const struct decap_options *options)
{
	unsigned int ifindex = if_nametoindex(options->interface);
	enum decap_hook hook;
	char path[PATH_MAX];
	int fd, ret = decap_pin_hook(options, &hook);

	if (ret)
		return ret;
	if (hook == DECAP_HOOK_TC) {
		if (ifindex)
			tc_detach(ifindex);
		decap_pin_path(options, "filter", path);
		unlink(path);
		return 0;
	}
	fd = decap_pin_open(options, "link");
	if (fd >= 0) {
		bpf_link_detach(fd); /* fails on an interface that is gone: so is the program */
		close(fd);
	}
	decap_pin_path(options, "link", path);
	unlink(path);
	return 0;
}

/* Puts the program in the place of an older one of ours, without a packet in between that sees
 * none. */
static bool link_replace(const struct decap_options *options, unsigned int ifindex,
	enum decap_hook hook, int prog_fd)
{
	struct bpf_link_info info = {};
	uint32_t length = sizeof(info);
	enum decap_hook present;
	bool done = false;
	int fd;

	if (hook == DECAP_HOOK_TC || hook == DECAP_HOOK_XDP_GENERIC ||
		decap_pin_hook(options, &present) || present != hook)
		return false;
	fd = decap_pin_open(options, "link");
	if (fd < 0)
		return false;
	/* xdp.ifindex and tcx.ifindex are the union's first field; 0 when the interface went away
	 */
	if (!bpf_obj_get_info_by_fd(fd, &info, &length) && info.xdp.ifindex == ifindex)
		done = !bpf_link_update(fd, prog_fd, NULL);
	close(fd);
	return done;
}

static int hook_attach(
	const struct decap_options *options, unsigned int ifindex, struct decap_bpf *skel)
{
	bool xdp = options->hook == DECAP_HOOK_XDP || options->hook == DECAP_HOOK_XDP_GENERIC;
	int fd = bpf_program__fd(xdp ? skel->progs.gw_decap_xdp : skel->progs.gw_decap_tc);
	int ret;

	if (link_replace(options, ifindex,
		    options->hook == DECAP_HOOK_AUTO ? DECAP_HOOK_TCX : options->hook, fd))
		return 0;
	hook_release(options);
	if (xdp)
		return xdp_attach(options, ifindex, fd);
	if (options->hook == DECAP_HOOK_TC)
		return tc_attach(options, ifindex, fd);
	ret = tcx_attach(options, ifindex, fd);
	if (ret == -EOPNOTSUPP && options->hook == DECAP_HOOK_AUTO)
		return tc_attach(options, ifindex, fd);
	if (ret == -EOPNOTSUPP)
		gw_log_error("%s: this kernel has no tcx (Linux 6.6); use --hook tc",
			options->interface);
	return ret;
}

static struct gw_decap_source source_key(const struct gw_prefix *prefix)
{
	struct gw_decap_source key = {.bits = prefix->length};

	memcpy(key.address, prefix->address, sizeof(key.address));
	return key;
}

static bool source_wanted(const struct decap_options *options, const struct gw_decap_source *key)
{
	for (size_t i = 0; i < options->from_count; i++) {
		struct gw_decap_source wanted = source_key(&options->from[i]);

		if (!memcmp(&wanted, key, sizeof(wanted)))
			return true;
	}
	return false;
}

/* Adds what is new before it deletes what is not wanted, so that a prefix in both never misses. */
static int sources_sync(const struct decap_options *options, int map_fd)
{
	struct gw_decap_source key, next;
	bool first = true;
	uint32_t one = 1;

	for (size_t i = 0; i < options->from_count; i++) {
		key = source_key(&options->from[i]);
		if (bpf_map_update_elem(map_fd, &key, &one, BPF_ANY)) {
			gw_log_error("%s: prefix %zu of --from does not fit into the map: %s",
				options->interface, i + 1, strerror(errno));
			return -errno;
		}
	}
	while (!bpf_map_get_next_key(map_fd, first ? NULL : &key, &next)) {
		if (source_wanted(options, &next)) {
			key = next;
			first = false;
			continue;
		}
		bpf_map_delete_elem(map_fd, &next);
		first = true;
	}
	return 0;
}

static int maps_pin(const struct decap_options *options, struct decap_bpf *skel)
{
	char path[PATH_MAX];
	int ret = decap_pin_path(options, "counters", path);

	if (!ret)
		ret = bpf_map__set_pin_path(skel->maps.counters, path);
	if (!ret)
		ret = decap_pin_path(options, "sources", path);
	return ret ? ret : bpf_map__set_pin_path(skel->maps.sources, path);
}

int decap_attach(const struct decap_options *options)
{
	unsigned int ifindex = if_nametoindex(options->interface);
	struct decap_bpf *skel;
	enum decap_hook present;
	int ret;

	libbpf_set_print(libbpf_print);
	if (!ifindex) {
		gw_log_error("%s: no such interface", options->interface);
		return -ENODEV;
	}
	ret = decap_pin_dir_make(options);
	if (ret)
		return ret;
	skel = decap_bpf__open();
	if (!skel) {
		ret = -errno;
		gw_log_error("cannot open the program that was built in: %s", strerror(errno));
		return ret;
	}
	skel->rodata->pass_strangers = options->pass_strangers;
	skel->rodata->modes = options->modes ? options->modes : GW_DECAP_MODES_ALL;
	skel->rodata->gue_port = htons(options->gue_port);
	ret = maps_pin(options, skel);
	if (!ret)
		ret = decap_bpf__load(skel);
	if (ret)
		gw_log_error("%s: the kernel does not load the program: %s%s", options->interface,
			strerror(-ret),
			decap_pin_hook(options, &present)
				? ""
				: "; the pins may be another version's: detach first");
	if (!ret)
		ret = sources_sync(options, bpf_map__fd(skel->maps.sources));
	if (!ret)
		ret = hook_attach(options, ifindex, skel);
	if (ret && decap_pin_hook(options, &present))
		decap_pin_dir_remove(options);
	decap_bpf__destroy(skel);
	return ret;
}

int decap_detach(const struct decap_options *options)
{
	int ret = hook_release(options);

	decap_pin_dir_remove(options);
	if (ret == -ENOENT)
		gw_log_error("%s: no decapsulator is attached (pins are looked for in %s/%s)",
			options->interface, options->pin_dir, options->interface);
	else if (ret)
		gw_log_error("%s: %s", options->interface, strerror(-ret));
	return ret;
}
