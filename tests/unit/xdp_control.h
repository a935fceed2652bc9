/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A guideway-control as the XDP publisher's tests need it: its loop, its publisher and what it
 * pinned, in a folder of the program's own.
 */
#pragma once

#include "abi/encap.h"
#include "control/publish_xdp.h"
#include "control/xdp_object.h"
#include "control_fixture.h"
#include "loop_run.h"

#include <bpf/bpf.h>
#include <jansson.h>

#include <unistd.h>

/* Configurations, by what the packets come in on. */
#define POOL_AND_SERVICE                                                                           \
	"pools: [{name: web, healthcheck: {type: tcp, port: 80}, backends: ["                      \
	"{name: b1, address: 10.82.0.101}, {name: b2, address: 10.82.0.102}]}]\n"                  \
	"services: [{name: web, addresses: [203.0.113.10], protocol: tcp, ports: [80], pool: "     \
	"web}]\n"
#define NODE  "version: 1\nnode: {name: lb1, source_ipv4: 10.82.0.11}\n"
#define FLOWS ", flows: 4096}\n"
#define ON_ETH1                                                                                    \
	NODE "dataplane: {path: xdp, interfaces: [{name: eth1, mode: generic}]" FLOWS              \
		POOL_AND_SERVICE
#define ON_ETH2                                                                                    \
	NODE "dataplane: {path: xdp, interfaces: [{name: eth2, mode: generic}]" FLOWS              \
		POOL_AND_SERVICE
#define ON_ETH1_NATIVE                                                                             \
	NODE "dataplane: {path: xdp, interfaces: [{name: eth1, mode: native}]" FLOWS               \
		POOL_AND_SERVICE
#define ON_DOT                                                                                     \
	NODE "dataplane: {path: xdp, interfaces: [{name: eth3.5, mode: generic}]" FLOWS            \
		POOL_AND_SERVICE

static char *folder;
static char pins[256];

struct control {
	uv_loop_t loop;
	struct gw_publisher *publisher;
	struct gw_build *build;
	uint64_t in_force;
	bool may_refuse; /* what is published next */
	int refused;
	char log[4096]; /* of open */
};

static void on_datapath(void *owner, bool present, const char *detail)
{
	CU_ASSERT_TRUE(present);
}

static void on_in_force(void *owner, uint64_t version, uint64_t took_ns)
{
	((struct control *)owner)->in_force = version;
}

static void on_refused(void *owner, uint64_t version, const char *why)
{
	printf("\n  refused: %s\n", why);
	CU_ASSERT_TRUE(((struct control *)owner)->may_refuse);
	((struct control *)owner)->refused++;
}

static bool until(struct control *control, bool (*holds)(void *of), void *of)
{
	return loop_run_until(&control->loop, holds, of);
}

/* Opens with standard error caught in control->log. */
static int control_open(struct control *control, const char *text)
{
	struct gw_config *config = fixture_config(text);
	struct gw_publisher_events events = {control, on_datapath, on_in_force, on_refused};
	struct gw_publisher_xdp_options options = {.config = config, .pin_dir = pins};
	FILE *caught = tmpfile();
	int kept = dup(STDERR_FILENO), error;

	memset(control, 0, sizeof(*control));
	uv_loop_init(&control->loop);
	dup2(fileno(caught), STDERR_FILENO);
	error = gw_publisher_xdp_open(&control->loop, &options, &events, &control->publisher);
	dup2(kept, STDERR_FILENO);
	close(kept);
	rewind(caught);
	control->log[fread(control->log, 1, sizeof(control->log) - 1, caught)] = '\0';
	fclose(caught);
	gw_config_free(config);
	return error;
}

static void control_publish(struct control *control, const char *text)
{
	control->build = fixture_build(text);
	CU_ASSERT_EQUAL(
		control->publisher->ops->publish(control->publisher, control->build->snapshot), 0);
	CU_ASSERT_EQUAL(control->in_force, control->build->version);
	CU_ASSERT_EQUAL(
		control->publisher->ops->version(control->publisher), control->build->version);
}

/* As a daemon's end: what is pinned stays. */
static void control_stop(struct control *control)
{
	if (control->publisher)
		control->publisher->ops->close(control->publisher);
	uv_run(&control->loop, UV_RUN_DEFAULT);
	CU_ASSERT_EQUAL(uv_loop_close(&control->loop), 0);
	gw_build_free(control->build);
}

static int tables_made(struct control *control)
{
	json_t *shown = control->publisher->ops->describe(control->publisher);
	int made = (int)json_integer_value(json_object_get(shown, "tables_made_last"));

	json_decref(shown);
	return made;
}

static bool pinned(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", pins, name);
	return access(path, F_OK) == 0;
}

static int pin_open(const char *name)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", pins, name);
	fd = bpf_obj_get(path);
	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

/* Whether each backend of the build has a link: next hops are learnt after the publishing. */
static bool backends_resolved(void *of)
{
	const struct control *control = of;
	const struct gw_build_pool *pool = &control->build->pools[0];
	int fd = pin_open("gw_backends");
	bool resolved = true;

	for (size_t i = 0; i < pool->backend_count; i++) {
		struct gw_backend backend = {.encap = 0};

		CU_ASSERT_EQUAL(bpf_map_lookup_elem(fd, &pool->backends[i].id, &backend), 0);
		resolved &= (backend.link.flags & GW_LINK_RESOLVED) != 0;
	}
	close(fd);
	return resolved;
}

static void control_start(struct control *control, const char *text)
{
	int error = control_open(control, text);

	if (error)
		printf("\n  %s\n", control->log);
	CU_ASSERT_EQUAL_FATAL(error, 0);
	control_publish(control, text);
	CU_ASSERT_TRUE(until(control, backends_resolved, control));
}

static struct gw_xdp_config pinned_config(void)
{
	struct gw_xdp_config config;
	uint32_t zero = 0;
	int fd = pin_open("gw_config");

	CU_ASSERT_EQUAL(bpf_map_lookup_elem(fd, &zero, &config), 0);
	close(fd);
	return config;
}

static void pinned_config_set(const struct gw_xdp_config *config)
{
	uint32_t zero = 0;
	int fd = pin_open("gw_config");

	CU_ASSERT_EQUAL(bpf_map_update_elem(fd, &zero, config, BPF_ANY), 0);
	close(fd);
}
