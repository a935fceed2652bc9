/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One connection at a time, one snapshot under way at a time:
 *
 *	idle --connect--> greeting --hello--> ready --snapshot--> waiting --reply--> ready
 *	  ^                  |                  |                    |
 *	  +---- 250 ms ------+------------------+--------------------+   (closed, silent, or wrong)
 *
 * `current` is the newest snapshot given; what comes while one is under way is sent after its
 * reply. Tables whose digest the dataplane holds (`known`: those of the last snapshot it put in
 * force on this connection) are left out; should it miss one all the same, all are sent.
 *
 * Statistics and flows are asked for and waited for on the spot, at most WAIT_MS. A snapshot's
 * reply that comes in meanwhile is put aside and handled by the loop, so events never come from
 * inside a question.
 *
 * A reply waits in the socket while the loop does something else (writes the state, answers a
 * request). What counts is when the dataplane sent it, which the kernel notes.
 */
#include "control/publish_dpdk.h"

#include "control/publish_dpdk_parts.h"

#include <jansson.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define RETRY_MS 250
#define HELLO_MS 5000  /* a connection that says nothing is given up */
#define REPLY_MS 60000 /* the largest snapshots take seconds to load */
#define WAIT_MS	 100
#define ALIVE_MS 1000

enum link_state { LINK_IDLE, LINK_GREETING, LINK_READY, LINK_WAITING };

/* The poll handle outlives the publisher's interest in it until the loop has closed it. */
struct link {
	uv_poll_t poll;
	struct dpdk *dpdk;
	int fd;
};

struct dpdk {
	struct gw_publisher base;
	uv_loop_t *loop;
	uv_timer_t timer;	   /* the next try, or how long to wait for an answer */
	uv_timer_t later;	   /* runs what a question put aside */
	uv_timer_t alive;	   /* so that the dataplane hears of us every second */
	unsigned int open_handles; /* of the three; at 0 all is freed */
	struct gw_publisher_events events;
	const struct gw_config_dataplane *dataplane;
	char *path;

	enum link_state state;
	struct link *link;
	struct gw_message_hello hello; /* valid when ready or waiting */
	struct stats_map stats;
	uint32_t last_id;

	struct gw_snapshot *current; /* NULL: none yet */
	bool pending;		     /* current is still to be sent */
	uint64_t given_ns;
	struct gw_snapshot *sent; /* under way */
	uint64_t sent_given_ns;
	uint32_t sent_id;
	uint64_t in_force;
	struct table_set known;
	bool withdrawn;

	union wire_message message;
	uint64_t came_ns; /* when it was sent */
	struct gw_message_snapshot_reply aside;
	uint64_t aside_came_ns;
	bool has_aside;
};

static struct dpdk *dpdk_of(struct gw_publisher *publisher)
{
	return (struct dpdk *)publisher; /* its first member */
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void timer_start(struct dpdk *dpdk, uint64_t delay_ms);
static void snapshot_send(struct dpdk *dpdk);
static void reply_in_force(struct dpdk *dpdk, const struct gw_snapshot *snapshot, uint64_t took_ns);

static void link_closed(uv_handle_t *handle)
{
	struct link *link = handle->data;

	close(link->fd);
	free(link);
}

/* Ends the connection, if any, and plans the next try. */
static void link_drop(struct dpdk *dpdk, const char *why)
{
	bool was_there = dpdk->state >= LINK_READY;

	if (dpdk->link)
		uv_close((uv_handle_t *)&dpdk->link->poll, link_closed);
	dpdk->link = NULL;
	dpdk->state = LINK_IDLE;
	dpdk->pending = dpdk->current != NULL;
	dpdk->has_aside = false;
	dpdk->in_force = 0;
	gw_snapshot_unref(dpdk->sent);
	dpdk->sent = NULL;
	table_set_clear(&dpdk->known);
	stats_map_close(&dpdk->stats);
	timer_start(dpdk, RETRY_MS);
	if (was_there)
		dpdk->events.datapath(dpdk->events.owner, false, why);
}

static void strings_end(struct gw_message_hello *hello)
{
	hello->version[sizeof(hello->version) - 1] = '\0';
	for (size_t i = 0; i < GW_HELLO_PORTS; i++) {
		hello->ports[i].name[sizeof(hello->ports[i].name) - 1] = '\0';
		hello->ports[i].kernel[sizeof(hello->ports[i].kernel) - 1] = '\0';
		hello->ports[i].driver[sizeof(hello->ports[i].driver) - 1] = '\0';
	}
}

/* The same process as before, and it has put our current snapshot in force: nothing to send. */
static bool hello_has_current(const struct dpdk *dpdk, const struct gw_message_hello *hello)
{
	return dpdk->current && hello->pid == dpdk->hello.pid &&
	       hello->start_time_ns == dpdk->hello.start_time_ns &&
	       hello->snapshot_version == dpdk->current->data->version;
}

/* The connection's end, should there be one, is the reader's to find. */
static void node_send(struct dpdk *dpdk)
{
	struct gw_message_node message = {.withdrawn = dpdk->withdrawn};

	wire_send(dpdk->link->fd, &message, sizeof(message), GW_MESSAGE_NODE, ++dpdk->last_id, -1);
}

static void hello_handle(struct dpdk *dpdk, const struct gw_message_hello *hello, int fd)
{
	char detail[512];
	bool differs, has_current;

	if (dpdk->state != LINK_GREETING || stats_map_open(&dpdk->stats, fd) < 0) {
		link_drop(dpdk, "the dataplane's hello is not as it should be");
		return;
	}
	has_current = hello_has_current(dpdk, hello);
	dpdk->hello = *hello;
	strings_end(&dpdk->hello);
	dpdk->state = LINK_READY;
	dpdk->in_force = hello->snapshot_version;
	uv_timer_stop(&dpdk->timer);
	node_send(dpdk);
	differs = dpdk->dataplane &&
		  hello_differs(&dpdk->hello, dpdk->dataplane, detail, sizeof(detail));
	if (has_current)
		dpdk->pending = false;
	else
		dpdk->given_ns = clock_ns(); /* what waited for a dataplane counts from here */
	/* The owner may publish from in here: then that is what is sent below. */
	dpdk->events.datapath(dpdk->events.owner, true, differs ? detail : NULL);
	if (has_current && dpdk->state == LINK_READY && !dpdk->pending)
		reply_in_force(dpdk, dpdk->current, clock_ns() - dpdk->given_ns);
	if (dpdk->state == LINK_READY)
		snapshot_send(dpdk);
}

/* Sends `current`, without what is known unless `whole`. */
static int snapshot_write(struct dpdk *dpdk, bool whole)
{
	struct gw_message_snapshot message = {.version = dpdk->current->data->version};
	int fd = image_memfd(dpdk->current, whole ? NULL : &dpdk->known);
	int status;

	if (fd < 0)
		return fd;
	status = wire_send(dpdk->link->fd, &message, sizeof(message), GW_MESSAGE_SNAPSHOT,
		++dpdk->last_id, fd);
	close(fd);
	if (status < 0)
		return status;
	gw_snapshot_unref(dpdk->sent);
	dpdk->sent = gw_snapshot_ref(dpdk->current);
	dpdk->sent_id = dpdk->last_id;
	dpdk->sent_given_ns = dpdk->given_ns;
	dpdk->pending = false;
	dpdk->state = LINK_WAITING;
	timer_start(dpdk, REPLY_MS);
	return 0;
}

/* Ready: sends what is pending. A socket that takes nothing is as bad as a closed one. */
static void snapshot_send(struct dpdk *dpdk)
{
	int status = dpdk->pending ? snapshot_write(dpdk, false) : 0;

	if (status < 0)
		link_drop(dpdk, "the snapshot could not be sent");
}

static void reply_in_force(struct dpdk *dpdk, const struct gw_snapshot *snapshot, uint64_t took_ns)
{
	/* Without memory for what it holds, the next snapshot goes whole. */
	if (table_set_take(&dpdk->known, snapshot->data) < 0)
		table_set_clear(&dpdk->known);
	dpdk->events.in_force(dpdk->events.owner, snapshot->data->version, took_ns);
}

/* No answer came before the question: then the wall clock was set meanwhile, and now will do. */
static uint64_t took(uint64_t given_ns, uint64_t came_ns)
{
	return (came_ns > given_ns ? came_ns : clock_ns()) - given_ns;
}

static void reply_handle(
	struct dpdk *dpdk, struct gw_message_snapshot_reply *reply, uint64_t came_ns)
{
	struct gw_snapshot *sent = dpdk->sent;
	uint64_t given_ns = dpdk->sent_given_ns;
	char text[GW_SNAPSHOT_TEXT];

	if (dpdk->state != LINK_WAITING || reply->head.id != dpdk->sent_id ||
		reply->version != sent->data->version) {
		link_drop(dpdk, "the dataplane answered a snapshot that is not under way");
		return;
	}
	uv_timer_stop(&dpdk->timer);
	dpdk->sent = NULL;
	dpdk->state = LINK_READY;
	dpdk->in_force = reply->in_force;
	snprintf(text, sizeof(text), "%.*s", (int)sizeof(reply->text), reply->text);
	if (reply->result == GW_SNAPSHOT_IN_FORCE) {
		reply_in_force(dpdk, sent, took(given_ns, came_ns));
	} else if (reply->result == GW_SNAPSHOT_MISSING_TABLES && dpdk->known.count) {
		/* It was sent without some: again, or what is newer by now, and whole. */
		table_set_clear(&dpdk->known);
		dpdk->pending = true;
	} else {
		dpdk->events.refused(dpdk->events.owner, sent->data->version, text);
	}
	gw_snapshot_unref(sent);
	if (dpdk->state == LINK_READY)
		snapshot_send(dpdk);
}

/* Returns false when the connection is gone. */
static bool message_handle(struct dpdk *dpdk, int fd)
{
	switch (dpdk->message.head.type) {
	case GW_MESSAGE_HELLO:
		hello_handle(dpdk, &dpdk->message.hello, fd);
		break;
	case GW_MESSAGE_SNAPSHOT_REPLY:
		reply_handle(dpdk, &dpdk->message.snapshot_reply, dpdk->came_ns);
		break;
	default: /* a question's answer that came too late */
		break;
	}
	if (fd >= 0)
		close(fd);
	return dpdk->link != NULL;
}

/* Takes one message. Returns 1, 0 when there is none, or -errno: the connection must go. */
static int message_take(struct dpdk *dpdk, int *fd)
{
	uint64_t age_ns = 0;
	int status = wire_receive(dpdk->link->fd, &dpdk->message, fd, &age_ns);

	dpdk->came_ns = clock_ns() - age_ns;
	return !status ? 1 : status == -EAGAIN ? 0 : status;
}

static const char *drop_reason(int status)
{
	return status == -ENOTCONN ? "the dataplane closed the connection"
	       : status == -EPROTO ? "the dataplane sent what is no message of this ABI"
				   : "the connection to the dataplane failed";
}

static void link_readable(uv_poll_t *poll, int status, int events)
{
	struct link *link = poll->data;
	struct dpdk *dpdk = link->dpdk;
	int fd, got;

	if (status < 0) {
		link_drop(dpdk, drop_reason(status));
		return;
	}
	do
		got = message_take(dpdk, &fd);
	while (got > 0 && message_handle(dpdk, fd));
	if (got < 0)
		link_drop(dpdk, drop_reason(got));
}

static void later_run(uv_timer_t *timer)
{
	struct dpdk *dpdk = timer->data;

	if (!dpdk->has_aside)
		return;
	dpdk->has_aside = false;
	reply_handle(dpdk, &dpdk->aside, dpdk->aside_came_ns);
}

static int link_open(struct dpdk *dpdk)
{
	int fd = wire_connect(dpdk->path);
	struct link *link;

	if (fd < 0)
		return fd;
	link = calloc(1, sizeof(*link));
	if (!link || uv_poll_init(dpdk->loop, &link->poll, fd) < 0) {
		free(link);
		close(fd);
		return -ENOMEM;
	}
	link->fd = fd;
	link->dpdk = dpdk;
	link->poll.data = link;
	dpdk->link = link;
	dpdk->state = LINK_GREETING;
	uv_poll_start(&link->poll, UV_READABLE | UV_DISCONNECT, link_readable);
	return 0;
}

static void timer_due(uv_timer_t *timer)
{
	struct dpdk *dpdk = timer->data;

	if (dpdk->state == LINK_GREETING)
		link_drop(dpdk, "the dataplane said nothing");
	else if (dpdk->state == LINK_WAITING)
		link_drop(dpdk, "the dataplane does not answer");
	else if (dpdk->state == LINK_IDLE)
		timer_start(dpdk, link_open(dpdk) == 0 ? HELLO_MS : RETRY_MS);
}

static void timer_start(struct dpdk *dpdk, uint64_t delay_ms)
{
	uv_timer_start(&dpdk->timer, timer_due, delay_ms, 0);
}

static int dpdk_publish(struct gw_publisher *publisher, struct gw_snapshot *snapshot)
{
	struct dpdk *dpdk = dpdk_of(publisher);

	gw_snapshot_ref(snapshot);
	gw_snapshot_unref(dpdk->current);
	dpdk->current = snapshot;
	dpdk->given_ns = clock_ns();
	dpdk->pending = true;
	if (dpdk->state == LINK_READY)
		snapshot_send(dpdk);
	return 0;
}

static uint64_t dpdk_version(struct gw_publisher *publisher)
{
	return dpdk_of(publisher)->in_force;
}

/* A message that is not the answer waited for; the loop must not see its bytes any more. */
static void message_put_aside(struct dpdk *dpdk)
{
	if (dpdk->message.head.type != GW_MESSAGE_SNAPSHOT_REPLY)
		return;
	memcpy(&dpdk->aside, &dpdk->message, sizeof(dpdk->aside));
	dpdk->aside_came_ns = dpdk->came_ns;
	dpdk->has_aside = true;
	uv_timer_start(&dpdk->later, later_run, 0, 0);
}

/*
 * Sends a question and waits for its answer in dpdk->message. 0; -ENOTCONN; -ETIMEDOUT: the
 * dataplane is busy. A connection that turns out broken is left to the loop, which sees it next.
 */
static int ask(struct dpdk *dpdk, void *question, size_t length, enum gw_message_type type,
	enum gw_message_type answer)
{
	uint64_t end = clock_ns() + WAIT_MS * 1000000ull, now;
	uint32_t id = ++dpdk->last_id;
	int fd = -1, got;

	if (dpdk->state < LINK_READY)
		return -ENOTCONN;
	if (wire_send(dpdk->link->fd, question, length, type, id, -1) < 0)
		return -ENOTCONN;
	while ((now = clock_ns()) < end) {
		struct pollfd wait = {.fd = dpdk->link->fd, .events = POLLIN};

		if (poll(&wait, 1, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		got = message_take(dpdk, &fd);
		if (got < 0) {
			shutdown(dpdk->link->fd, SHUT_RDWR); /* the loop finds its end */
			return -ENOTCONN;
		}
		if (fd >= 0)
			close(fd);
		if (got && dpdk->message.head.type == answer && dpdk->message.head.id == id)
			return 0;
		if (got)
			message_put_aside(dpdk);
	}
	return -ETIMEDOUT;
}

static int dpdk_stats(struct gw_publisher *publisher, struct gw_publisher_stats *stats)
{
	struct dpdk *dpdk = dpdk_of(publisher);
	struct gw_message question;
	int status = ask(
		dpdk, &question, sizeof(question), GW_MESSAGE_STATS_GET, GW_MESSAGE_STATS_REPLY);

	/* Busy with a snapshot: what stands there is a second old at most. */
	if (status < 0 && status != -ETIMEDOUT)
		return status;
	status = stats_map_read(&dpdk->stats, stats);
	if (!status)
		stats->flow_capacity = dpdk->hello.flow_capacity;
	return status;
}

static int dpdk_recent(struct gw_publisher *publisher, struct gw_publisher_stats *stats)
{
	struct dpdk *dpdk = dpdk_of(publisher);
	int status = dpdk->state >= LINK_READY ? stats_map_read(&dpdk->stats, stats) : -ENOTCONN;

	if (!status)
		stats->flow_capacity = dpdk->hello.flow_capacity;
	return status;
}

static int dpdk_flow(struct gw_publisher *publisher, const struct gw_flow_key *key,
	struct gw_flow_answer *answer)
{
	struct dpdk *dpdk = dpdk_of(publisher);
	struct gw_message_flow_get question = {.key = *key};
	const struct gw_message_flow_reply *reply = &dpdk->message.flow_reply;
	int status =
		ask(dpdk, &question, sizeof(question), GW_MESSAGE_FLOW_GET, GW_MESSAGE_FLOW_REPLY);

	if (status < 0)
		return status;
	*answer = (struct gw_flow_answer){.found = reply->found != 0,
		.backend = reply->backend,
		.state = reply->state,
		.age = reply->age};
	return 0;
}

static int dpdk_samples(
	struct gw_publisher *publisher, const struct gw_flow_sample **samples, size_t *count)
{
	struct dpdk *dpdk = dpdk_of(publisher);

	if (dpdk->state < LINK_READY)
		return -ENOTCONN;
	return stats_map_samples(&dpdk->stats, samples, count);
}

static void dpdk_withdraw(struct gw_publisher *publisher, bool withdrawn)
{
	struct dpdk *dpdk = dpdk_of(publisher);

	dpdk->withdrawn = withdrawn;
	if (dpdk->state >= LINK_READY)
		node_send(dpdk);
}

static json_t *dpdk_describe(struct gw_publisher *publisher)
{
	struct dpdk *dpdk = dpdk_of(publisher);
	bool connected = dpdk->state >= LINK_READY;

	return json_pack("{s:s,s:b,s:I,s:o}", "socket", dpdk->path, "connected", connected,
		"in_force", (json_int_t)dpdk->in_force, "dataplane",
		connected ? hello_json(&dpdk->hello) : json_null());
}

static void handle_closed(uv_handle_t *handle)
{
	struct dpdk *dpdk = handle->data;

	if (--dpdk->open_handles)
		return;
	free(dpdk->path);
	free(dpdk);
}

static void dpdk_close(struct gw_publisher *publisher)
{
	struct dpdk *dpdk = publisher ? dpdk_of(publisher) : NULL;

	if (!dpdk)
		return;
	if (dpdk->link)
		uv_close((uv_handle_t *)&dpdk->link->poll, link_closed);
	dpdk->link = NULL;
	gw_snapshot_unref(dpdk->current);
	gw_snapshot_unref(dpdk->sent);
	table_set_clear(&dpdk->known);
	stats_map_close(&dpdk->stats);
	uv_close((uv_handle_t *)&dpdk->timer, handle_closed);
	uv_close((uv_handle_t *)&dpdk->later, handle_closed);
	uv_close((uv_handle_t *)&dpdk->alive, handle_closed);
}

static const struct gw_publisher_ops dpdk_ops = {
	.name = "dpdk",
	.publish = dpdk_publish,
	.version = dpdk_version,
	.stats = dpdk_stats,
	.recent = dpdk_recent,
	.flow = dpdk_flow,
	.samples = dpdk_samples,
	.withdraw = dpdk_withdraw,
	.describe = dpdk_describe,
	.close = dpdk_close,
};

/* The dataplane withdraws the node when it hears nothing (control_lost). */
static void alive_due(uv_timer_t *timer)
{
	struct dpdk *dpdk = timer->data;
	struct gw_message alive;

	/* A full socket has enough in it to be heard by. */
	if (dpdk->state >= LINK_READY)
		wire_send(dpdk->link->fd, &alive, sizeof(alive), GW_MESSAGE_ALIVE, 0, -1);
}

int gw_publisher_dpdk_open(uv_loop_t *loop, const struct gw_publisher_dpdk_options *options,
	const struct gw_publisher_events *events, struct gw_publisher **out)
{
	struct dpdk *dpdk = calloc(1, sizeof(*dpdk));

	if (!dpdk)
		return -ENOMEM;
	dpdk->path = strdup(options->socket ? options->socket : GW_DATAPLANE_SOCKET);
	if (!dpdk->path) {
		free(dpdk);
		return -ENOMEM;
	}
	dpdk->base.ops = &dpdk_ops;
	dpdk->loop = loop;
	dpdk->events = *events;
	dpdk->dataplane = options->dataplane;
	uv_timer_init(loop, &dpdk->timer);
	uv_timer_init(loop, &dpdk->later);
	uv_timer_init(loop, &dpdk->alive);
	dpdk->timer.data = dpdk->later.data = dpdk->alive.data = dpdk;
	dpdk->open_handles = 3;
	uv_timer_start(&dpdk->alive, alive_due, ALIVE_MS, ALIVE_MS);
	timer_start(dpdk, 0);
	*out = &dpdk->base;
	return 0;
}

void gw_publisher_dpdk_configure(
	struct gw_publisher *publisher, const struct gw_config_dataplane *dataplane)
{
	dpdk_of(publisher)->dataplane = dataplane;
}
