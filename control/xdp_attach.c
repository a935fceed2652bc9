/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/xdp_attach.h"

#include "base/log.h"
#include "control/publish_xdp.h"
#include "xdp_lb.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <dirent.h>
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_SIZE     4300
#define LINK_PREFIX   "link_"
#define RETRY_SECONDS 10 /* of an interface that came back and did not take the program */

/* A bpffs takes no dots in names, an interface has no colon in its own: eth1.5 is link_eth1:5. */
static char *link_path(char path[static PATH_SIZE], const char *pin_dir, const char *interface)
{
	int folder = snprintf(path, PATH_SIZE, "%s/", pin_dir);

	snprintf(path + folder, (size_t)(PATH_SIZE - folder), LINK_PREFIX "%s", interface);
	for (char *at = path + folder; *at; at++)
		if (*at == '.')
			*at = ':';
	return path;
}

static int read_mac(const char *interface, uint8_t mac[static 6])
{
	struct ifreq request = {};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -errno;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	error = ioctl(fd, SIOCGIFHWADDR, &request) ? -errno : 0;
	close(fd);
	if (!error)
		memcpy(mac, request.ifr_hwaddr.sa_data, 6);
	return error;
}

/* The card takes VLAN tags off, so that no XDP program sees which VLAN a frame came from. */
static bool strips_tags(const char *interface)
{
	struct ethtool_value flags = {.cmd = ETHTOOL_GFLAGS};
	struct ifreq request = {.ifr_data = (char *)&flags};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool strips;

	if (fd < 0)
		return false;
	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	strips = !ioctl(fd, SIOCETHTOOL, &request) && flags.data & ETH_FLAG_RXVLAN;
	close(fd);
	return strips;
}

/* Who holds the hook: id and mode, 0 when nobody does. */
static int query(uint32_t ifindex, uint32_t *id, bool *native)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, options);
	int error = bpf_xdp_query((int)ifindex, 0, &options);

	if (error)
		return error;
	*id = options.drv_prog_id   ? options.drv_prog_id
	      : options.skb_prog_id ? options.skb_prog_id
				    : options.prog_id;
	*native = options.drv_prog_id != 0;
	return 0;
}

static void name_of(uint32_t id, char name[static BPF_OBJ_NAME_LEN])
{
	struct bpf_prog_info info = {};
	uint32_t size = sizeof(info);
	int fd = bpf_prog_get_fd_by_id(id);

	snprintf(name, BPF_OBJ_NAME_LEN, "?");
	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
		snprintf(name, BPF_OBJ_NAME_LEN, "%s", info.name);
	close(fd);
}

static bool link_holds(int fd, uint32_t ifindex)
{
	struct bpf_link_info info = {};
	uint32_t size = sizeof(info);

	return bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.type == BPF_LINK_TYPE_XDP &&
	       info.xdp.ifindex == ifindex;
}

/* Takes the program off at once: by unlinking alone the kernel would do so a little later. */
static int release_link(const char *path)
{
	int fd = bpf_obj_get(path);

	if (fd >= 0) {
		bpf_link_detach(fd);
		close(fd);
	}
	return unlink(path) ? -errno : 0;
}

/* The pinned link of an interface that is still that interface; -ENOENT when there is none. */
static int open_link(const char *pin_dir, const struct gw_xdp_port *port)
{
	char path[PATH_SIZE];
	int fd = bpf_obj_get(link_path(path, pin_dir, port->name));

	if (fd < 0)
		return -errno;
	if (link_holds(fd, port->ifindex))
		return fd;
	/* The interface it was made for is gone, or has another name now. */
	close(fd);
	release_link(path);
	return -ENOENT;
}

static bool mode_fits(enum gw_config_xdp_mode mode, bool native)
{
	return mode == GW_CONFIG_XDP_AUTO || native == (mode == GW_CONFIG_XDP_NATIVE);
}

static int create_link(int program, const struct gw_xdp_port *port)
{
	static const uint32_t flags[] = {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE};
	int fd = -1, error = 0;

	for (int i = 0; i < 2 && fd < 0; i++) {
		LIBBPF_OPTS(bpf_link_create_opts, options, .flags = flags[i]);

		if (!mode_fits(port->mode, i == 0))
			continue;
		fd = bpf_link_create(program, (int)port->ifindex, BPF_XDP, &options);
		error = fd < 0 ? -errno : 0;
		if (fd < 0 && i == 0 && port->mode == GW_CONFIG_XDP_AUTO)
			gw_log_warning("interface %s: native XDP is refused (%s); trying generic, "
				       "which is slower",
				port->name, strerror(-error));
	}
	return fd < 0 ? error : fd;
}

static int refuse_foreign(const struct gw_xdp_port *port, uint32_t id)
{
	char name[BPF_OBJ_NAME_LEN];

	name_of(id, name);
	gw_log_error("interface %s: the XDP program \"%s\" (id %u) is attached already and is left "
		     "alone; remove it "
		     "(ip link set dev %s xdp off; bpftool net) or give another interface",
		port->name, name, id, port->name);
	return -EBUSY;
}

/* `back`: an interface that was lost has returned; tags are then no reason to leave it idle. */
static int attach_new(const struct gw_xdp_object *object, const char *pin_dir,
	struct gw_xdp_port *port, bool back)
{
	char path[PATH_SIZE];
	uint32_t id = 0;
	bool native;
	int fd, error = query(port->ifindex, &id, &native);

	if (!error && id)
		return refuse_foreign(port, id);
	if (strips_tags(port->name)) {
		gw_log(back ? GW_LOG_WARNING : GW_LOG_ERROR,
			"interface %s: it takes VLAN tags off before an XDP program sees them; let "
			"it leave them: ethtool -K %s rxvlan off",
			port->name, port->name);
		if (!back)
			return -EOPNOTSUPP;
	}
	fd = create_link(object->program, port);
	if (fd == -EBUSY || fd == -EEXIST)
		return query(port->ifindex, &id, &native) || !id ? fd : refuse_foreign(port, id);
	if (fd < 0) {
		gw_log_error("interface %s: the XDP program cannot be attached in mode %s: %s%s",
			port->name, gw_config_xdp_mode_name(port->mode), strerror(-fd),
			port->mode == GW_CONFIG_XDP_NATIVE
				? "; the driver may not have native XDP, or not for so large an "
				  "MTU (some 3500 bytes are the usual limit): mode generic has "
				  "neither limit"
				: "");
		return fd;
	}
	error = bpf_obj_pin(fd, link_path(path, pin_dir, port->name)) ? -errno : 0;
	if (error)
		gw_log_error("%s: cannot pin: %s", path, strerror(-error));
	port->link_made = !error;
	close(fd);
	return error;
}

/* Swaps the program of this build into the link that is there; another mode needs another link. */
static int attach_port(const struct gw_xdp_object *object, const char *pin_dir,
	struct gw_xdp_port *port, bool back)
{
	char path[PATH_SIZE];
	bool native = false;
	uint32_t id;
	int fd = open_link(pin_dir, port), error;

	if (fd >= 0 && (query(port->ifindex, &id, &native) || !mode_fits(port->mode, native))) {
		gw_log_info("interface %s: attached anew, in mode %s", port->name,
			gw_config_xdp_mode_name(port->mode));
		close(fd);
		release_link(link_path(path, pin_dir, port->name));
		fd = -ENOENT;
	}
	if (fd >= 0) {
		error = bpf_link_update(fd, object->program, NULL) ? -errno : 0;
		close(fd);
		if (error)
			gw_log_error("interface %s: the program in its pinned link cannot be "
				     "replaced: %s",
				port->name, strerror(-error));
	} else {
		error = fd == -ENOENT ? attach_new(object, pin_dir, port, back) : fd;
	}
	if (!error)
		error = query(port->ifindex, &port->program_id, &port->native);
	return error;
}

static int find_port(const struct gw_config_interface *interface, struct gw_xdp_port *port)
{
	*port = (struct gw_xdp_port){.ifindex = if_nametoindex(interface->name),
		.mode = interface->mode,
		.vlan = interface->vlan,
		.named = true};
	snprintf(port->name, sizeof(port->name), "%s", interface->name);
	if (!port->ifindex || read_mac(port->name, port->mac)) {
		gw_log_error("dataplane.interfaces: there is no interface \"%s\" here (ip link "
			     "shows them)",
			interface->name);
		return -ENODEV;
	}
	return 0;
}

static int tell_port(
	const struct gw_xdp_object *object, uint32_t index, const struct gw_xdp_port *port)
{
	struct gw_xdp_config *config = object->config;

	if (bpf_map_update_elem(bpf_map__fd(object->skeleton->maps.gw_tx_ports), &index,
		    &port->ifindex, BPF_ANY))
		return -errno;
	config->port_ifindex[index] = port->ifindex;
	memcpy(config->port_mac[index], port->mac, 6);
	return 0;
}

/* True when the pin is the link of one of the ports. */
static bool link_wanted(const struct gw_xdp_ports *ports, const char *pin_dir, const char *pin)
{
	char path[PATH_SIZE];

	for (uint32_t i = 0; i < ports->count; i++)
		if (!strcmp(strrchr(link_path(path, pin_dir, ports->port[i].name), '/') + 1, pin))
			return true;
	return false;
}

/* Lets go of interfaces that the configuration no longer names. */
static void detach_strays(const char *pin_dir, const struct gw_xdp_ports *ports)
{
	DIR *folder = opendir(pin_dir);
	struct dirent *entry;
	char path[PATH_SIZE];
	int error;

	while (folder && (entry = readdir(folder))) {
		if (strncmp(entry->d_name, LINK_PREFIX, strlen(LINK_PREFIX)) ||
			link_wanted(ports, pin_dir, entry->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", pin_dir, entry->d_name);
		error = release_link(path);
		if (error)
			gw_log_warning("%s: cannot be removed: %s", path, strerror(-error));
		else
			gw_log_info("interface %s: detached, dataplane.interfaces names it no more",
				entry->d_name + strlen(LINK_PREFIX));
	}
	if (folder)
		closedir(folder);
}

int gw_xdp_attach(const struct gw_xdp_object *object, const char *pin_dir,
	const struct gw_config_dataplane *dataplane, struct gw_xdp_ports *ports)
{
	struct gw_xdp_ports made = {.count = 0};
	char path[PATH_SIZE];
	int error = 0;

	/* All must be there before the first is touched. */
	for (size_t i = 0; i < dataplane->interface_count && !error; i++)
		error = find_port(&dataplane->interfaces[i], &made.port[made.count++]);
	for (uint32_t i = 0; i < made.count && !error; i++)
		error = tell_port(object, i, &made.port[i]);
	if (!error)
		__atomic_store_n(&object->config->port_count, made.count, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < made.count && !error; i++)
		error = attach_port(object, pin_dir, &made.port[i], false);
	for (uint32_t i = 0; i < made.count && error; i++)
		if (made.port[i].link_made)
			release_link(link_path(path, pin_dir, made.port[i].name));
	if (error)
		return error;
	detach_strays(pin_dir, &made);
	*ports = made;
	return 0;
}

/* The interface of this name is another than before: gone, new, or back. */
static void port_replaced(const struct gw_xdp_object *object, const char *pin_dir, uint32_t index,
	struct gw_xdp_port *port, uint32_t ifindex)
{
	port->ifindex = ifindex;
	port->program_id = 0;
	port->retry = 0;
	if (!ifindex) {
		gw_log_warning("interface %s is gone; its services are taken up again when it is "
			       "back",
			port->name);
		return;
	}
	if (read_mac(port->name, port->mac) || tell_port(object, index, port) ||
		attach_port(object, pin_dir, port, true)) {
		port->retry = RETRY_SECONDS;
		gw_log_error("interface %s is back, but the program is not on it; tried again in "
			     "%d s",
			port->name, RETRY_SECONDS);
	} else {
		gw_log_info("interface %s is back and has the program again", port->name);
	}
}

void gw_xdp_ports_refresh(
	const struct gw_xdp_object *object, const char *pin_dir, struct gw_xdp_ports *ports)
{
	for (uint32_t i = 0; i < ports->count; i++) {
		struct gw_xdp_port *port = &ports->port[i];
		uint32_t ifindex = port->named ? if_nametoindex(port->name) : 0;
		uint8_t mac[6];

		if (!port->named)
			continue;
		if (ifindex != port->ifindex || (port->retry && !--port->retry)) {
			port_replaced(object, pin_dir, i, port, ifindex);
		} else if (ifindex && !read_mac(port->name, mac) && memcmp(mac, port->mac, 6)) {
			memcpy(port->mac, mac, 6);
			tell_port(object, i, port);
			gw_log_info("interface %s has another MAC", port->name);
		}
	}
}

int gw_xdp_port_add(
	const struct gw_xdp_object *object, struct gw_xdp_ports *ports, uint32_t ifindex)
{
	struct gw_xdp_port port = {.ifindex = ifindex};
	int error;

	for (uint32_t i = 0; i < ports->count; i++)
		if (ports->port[i].ifindex == ifindex)
			return (int)i;
	if (ports->count == GW_XDP_MAX_PORTS || !if_indextoname(ifindex, port.name))
		return -ENOSPC;
	error = tell_port(object, ports->count, &port);
	if (error)
		return error;
	ports->port[ports->count++] = port;
	__atomic_store_n(&object->config->port_count, ports->count, __ATOMIC_RELEASE);
	return (int)ports->count - 1;
}

int gw_publisher_xdp_detach(const char *pin_dir)
{
	int lock = gw_xdp_pin_dir_lock(pin_dir), error = 0;
	struct dirent *entry;
	char path[PATH_SIZE];
	DIR *folder;

	if (lock < 0)
		return lock;
	folder = fdopendir(lock);
	if (!folder) {
		error = -errno;
		close(lock);
		return error;
	}
	/* Links first: the program must not run on without its maps' names. */
	for (int pass = 0; pass < 2; pass++) {
		rewinddir(folder);
		while ((entry = readdir(folder))) {
			bool link = !strncmp(entry->d_name, LINK_PREFIX, strlen(LINK_PREFIX)),
			     map = !strncmp(entry->d_name, "gw_", 3);
			int failed;

			if (pass == 0 ? !link : !map)
				continue;
			snprintf(path, sizeof(path), "%s/%s", pin_dir, entry->d_name);
			failed = link ? release_link(path) : unlink(path) ? -errno : 0;
			error = failed ? failed : error;
		}
	}
	if (!error && rmdir(pin_dir) && errno != ENOTEMPTY && errno != EBUSY && errno != ENOENT)
		error = -errno;
	closedir(folder);
	return error;
}
