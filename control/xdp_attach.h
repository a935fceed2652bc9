/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program on its interfaces, by pinned links: they hold it there when this process is gone.
 * Libbpf alone, without a dispatcher, so a hook has one owner: another program that holds it is
 * named and left alone.
 */
#pragma once

#include "control/model.h"
#include "control/xdp_object.h"

struct gw_xdp_port {
	char name[16];
	uint32_t ifindex;
	uint8_t mac[6];
	bool native;
	uint16_t vlan; /* id that service traffic leaves with here; 0: untagged */
	uint32_t program_id;
	enum gw_config_xdp_mode mode;
	bool named;	/* by the configuration: our program is to be on it */
	bool link_made; /* by this process, not adopted */
	uint8_t retry;	/* it came back and did not take the program: seconds until the next try */
};

struct gw_xdp_ports {
	struct gw_xdp_port port[GW_XDP_MAX_PORTS];
	uint32_t count;
};

/*
 * Puts the program on every interface: into its pinned link where there is one, else by a new link.
 * The ports are written to the configuration map and to tx_ports in the file's order. Pinned links
 * of interfaces that the file no longer names are let go. All or nothing for links made here; logs
 * what is wrong. Returns 0 or -errno (-EBUSY: a foreign program; -EOPNOTSUPP: the interface takes
 * VLAN tags off).
 */
int gw_xdp_attach(const struct gw_xdp_object *object, const char *pin_dir,
	const struct gw_config_dataplane *dataplane, struct gw_xdp_ports *ports);

/*
 * Follows what happens to the named interfaces; to be called each second. A changed MAC is told to
 * the program, which otherwise would take frames for another machine's. An interface that went and
 * came back (a driver loaded anew) gets the program again; what fails is logged and tried again
 * some seconds later.
 */
void gw_xdp_ports_refresh(
	const struct gw_xdp_object *object, const char *pin_dir, struct gw_xdp_ports *ports);

/* Adds an egress interface without our program; its index, or -ENOSPC. */
int gw_xdp_port_add(
	const struct gw_xdp_object *object, struct gw_xdp_ports *ports, uint32_t ifindex);
