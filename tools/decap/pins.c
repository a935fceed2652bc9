/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"
#include "decap.h"

#include <linux/bpf.h>

#include <bpf/bpf.h>

#include <errno.h>
#include <linux/magic.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

static const char *const pin_names[] = {"link", "filter", "counters", "sources"};

int decap_pin_path(
	const struct decap_options *options, const char *name, char path[static PATH_MAX])
{
	char folder[IF_NAMESIZE];
	int length;

	snprintf(folder, sizeof(folder), "%s", options->interface);
	decap_name_swap(folder, '.', ':');
	length = snprintf(path, PATH_MAX, "%s/%s%s%s", options->pin_dir, folder, name ? "/" : "",
		name ? name : "");
	return length < PATH_MAX ? 0 : -ENAMETOOLONG;
}

void decap_name_swap(char *name, char from, char to)
{
	for (; *name; name++)
		if (*name == from)
			*name = to;
}

/* mkdir -p; what exists is left alone. */
static int path_make(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return mkdir(path, 0755) && errno != EEXIST ? -errno : 0;
}

int decap_pin_dir_make(const struct decap_options *options)
{
	char path[PATH_MAX];
	struct statfs fs;
	int ret = decap_pin_path(options, NULL, path);

	if (!ret)
		ret = path_make(path);
	if (!ret && statfs(path, &fs))
		ret = -errno;
	if (ret) {
		gw_log_error("%s: cannot make this folder for the pins: %s%s", options->pin_dir,
			strerror(-ret),
			ret == -EPERM || ret == -ENOENT
				? "; is the bpf file system mounted? mount -t bpf bpf /sys/fs/bpf"
				: "");
		return ret;
	}
	if (fs.f_type != BPF_FS_MAGIC) {
		rmdir(path);
		gw_log_error("%s is not in a bpf file system, where alone pins can be: "
			     "mount -t bpf bpf /sys/fs/bpf, or name another folder with --pin-dir",
			options->pin_dir);
		return -EINVAL;
	}
	return 0;
}

void decap_pin_dir_remove(const struct decap_options *options)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(pin_names) / sizeof(pin_names[0]); i++)
		if (!decap_pin_path(options, pin_names[i], path))
			unlink(path);
	if (!decap_pin_path(options, NULL, path))
		rmdir(path);
}

int decap_pin_open(const struct decap_options *options, const char *name)
{
	char path[PATH_MAX];
	int ret = decap_pin_path(options, name, path);

	return ret ? ret : bpf_obj_get(path);
}

int decap_pin_hook(const struct decap_options *options, enum decap_hook *hook)
{
	struct bpf_link_info info = {};
	uint32_t length = sizeof(info);
	int ret, fd = decap_pin_open(options, "filter");

	if (fd >= 0) {
		close(fd);
		*hook = DECAP_HOOK_TC;
		return 0;
	}
	fd = decap_pin_open(options, "link");
	if (fd < 0)
		return fd;
	ret = bpf_obj_get_info_by_fd(fd, &info, &length);
	close(fd);
	if (ret)
		return ret;
	*hook = info.type == BPF_LINK_TYPE_XDP ? DECAP_HOOK_XDP : DECAP_HOOK_TCX;
	return 0;
}
