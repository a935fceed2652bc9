/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ids often begin alike ("10.82.0."), so comparing whole strings compares mostly what is equal.
 * The sort leaves out the beginning that all have in common and compares the next eight bytes
 * as one number; only ties look at the strings. A list in order already is left as it is.
 */
#include "chash/id.h"

#include "chash/chash.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

int id_check(const char *id, uint32_t *length)
{
	size_t found;

	if (!id)
		return GW_CHASH_ERR_ARGUMENT;
	found = strnlen(id, GW_CHASH_ID_MAX + 1);
	if (!found || found > GW_CHASH_ID_MAX)
		return GW_CHASH_ERR_ID;
	*length = (uint32_t)found;
	return 0;
}

int id_compare(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);

	if (order)
		return order;
	return a_length < b_length ? -1 : a_length > b_length;
}

static int ref_compare(const void *left, const void *right)
{
	const struct id_ref *a = left, *b = right;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	return id_compare(a->id, a->length, b->id, b->length);
}

static uint32_t common_length(const struct id_ref *refs, size_t count)
{
	uint32_t common = count ? refs[0].length : 0;

	for (size_t i = 1; i < count; i++) {
		uint32_t limit = common < refs[i].length ? common : refs[i].length;

		for (common = 0; common < limit; common++)
			if (refs[i].id[common] != refs[0].id[common])
				break;
	}
	return common;
}

void id_sort(struct id_ref *refs, size_t count)
{
	uint32_t common = common_length(refs, count);
	bool sorted = true;

	for (size_t i = 0; i < count; i++) {
		uint32_t rest = refs[i].length - common;
		uint64_t bytes = 0;

		memcpy(&bytes, refs[i].id + common, rest < 8 ? rest : 8);
		refs[i].prefix = be64toh(bytes);
		if (i && sorted)
			sorted = ref_compare(&refs[i - 1], &refs[i]) <= 0;
	}
	if (!sorted)
		qsort(refs, count, sizeof(*refs), ref_compare);
}
