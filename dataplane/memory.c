/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory.h"

#include "abi/types.h"

#include <rte_eal.h>
#include <rte_malloc.h>

#include <sys/mman.h>

#define HUGE_PAGE (2ul << 20)

void *gw_memory_alloc(size_t size, int socket)
{
	void *memory;

	if (!size)
		return NULL;
	if (rte_eal_has_hugepages())
		return rte_zmalloc_socket(NULL, size, GW_CACHE_LINE, socket);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	/* Only advice: without it the memory works just as well, a little slower. */
	if (size >= HUGE_PAGE)
		madvise(memory, size, MADV_HUGEPAGE);
	return memory;
}

void gw_memory_free(void *memory, size_t size)
{
	if (!memory)
		return;
	if (rte_eal_has_hugepages())
		rte_free(memory);
	else
		munmap(memory, size);
}
