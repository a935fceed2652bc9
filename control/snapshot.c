/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/publisher.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct gw_snapshot *gw_snapshot_ref(struct gw_snapshot *snapshot)
{
	snapshot->references++;
	return snapshot;
}

void gw_snapshot_unref(struct gw_snapshot *snapshot)
{
	if (!snapshot || --snapshot->references)
		return;
	munmap((void *)snapshot->data, snapshot->size);
	close(snapshot->fd);
	free(snapshot);
}
