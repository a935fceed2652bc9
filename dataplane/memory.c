/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory.h"

#include "abi/types.h"

#include <rte_eal.h>
#include <rte_malloc.h>

#include <sys/mman.h>

#define HUGE_PAGE (2ul << 20)

#define PAGE 4096ul

static size_t whole_pages(size_t size)
{
	return (size + PAGE - 1) & ~(PAGE - 1);
}

/* Anonymous memory that begins on a huge page's border, so that all of it can be huge pages. */
static void *map_aligned(size_t size)
{
	size_t room = size + HUGE_PAGE;
	uint8_t *memory =
		mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t before;

	if (memory == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)memory & (HUGE_PAGE - 1);
	if (before)
		munmap(memory, before);
	munmap(memory + before + size, room - before - size);
	/* Only advice: without it the memory works just as well, a little slower. */
	madvise(memory + before, size, MADV_HUGEPAGE);
	return memory + before;
}

void *gw_memory_alloc(size_t size, int socket)
{
	void *memory;

	if (!size)
		return NULL;
	if (rte_eal_has_hugepages())
		return rte_zmalloc_socket(NULL, size, GW_CACHE_LINE, socket);
	size = whole_pages(size);
	if (size >= HUGE_PAGE)
		return map_aligned(size);
	/* Small ones are filled at once, tables by the hundred: better no fault a page. */
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

void gw_memory_free(void *memory, size_t size)
{
	if (!memory)
		return;
	if (rte_eal_has_hugepages())
		rte_free(memory);
	else
		munmap(memory, whole_pages(size));
}
