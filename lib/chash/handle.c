/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How readers take a view while a writer replaces it, without a lock on the readers' side.
 *
 * The handle has one 64-bit word: the current view's address (views are aligned to 64 bytes and lie
 * below 2^50, so 44 bits hold it) and, in the upper 20 bits, how many references were taken through
 * the word since it was written. A reader takes one by a single addition, which returns the
 * address: there is no moment between reading the pointer and owning a reference, so a view cannot
 * vanish in it.
 *
 * The view's own count starts at a bias no reader can use up while the view is current. Letting go
 * subtracts one from it. The writer swaps the word, and in one step takes the bias away and adds
 * what the word had counted; from there on the count is the number of references outstanding, and
 * whoever brings it to zero frees the view. Long before the 20 bits are full, the reader that sees
 * them half full moves them into the view's count: first adds there, then tries to clear them in
 * the word, and subtracts again if somebody else was faster.
 */
#include "chash/handle.h"

#include <stdlib.h>

#define ADDRESS_BITS 44
#define ALIGNMENT    64
#define ONE	     (1ull << ADDRESS_BITS)
#define HALF_FULL    (1ull << 19)
#define BIAS	     (1ll << 40)

static struct gw_chash_view *word_view(uint64_t word)
{
	return (struct gw_chash_view *)(uintptr_t)((word & (ONE - 1)) * ALIGNMENT);
}

static uint64_t word_count(uint64_t word)
{
	return word >> ADDRESS_BITS;
}

static uint64_t word_make(const struct gw_chash_view *view)
{
	return (uintptr_t)view / ALIGNMENT;
}

/* False for an address the word cannot hold; the kernel gives none unless it is asked to. */
static bool view_fits(const struct gw_chash_view *view)
{
	return !((uintptr_t)view % ALIGNMENT) && word_make(view) < ONE;
}

static void references_add(struct gw_chash_view *view, int64_t number)
{
	if (atomic_fetch_add_explicit(&view->references, number, memory_order_acq_rel) + number)
		return;
	view_free(view);
}

int handle_new(struct gw_chash_view *view, struct gw_chash **handle)
{
	struct gw_chash *made;

	if (!view_fits(view))
		return GW_CHASH_ERR_MEMORY;
	made = calloc(1, sizeof(*made));
	if (!made)
		return GW_CHASH_ERR_MEMORY;
	if (pthread_mutex_init(&made->change, NULL)) {
		free(made);
		return GW_CHASH_ERR_MEMORY;
	}
	atomic_store_explicit(&view->references, BIAS, memory_order_relaxed);
	atomic_store_explicit(&made->current, word_make(view), memory_order_release);
	*handle = made;
	return 0;
}

struct gw_chash_view *handle_current(const struct gw_chash *handle)
{
	return word_view(atomic_load_explicit(&handle->current, memory_order_acquire));
}

int handle_publish(struct gw_chash *handle, struct gw_chash_view *view)
{
	uint64_t before;

	if (!view_fits(view))
		return GW_CHASH_ERR_MEMORY;
	atomic_store_explicit(&view->references, BIAS, memory_order_relaxed);
	before = atomic_exchange_explicit(&handle->current, word_make(view), memory_order_acq_rel);
	references_add(word_view(before), (int64_t)word_count(before) - BIAS);
	return 0;
}

void gw_chash_destroy(struct gw_chash *handle)
{
	uint64_t word;

	if (!handle)
		return;
	word = atomic_load_explicit(&handle->current, memory_order_acquire);
	references_add(word_view(word), (int64_t)word_count(word) - BIAS);
	pthread_mutex_destroy(&handle->change);
	free(handle);
}

/* Moves the word's count into the view's; the caller owns a reference, so the view stays. */
static void count_move(struct gw_chash *handle, struct gw_chash_view *view)
{
	uint64_t word = atomic_load_explicit(&handle->current, memory_order_acquire);

	while (word_view(word) == view && word_count(word) >= HALF_FULL) {
		int64_t counted = (int64_t)word_count(word);

		references_add(view, counted);
		if (atomic_compare_exchange_strong_explicit(&handle->current, &word,
			    word_make(view), memory_order_acq_rel, memory_order_acquire))
			return;
		references_add(view, -counted);
	}
}

struct gw_chash_view *gw_chash_snapshot(struct gw_chash *handle)
{
	uint64_t word = atomic_fetch_add_explicit(&handle->current, ONE, memory_order_acq_rel);
	struct gw_chash_view *view = word_view(word);

	if (__builtin_expect(word_count(word) >= HALF_FULL, 0))
		count_move(handle, view);
	return view;
}

struct gw_chash_view *gw_chash_view_ref(struct gw_chash_view *view)
{
	atomic_fetch_add_explicit(&view->references, 1, memory_order_relaxed);
	return view;
}

void gw_chash_view_unref(struct gw_chash_view *view)
{
	if (view)
		references_add(view, -1);
}
