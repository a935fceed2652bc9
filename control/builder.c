/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/builder.h"

#include "control/builder_parts.h"
#include "control/runtime_table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int build_fail(struct build_job *job, int code, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(job->error, GW_BUILD_ERROR, format, arguments);
	va_end(arguments);
	return code;
}

void gw_build_free(struct gw_build *build)
{
	if (!build)
		return;
	gw_snapshot_unref(build->snapshot);
	gw_arena_free(build->arena); /* build itself lies in it */
}

static int services_make(struct build_job *job)
{
	const struct gw_config *config = job->input->config;
	struct gw_build *build = job->build;
	size_t count = config->service_count;

	build->services = gw_arena_alloc(build->arena, count + 1, sizeof(*build->services));
	build->services_by_name =
		gw_arena_alloc(build->arena, count + 1, sizeof(*build->services_by_name));
	if (!build->services || !build->services_by_name)
		return build_fail(job, -ENOMEM, "no memory for %zu services", count);
	for (size_t i = 0; i < count; i++) {
		const struct gw_config_service *from = &config->services[i];
		struct gw_build_service *service = &build->services[i];

		service->name = gw_arena_strndup(build->arena, from->name, strlen(from->name));
		service->base =
			from->base ? gw_arena_strndup(build->arena, from->base, strlen(from->base))
				   : service->name;
		if (!service->name || !service->base)
			return build_fail(job, -ENOMEM, "no memory for %zu services", count);
		service->id = gw_ids_service(job->input->ids, from->name);
		if (service->id == GW_NONE)
			return build_fail(job, -EINVAL, "service %s has no number", from->name);
		service->pool = (uint32_t)(from->pool - config->pools);
		service->affinity = (enum gw_affinity)from->affinity;
		service->track_flows = from->track_flows;
		service->protocol = from->protocol;
		build->services_by_name[i] =
			&build->services[config->services_by_name[i] - config->services];
	}
	build->service_count = count;
	return 0;
}

/* Arrays by number, as long as the highest number needs. */
static int indexes_make(struct build_job *job)
{
	struct gw_build *build = job->build;

	for (size_t i = 0; i < build->service_count; i++)
		if (build->services[i].id >= build->service_by_id_count)
			build->service_by_id_count = build->services[i].id + 1;
	for (size_t p = 0; p < build->pool_count; p++)
		for (size_t b = 0; b < build->pools[p].backend_count; b++)
			if (build->pools[p].backends[b].id >= build->backend_by_id_count)
				build->backend_by_id_count = build->pools[p].backends[b].id + 1;
	build->service_by_id = gw_arena_alloc(
		build->arena, build->service_by_id_count + 1, sizeof(*build->service_by_id));
	build->backend_by_id = gw_arena_alloc(
		build->arena, build->backend_by_id_count + 1, sizeof(*build->backend_by_id));
	if (!build->service_by_id || !build->backend_by_id)
		return build_fail(job, -ENOMEM, "no memory for the numbers of %zu backends",
			build->backend_by_id_count);
	for (size_t i = 0; i < build->service_count; i++)
		build->service_by_id[build->services[i].id] = &build->services[i];
	for (size_t p = 0; p < build->pool_count; p++)
		for (size_t b = 0; b < build->pools[p].backend_count; b++)
			build->backend_by_id[build->pools[p].backends[b].id] =
				&build->pools[p].backends[b];
	return 0;
}

static int job_run(struct build_job *job)
{
	int status = build_pools(job);

	if (!status)
		status = services_make(job);
	if (!status)
		status = indexes_make(job);
	if (!status)
		status = build_vips(job);
	if (!status)
		status = build_tables(job);
	if (!status)
		status = build_image(job);
	return status ? status : build_finish(job);
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int gw_build_make(const struct gw_build_input *input, struct gw_build **out,
	char error[static GW_BUILD_ERROR])
{
	struct build_job job = {.input = input, .error = error};
	struct gw_arena *arena = gw_arena_new();
	uint64_t start = clock_ns();
	int status;

	job.build = arena ? gw_arena_alloc(arena, 1, sizeof(*job.build)) : NULL;
	if (!job.build) {
		gw_arena_free(arena);
		return build_fail(&job, -ENOMEM, "no memory for a build");
	}
	job.build->arena = arena;
	job.build->version = input->version;
	job.build->hash_seed = input->config->hash_seed;
	status = job_run(&job);
	free(job.vips);
	free(job.spans);
	free(job.next_hops);
	free(job.image);
	for (size_t i = 0; job.tables && i < job.build->pool_count; i++)
		gw_pool_table_unref(job.tables[i]);
	free(job.tables);
	if (status < 0) {
		gw_build_free(job.build);
		return status;
	}
	job.build->took_ns = clock_ns() - start;
	*out = job.build;
	return 0;
}

static int pool_compare(const void *name, const void *element)
{
	const struct gw_build_pool *const *pool = element;

	return strcmp(name, (*pool)->name);
}

static int service_compare(const void *name, const void *element)
{
	const struct gw_build_service *const *service = element;

	return strcmp(name, (*service)->name);
}

const struct gw_build_pool *gw_build_pool_find(const struct gw_build *build, const char *name)
{
	const struct gw_build_pool **found = bsearch(name, build->pools_by_name, build->pool_count,
		sizeof(*build->pools_by_name), pool_compare);

	return found ? *found : NULL;
}

const struct gw_build_service *gw_build_service_find(const struct gw_build *build, const char *name)
{
	const struct gw_build_service **found = bsearch(name, build->services_by_name,
		build->service_count, sizeof(*build->services_by_name), service_compare);

	return found ? *found : NULL;
}

const struct gw_build_backend *gw_build_backend_at(
	const struct gw_build *build, uint32_t id, const struct gw_build_pool **pool)
{
	const struct gw_build_backend *backend =
		id < build->backend_by_id_count ? build->backend_by_id[id] : NULL;

	if (backend && pool)
		*pool = &build->pools[backend->pool];
	return backend;
}

char *gw_digest_format(const struct gw_digest *digest, char text[static 33])
{
	for (size_t i = 0; i < sizeof(digest->bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", digest->bytes[i]);
	return text;
}

void gw_link_hint_fixed(void *owner, struct gw_next_hop *hop)
{
	hop->link = (struct gw_link){
		.destination_mac = {0x02, 0, 0, 0, 0, 0x01},
		.source_mac = {0x02, 0, 0, 0, 0, 0x02},
		.flags = GW_LINK_RESOLVED,
	};
}

/* Takes down the backends that `name` means, "NAME" in any pool or "POOL/NAME"; how many. */
static size_t offline_down(struct gw_runtime *runtime, const char *name)
{
	const char *slash = strchr(name, '/');
	size_t found = 0;

	for (size_t i = 0; i < runtime->count; i++) {
		struct gw_runtime_backend *backend = &runtime->list[i];

		if (strcmp(slash ? slash + 1 : name, backend->name) != 0)
			continue;
		if (slash && (strlen(backend->pool) != (size_t)(slash - name) ||
				     memcmp(backend->pool, name, (size_t)(slash - name)) != 0))
			continue;
		backend->health = GW_HEALTH_DOWN;
		found++;
	}
	return found;
}

static int offline_runtime(const struct gw_config *config, const char *const *down,
	size_t down_count, struct gw_runtime *runtime, char error[static GW_BUILD_ERROR])
{
	if (gw_runtime_apply(runtime, config, 0, NULL, NULL) < 0) {
		snprintf(error, GW_BUILD_ERROR, "no memory for the backends' state");
		return -ENOMEM;
	}
	for (size_t i = 0; i < runtime->count; i++) {
		runtime->list[i].checked = true; /* --down counts without a health check too */
		runtime->list[i].health = GW_HEALTH_UP;
	}
	for (size_t i = 0; i < down_count; i++) {
		if (offline_down(runtime, down[i]))
			continue;
		snprintf(error, GW_BUILD_ERROR, "no backend is called \"%s\"", down[i]);
		return -ENOENT;
	}
	return 0;
}

int gw_build_offline(const struct gw_config *config, const char *const *down, size_t down_count,
	gw_link_hint *hint, struct gw_build **out, char error[static GW_BUILD_ERROR])
{
	struct gw_runtime *runtime = gw_runtime_new();
	struct gw_ids *ids = gw_ids_new();
	struct gw_build_input input = {
		.config = config, .runtime = runtime, .ids = ids, .version = 1, .hint = hint};
	int status = -ENOMEM;

	if (!runtime || !ids || gw_ids_assign(ids, config, 0, NULL) < 0)
		snprintf(error, GW_BUILD_ERROR, "no memory, or too many pools or backends");
	else
		status = offline_runtime(config, down, down_count, runtime, error);
	if (!status)
		status = gw_build_make(&input, out, error);
	gw_runtime_free(runtime);
	gw_ids_free(ids);
	return status;
}
