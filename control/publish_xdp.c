/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/publish_xdp.h"

#include "abi/flow_sample.h"
#include "base/log.h"
#include "control/port_counters.h"
#include "control/xdp_attach.h"
#include "control/xdp_links.h"
#include "control/xdp_object.h"
#include "control/xdp_sweep.h"
#include "control/xdp_tables.h"

#include <jansson.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEARTBEAT_MS 1000
#define SETTLE_MS    200 /* after a publish: no packet is on its way for so long */
#define SWEEP_MS     100

struct publisher {
	struct gw_publisher base;
	struct gw_publisher_events events;
	struct gw_xdp_object object;
	struct gw_xdp_tables tables;
	struct gw_xdp_ports ports;
	struct gw_xdp_links *links;
	struct gw_xdp_sweep sweep;
	struct gw_traffic *backend_traffic;
	struct gw_traffic *service_traffic;
	struct gw_port_stats port_stats[GW_XDP_MAX_PORTS];
	char *pin_dir;
	int lock; /* on pin_dir */
	uv_timer_t heartbeat;
	uv_timer_t settle;
	uv_timer_t sweeper;
	int handles; /* still closing */
};

/* uv_hrtime is CLOCK_MONOTONIC, as the time in the program. */
static uint32_t clock_seconds(void)
{
	return (uint32_t)(uv_hrtime() / 1000000000ull);
}

static void beat(struct publisher *publisher)
{
	__atomic_store_n(&publisher->object.config->heartbeat_ns, uv_hrtime(), __ATOMIC_RELEASE);
}

static void on_heartbeat(uv_timer_t *timer)
{
	struct publisher *publisher = timer->data;

	beat(publisher);
	gw_xdp_ports_refresh(&publisher->object, publisher->pin_dir, &publisher->ports);
}

static void on_settle(uv_timer_t *timer)
{
	gw_xdp_tables_settle(&((struct publisher *)timer->data)->tables);
}

static void on_sweep(uv_timer_t *timer)
{
	gw_xdp_sweep_slice(&((struct publisher *)timer->data)->sweep, clock_seconds());
}

/* ---- operations */

static int publish(struct gw_publisher *base, struct gw_snapshot *snapshot)
{
	struct publisher *publisher = (struct publisher *)base;
	char why[GW_XDP_WHY] = "";
	uint64_t start = uv_hrtime();
	int error = gw_xdp_tables_publish(&publisher->tables, snapshot, true, why);

	if (!error)
		error = gw_xdp_links_follow(publisher->links, snapshot);
	if (error) {
		publisher->events.refused(publisher->events.owner, snapshot->data->version,
			why[0] ? why : strerror(-error));
		return 0;
	}
	uv_timer_start(&publisher->settle, on_settle, SETTLE_MS, 0);
	publisher->events.in_force(
		publisher->events.owner, snapshot->data->version, uv_hrtime() - start);
	return 0;
}

static uint64_t version(struct gw_publisher *base)
{
	return ((struct publisher *)base)->object.config->snapshot_version;
}

static int traffic(struct publisher *publisher, enum gw_xdp_traffic which, struct gw_traffic **list,
	size_t count)
{
	struct gw_traffic *grown = reallocarray(*list, count + 1, sizeof(**list));
	int error = 0;

	if (!grown)
		return -ENOMEM;
	*list = grown;
	for (uint32_t i = 0; i < count && !error; i++)
		error = gw_xdp_traffic(&publisher->object, which, i, &grown[i]);
	return error;
}

static size_t ports_count(struct publisher *publisher)
{
	size_t count = 0;

	for (uint32_t i = 0; i < publisher->ports.count; i++)
		if (!gw_port_counters_read(
			    publisher->ports.port[i].ifindex, &publisher->port_stats[count]))
			count++;
	return count;
}

static int stats(struct gw_publisher *base, struct gw_publisher_stats *out)
{
	struct publisher *publisher = (struct publisher *)base;
	const struct gw_snapshot *now = publisher->tables.current;
	struct gw_publisher_stats made = {
		.backend_flows = publisher->sweep.backend_flows,
		.flows_active = publisher->sweep.active,
		.flow_capacity = (uint64_t)publisher->object.bucket_count * GW_FLOW_BUCKET_FLOWS,
	};
	int error = gw_xdp_counters(&publisher->object, &made.counters);

	if (!error && now) {
		made.backend_count = now->data->backends.count;
		made.service_count = now->data->services.count;
		error = traffic(publisher, GW_XDP_TRAFFIC_BACKENDS, &publisher->backend_traffic,
			made.backend_count);
	}
	if (!error && now)
		error = traffic(publisher, GW_XDP_TRAFFIC_SERVICES, &publisher->service_traffic,
			made.service_count);
	if (error)
		return error;
	made.backends = publisher->backend_traffic;
	made.services = publisher->service_traffic;
	made.ports = publisher->port_stats;
	made.port_count = ports_count(publisher);
	*out = made;
	return 0;
}

static int flow(
	struct gw_publisher *base, const struct gw_flow_key *key, struct gw_flow_answer *answer)
{
	struct publisher *publisher = (struct publisher *)base;
	uint32_t now = clock_seconds();
	uint64_t word = gw_xdp_flow_find(&publisher->object, key, now);

	*answer = (struct gw_flow_answer){.found = word != GW_FLOW_EMPTY};
	if (answer->found) {
		answer->backend = gw_flow_backend(word);
		answer->state = gw_flow_state(word);
		answer->age = gw_flow_age(word, now);
	}
	return 0;
}

static int samples(struct gw_publisher *base, const struct gw_flow_sample **list, size_t *count)
{
	*list = ((struct publisher *)base)->object.samples;
	*count = GW_FLOW_SAMPLES;
	return 0;
}

static void withdraw(struct gw_publisher *base, bool withdrawn)
{
	uint32_t *flags = &((struct publisher *)base)->object.config->flags;

	if (withdrawn)
		__atomic_or_fetch(flags, GW_XDP_WITHDRAWN, __ATOMIC_RELEASE);
	else
		__atomic_and_fetch(flags, ~GW_XDP_WITHDRAWN, __ATOMIC_RELEASE);
}

static json_t *describe(struct gw_publisher *base)
{
	const struct publisher *publisher = (const struct publisher *)base;
	json_t *interfaces = json_array();

	for (uint32_t i = 0; i < publisher->ports.count; i++) {
		const struct gw_xdp_port *port = &publisher->ports.port[i];

		if (port->program_id)
			json_array_append_new(
				interfaces, json_pack("{s:s,s:i,s:s,s:i}", "name", port->name,
						    "ifindex", (int)port->ifindex, "mode",
						    port->native ? "native" : "generic",
						    "program_id", (int)port->program_id));
	}
	return json_pack("{s:s,s:o,s:b,s:I}", "pin_dir", publisher->pin_dir, "interfaces",
		interfaces, "adopted", publisher->object.adopted, "tables_made_last",
		(json_int_t)publisher->tables.rebuilt_pools);
}

static void publisher_free(struct publisher *publisher)
{
	gw_xdp_sweep_fini(&publisher->sweep);
	gw_xdp_tables_fini(&publisher->tables);
	gw_xdp_object_close(&publisher->object);
	free(publisher->backend_traffic);
	free(publisher->service_traffic);
	free(publisher->pin_dir);
	if (publisher->lock >= 0)
		close(publisher->lock);
	free(publisher);
}

static void on_closed(uv_handle_t *handle)
{
	struct publisher *publisher = handle->data;

	if (--publisher->handles == 0)
		publisher_free(publisher);
}

static void publisher_close(struct gw_publisher *base)
{
	struct publisher *publisher = (struct publisher *)base;

	if (!publisher)
		return;
	gw_xdp_links_close(publisher->links);
	publisher->handles = 3;
	uv_close((uv_handle_t *)&publisher->heartbeat, on_closed);
	uv_close((uv_handle_t *)&publisher->settle, on_closed);
	uv_close((uv_handle_t *)&publisher->sweeper, on_closed);
}

static const struct gw_publisher_ops operations = {
	.name = "xdp",
	.publish = publish,
	.version = version,
	.stats = stats,
	.recent = stats,
	.flow = flow,
	.samples = samples,
	.withdraw = withdraw,
	.describe = describe,
	.close = publisher_close,
};

/* ---- opening */

static void start_timers(uv_loop_t *loop, struct publisher *publisher)
{
	uv_timer_init(loop, &publisher->heartbeat);
	uv_timer_init(loop, &publisher->settle);
	uv_timer_init(loop, &publisher->sweeper);
	publisher->heartbeat.data = publisher->settle.data = publisher->sweeper.data = publisher;
	beat(publisher);
	uv_timer_start(&publisher->heartbeat, on_heartbeat, HEARTBEAT_MS, HEARTBEAT_MS);
	uv_timer_start(&publisher->sweeper, on_sweep, SWEEP_MS, SWEEP_MS);
}

static int pin_dir_take(struct publisher *publisher)
{
	int error = gw_xdp_pin_dir_make(publisher->pin_dir);

	if (error)
		return error;
	publisher->lock = gw_xdp_pin_dir_lock(publisher->pin_dir);
	if (publisher->lock >= 0)
		return 0;
	if (publisher->lock == -EBUSY)
		gw_log_error("another guideway-control works with what is pinned at %s; end that "
			     "one, or "
			     "give this one another folder by --pin-dir",
			publisher->pin_dir);
	return publisher->lock;
}

int gw_publisher_xdp_open(uv_loop_t *loop, const struct gw_publisher_xdp_options *options,
	const struct gw_publisher_events *events, struct gw_publisher **out)
{
	struct gw_xdp_object_options object = {
		.pin_dir = options->pin_dir, .flows = options->config->dataplane.flows};
	struct publisher *publisher = calloc(1, sizeof(*publisher));
	bool fresh;
	int error;

	if (!publisher)
		return -ENOMEM;
	publisher->base.ops = &operations;
	publisher->events = *events;
	publisher->lock = -1;
	publisher->pin_dir = strdup(options->pin_dir);
	error = publisher->pin_dir ? pin_dir_take(publisher) : -ENOMEM;
	if (!error)
		error = gw_xdp_object_open(&publisher->object, &object);
	fresh = !error && !publisher->object.adopted;
	if (!error)
		error = gw_xdp_tables_init(&publisher->tables, &publisher->object);
	if (!error)
		error = gw_xdp_sweep_init(&publisher->sweep, &publisher->object);
	if (!error)
		error = gw_xdp_attach(&publisher->object, options->pin_dir,
			&options->config->dataplane, &publisher->ports);
	if (!error)
		error = gw_xdp_links_open(
			loop, &publisher->object, &publisher->ports, &publisher->links);
	if (error) {
		publisher_free(publisher);
		if (fresh)
			gw_publisher_xdp_detach(options->pin_dir);
		return error;
	}
	start_timers(loop, publisher);
	*out = &publisher->base;
	gw_log_info("XDP: %s; pinned at %s",
		publisher->object.adopted ? "adopted what was pinned" : "loaded and attached",
		publisher->pin_dir);
	events->datapath(events->owner, true, NULL);
	return 0;
}
