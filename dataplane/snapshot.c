/* SPDX-License-Identifier: BSD-2-Clause */
#include "snapshot.h"

#include "engine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define SEALS (F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static void __attribute__((format(printf, 3, 4))) answer(struct gw_message_snapshot_reply *reply,
	enum gw_snapshot_result result, const char *format, ...)
{
	va_list arguments;

	reply->result = result;
	va_start(arguments, format);
	vsnprintf(reply->text, sizeof(reply->text), format, arguments);
	va_end(arguments);
}

static uint64_t version_in_force(const struct gw_engine *engine)
{
	return engine->generation ? engine->generation->version : 0;
}

static void begin(
	const struct gw_engine *engine, uint64_t version, struct gw_message_snapshot_reply *reply)
{
	reply->version = version;
	reply->in_force = version_in_force(engine);
	reply->result = GW_SNAPSHOT_INVALID;
	reply->missing_count = 0;
	memset(reply->text, 0, sizeof(reply->text));
}

static void put_in_force(struct gw_engine *engine, const struct gw_snapshot_header *image,
	struct gw_message_snapshot_reply *reply)
{
	bool sockets[RTE_MAX_NUMA_NODES] = {};
	struct gw_generation *generation;

	if (image->version <= version_in_force(engine)) {
		answer(reply, GW_SNAPSHOT_OLD, "header: version %llu is not above %llu, in force",
			(unsigned long long)image->version,
			(unsigned long long)version_in_force(engine));
		return;
	}
	reply->missing_count = gw_generation_missing(image, engine->generation, reply->missing);
	if (reply->missing_count) {
		answer(reply, GW_SNAPSHOT_MISSING_TABLES, "tables: %u given as before are not here",
			reply->missing_count);
		return;
	}
	for (uint16_t i = 0; i < engine->worker_count; i++)
		sockets[engine->worker[i]->socket] = true;
	if (gw_generation_build(&generation, image, engine->generation, &engine->hops, sockets)) {
		answer(reply, GW_SNAPSHOT_NO_MEMORY,
			"no memory for a copy of %llu bytes: give EAL more (-m, huge pages)",
			(unsigned long long)image->total_size);
		return;
	}
	gw_engine_swap(engine, generation);
	reply->in_force = image->version;
	reply->result = GW_SNAPSHOT_IN_FORCE;
}

void gw_snapshot_load_image(struct gw_engine *engine, const void *data, size_t size,
	struct gw_message_snapshot_reply *reply)
{
	const struct gw_snapshot_header *image = data;
	char text[GW_SNAPSHOT_TEXT] = "";
	int error;

	if (size >= sizeof(*image))
		begin(engine, image->version, reply);
	else
		begin(engine, 0, reply);
	error = gw_snapshot_check(data, size, text);
	if (error == -ENOMEM)
		answer(reply, GW_SNAPSHOT_NO_MEMORY, "no memory to check the image");
	else if (error)
		answer(reply, GW_SNAPSHOT_INVALID, "%s", text);
	else
		put_in_force(engine, image, reply);
}

/* Proves that nobody can change or shorten the image, then maps it. */
static const void *map_sealed(int fd, size_t *size, struct gw_message_snapshot_reply *reply)
{
	struct stat status;
	const void *data;
	int seals = fcntl(fd, F_GET_SEALS);

	if (seals < 0) {
		answer(reply, GW_SNAPSHOT_UNSEALED, "header: the descriptor is no memfd");
		return NULL;
	}
	if ((seals & SEALS) != SEALS) {
		answer(reply, GW_SNAPSHOT_UNSEALED,
			"header: the memfd's seals are %#x, all of %#x are needed", seals, SEALS);
		return NULL;
	}
	if (fstat(fd, &status) < 0 || status.st_size < 0) {
		answer(reply, GW_SNAPSHOT_INVALID, "header: the memfd's size is not known: %s",
			strerror(errno));
		return NULL;
	}
	if ((size_t)status.st_size < sizeof(struct gw_snapshot_header) ||
		(uint64_t)status.st_size > GW_SNAPSHOT_MAX_SIZE) {
		answer(reply, GW_SNAPSHOT_INVALID,
			"header: the image has %lld bytes, not %zu to %llu",
			(long long)status.st_size, sizeof(struct gw_snapshot_header),
			GW_SNAPSHOT_MAX_SIZE);
		return NULL;
	}
	*size = (size_t)status.st_size;
	/* All of it is read at once: one call instead of a fault every few pages. */
	data = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (data == MAP_FAILED) {
		answer(reply, GW_SNAPSHOT_NO_MEMORY, "mapping %zu bytes: %s", *size,
			strerror(errno));
		return NULL;
	}
	return data;
}

void gw_snapshot_load(
	struct gw_engine *engine, int fd, uint64_t version, struct gw_message_snapshot_reply *reply)
{
	const struct gw_snapshot_header *image;
	size_t size;

	begin(engine, version, reply);
	image = map_sealed(fd, &size, reply);
	if (!image)
		return;
	if (image->version != version)
		answer(reply, GW_SNAPSHOT_INVALID,
			"header: version %llu, but the message says %llu",
			(unsigned long long)image->version, (unsigned long long)version);
	else
		gw_snapshot_load_image(engine, image, size, reply);
	munmap((void *)(uintptr_t)image, size);
}
