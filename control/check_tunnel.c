/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/check_tunnel.h"

#include "abi/encap.h"
#include "abi/probe.h"
#include "base/log.h"
#include "base/rtnetlink.h"
#include "check_tunnel_net.h"
#include "probe_encap.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WAYS_MAX	  65536
#define ROUTES_REFRESH_MS 1000
#define OPEN_RETRY_MS	  60000

/* Of Linux 6.6; libbpf 1.1 passes attach types on that it does not know. */
#define TCX_EGRESS 47

struct way {
	bool used;
	bool complained; /* that it has no route, until it has one */
	struct gw_probe_way record;
};

struct gw_check_tunnel {
	uv_loop_t *loop;
	uv_timer_t *timer; /* own memory: it closes after the rest is freed */
	struct gw_config_probe_mark settings;
	struct way *ways;
	uint32_t room; /* ways that the mark's bits can name; 0: nothing is made yet */
	uint32_t next;
	int open_error; /* of the last try, which is made again at retry_ms */
	uint64_t retry_ms;
	struct tunnel_net net;
	struct probe_encap_bpf *program;
	int link; /* tcx; -1: none, or clsact's filter, which goes with the device */
	struct gw_rtnetlink routes;
	/* While routes are asked. */
	uint32_t *asked;
	struct gw_address *addresses;
};

int gw_check_tunnel_new(uv_loop_t *loop, struct gw_check_tunnel **out)
{
	struct gw_check_tunnel *tunnel = calloc(1, sizeof(*tunnel));

	if (!tunnel)
		return -ENOMEM;
	tunnel->timer = calloc(1, sizeof(*tunnel->timer));
	if (!tunnel->timer) {
		free(tunnel);
		return -ENOMEM;
	}
	tunnel->loop = loop;
	tunnel->link = -1;
	uv_timer_init(loop, tunnel->timer);
	tunnel->timer->data = tunnel;
	*out = tunnel;
	return 0;
}

static void timer_closed(uv_handle_t *handle)
{
	free(handle);
}

/* Takes back all that tunnel_open made. */
static void tunnel_shut(struct gw_check_tunnel *tunnel)
{
	if (tunnel->link >= 0)
		close(tunnel->link);
	tunnel->link = -1;
	if (tunnel->net.ifindex)
		tunnel_net_remove(&tunnel->net);
	probe_encap_bpf__destroy(tunnel->program);
	tunnel->program = NULL;
	gw_rtnetlink_close(&tunnel->routes);
	free(tunnel->ways);
	free(tunnel->asked);
	free(tunnel->addresses);
	tunnel->ways = NULL;
	tunnel->asked = NULL;
	tunnel->addresses = NULL;
	tunnel->room = 0;
}

void gw_check_tunnel_free(struct gw_check_tunnel *tunnel)
{
	if (!tunnel)
		return;
	tunnel_shut(tunnel);
	uv_close((uv_handle_t *)tunnel->timer, timer_closed);
	free(tunnel);
}

void gw_check_tunnel_configure(
	struct gw_check_tunnel *tunnel, const struct gw_config_probe_mark *settings)
{
	if (!tunnel->room)
		tunnel->settings = *settings;
	else if (memcmp(&tunnel->settings, settings, sizeof(*settings)) != 0)
		gw_log_warning("healthcheck_mark changed: restart guideway-control for that");
}

/* The flag is the highest bit, the index lies in those below. */
static uint32_t mark_flag(const struct gw_check_tunnel *tunnel)
{
	return 1u << (31 - __builtin_clz(tunnel->settings.bits));
}

static uint32_t mark_shift(const struct gw_check_tunnel *tunnel)
{
	return (uint32_t)__builtin_ctz(tunnel->settings.bits);
}

static uint32_t mark_of(const struct gw_check_tunnel *tunnel, uint32_t index)
{
	return mark_flag(tunnel) | index << mark_shift(tunnel);
}

/* clsact, for kernels before 6.6. */
static int clsact_attach(uint32_t ifindex, int program)
{
	LIBBPF_OPTS(bpf_tc_hook, hook, .ifindex = (int)ifindex, .attach_point = BPF_TC_EGRESS);
	LIBBPF_OPTS(bpf_tc_opts, filter, .handle = 1, .priority = 1, .prog_fd = program,
		.flags = BPF_TC_F_REPLACE);
	int ret = bpf_tc_hook_create(&hook);

	return ret && ret != -EEXIST ? ret : bpf_tc_attach(&hook, &filter);
}

static int program_attach(struct gw_check_tunnel *tunnel)
{
	int program = bpf_program__fd(tunnel->program->progs.gw_probe_encap);
	int link = bpf_link_create(
		program, (int)tunnel->net.ifindex, (enum bpf_attach_type)TCX_EGRESS, NULL);

	if (link == -EINVAL)
		return clsact_attach(tunnel->net.ifindex, program);
	if (link < 0)
		return link;
	tunnel->link = link;
	return 0;
}

static int program_load(struct gw_check_tunnel *tunnel, uint32_t room)
{
	struct probe_encap_bpf *program = tunnel->program = probe_encap_bpf__open();

	if (!program)
		return -errno;
	program->rodata->mark_mask = tunnel->settings.bits & ~mark_flag(tunnel);
	program->rodata->mark_shift = mark_shift(tunnel);
	bpf_map__set_max_entries(program->maps.gw_probe_ways, room);
	return probe_encap_bpf__load(program);
}

static void routes_refresh(uv_timer_t *timer);

static int open_failed(const char *what, int error)
{
	gw_log_error("healthcheck.via tunnel: cannot %s: %s", what, strerror(-error));
	return error;
}

static int tunnel_open(struct gw_check_tunnel *tunnel)
{
	uint64_t room = (tunnel->settings.bits >> mark_shift(tunnel)) / 2 + 1ull;
	int ret;

	if (room > WAYS_MAX)
		room = WAYS_MAX;
	tunnel->ways = calloc(room, sizeof(*tunnel->ways));
	tunnel->asked = calloc(room, sizeof(*tunnel->asked));
	tunnel->addresses = calloc(room, sizeof(*tunnel->addresses));
	if (!tunnel->ways || !tunnel->asked || !tunnel->addresses)
		return -ENOMEM;
	ret = gw_rtnetlink_open(&tunnel->routes);
	if (ret)
		return open_failed("ask for routes", ret);
	ret = program_load(tunnel, (uint32_t)room);
	if (ret)
		return open_failed("load the program that encapsulates probes", ret);
	tunnel->net = (struct tunnel_net){.mark = mark_flag(tunnel),
		.mask = mark_flag(tunnel),
		.table = tunnel->settings.table};
	ret = tunnel_net_make(&tunnel->net);
	if (ret)
		return ret;
	ret = program_attach(tunnel);
	if (ret)
		return open_failed("attach the program that encapsulates probes", ret);
	tunnel->room = (uint32_t)room;
	uv_timer_start(tunnel->timer, routes_refresh, ROUTES_REFRESH_MS, ROUTES_REFRESH_MS);
	uv_unref((uv_handle_t *)tunnel->timer);
	return 0;
}

static int way_write(struct gw_check_tunnel *tunnel, uint32_t index)
{
	int map = bpf_map__fd(tunnel->program->maps.gw_probe_ways);

	return bpf_map_update_elem(map, &index, &tunnel->ways[index].record, BPF_ANY) ? -errno : 0;
}

static void way_complain(struct way *way)
{
	char address[GW_ADDRESS_TEXT];

	if (!way->complained)
		gw_log_warning("healthcheck.via tunnel: no route to backend %s: its probes cannot "
			       "be sent",
			gw_address_format(way->record.backend.outer_destination.bytes, address));
	way->complained = true;
}

/* The first path; l2 has no use for a gateway. */
static void route_take(void *context, size_t position, const struct gw_route *route)
{
	struct gw_check_tunnel *tunnel = context;
	uint32_t index = tunnel->asked[position];
	struct way *way = &tunnel->ways[index];
	struct gw_probe_way record = way->record;

	record.ifindex = route->path_count ? route->paths[0].ifindex : 0;
	record.next_hop = route->path_count && route->paths[0].has_gateway
				  ? route->paths[0].gateway
				  : record.backend.outer_destination;
	record.next_hop_family = gw_address_is_ipv4(&record.next_hop) ? GW_IPV4 : GW_IPV6;
	if (!record.ifindex)
		way_complain(way);
	else
		way->complained = false;
	if (!memcmp(&record, &way->record, sizeof(record)))
		return;
	way->record = record;
	way_write(tunnel, index);
}

static void routes_ask(struct gw_check_tunnel *tunnel, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tunnel->addresses[i] =
			tunnel->ways[tunnel->asked[i]].record.backend.outer_destination;
	/* What got no answer keeps the way it had. */
	gw_rtnetlink_lookup(&tunnel->routes, tunnel->addresses, count, route_take, tunnel);
}

static void routes_refresh(uv_timer_t *timer)
{
	struct gw_check_tunnel *tunnel = timer->data;
	size_t count = 0;

	for (uint32_t i = 0; i < tunnel->room; i++)
		if (tunnel->ways[i].used)
			tunnel->asked[count++] = i;
	routes_ask(tunnel, count);
}

static int way_find(struct gw_check_tunnel *tunnel, uint32_t *index)
{
	for (uint32_t i = 0; i < tunnel->room; i++) {
		uint32_t at = (tunnel->next + i) % tunnel->room;

		if (tunnel->ways[at].used)
			continue;
		*index = at;
		tunnel->next = at + 1;
		return 0;
	}
	gw_log_error("healthcheck_mark.bits 0x%x name no more than %u ways at a time: give more "
		     "bits",
		tunnel->settings.bits, tunnel->room);
	return -ENOSPC;
}

int gw_check_tunnel_take(
	struct gw_check_tunnel *tunnel, const struct gw_backend *record, uint32_t *mark)
{
	uint64_t now = uv_now(tunnel->loop);
	uint32_t index;
	int ret;

	if (!tunnel->room && tunnel->open_error && now < tunnel->retry_ms)
		return tunnel->open_error; /* said when it was tried */
	ret = tunnel->room ? 0 : tunnel_open(tunnel);
	tunnel->open_error = ret;
	if (ret) {
		tunnel->retry_ms = now + OPEN_RETRY_MS;
		tunnel_shut(tunnel);
		return ret;
	}
	ret = way_find(tunnel, &index);
	if (ret)
		return ret;
	tunnel->ways[index] = (struct way){.used = true, .record.backend = *record};
	ret = way_write(tunnel, index);
	if (ret) {
		tunnel->ways[index].used = false;
		return ret;
	}
	tunnel->asked[0] = index;
	routes_ask(tunnel, 1);
	*mark = mark_of(tunnel, index);
	return 0;
}

void gw_check_tunnel_give(struct gw_check_tunnel *tunnel, uint32_t mark)
{
	uint32_t index = (mark & ~mark_flag(tunnel)) >> mark_shift(tunnel);

	if (index >= tunnel->room)
		return;
	tunnel->ways[index] = (struct way){0};
	way_write(tunnel, index);
}
