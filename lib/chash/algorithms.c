/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of algorithms: the one place where all their tables of operations meet. */
#include "chash/hash.h"
#include "chash/view.h"

#include <string.h>

static const struct chash_ops *const algorithms[GW_CHASH_ALGORITHMS] = {
	[GW_CHASH_MODULO] = &chash_modulo,
	[GW_CHASH_RING] = &chash_ring,
	[GW_CHASH_KETAMA] = &chash_ketama,
	[GW_CHASH_RENDEZVOUS] = &chash_rendezvous,
	[GW_CHASH_JUMP] = &chash_jump,
	[GW_CHASH_MAGLEV] = &chash_maglev,
	[GW_CHASH_ANCHOR] = &chash_anchor,
	[GW_CHASH_DX] = &chash_dx,
	[GW_CHASH_MEMENTO] = &chash_memento,
	[GW_CHASH_MULTIPROBE] = &chash_multiprobe,
	[GW_CHASH_JUMPBACK] = &chash_jumpback,
	[GW_CHASH_FLIP] = &chash_flip,
};

const struct chash_ops *chash_ops_of(enum gw_chash_algorithm algorithm)
{
	return (unsigned int)algorithm < GW_CHASH_ALGORITHMS ? algorithms[algorithm] : NULL;
}

const struct gw_chash_traits *gw_chash_traits(enum gw_chash_algorithm algorithm)
{
	const struct chash_ops *ops = chash_ops_of(algorithm);

	return ops ? &ops->traits : NULL;
}

int gw_chash_algorithm_parse(const char *name, enum gw_chash_algorithm *algorithm)
{
	for (int i = 0; name && algorithm && i < GW_CHASH_ALGORITHMS; i++) {
		const struct chash_ops *ops = algorithms[i];

		if (strcmp(name, ops->traits.name) && (!ops->alias || strcmp(name, ops->alias)))
			continue;
		*algorithm = (enum gw_chash_algorithm)i;
		return 0;
	}
	return GW_CHASH_ERR_ARGUMENT;
}

void gw_chash_options_init(struct gw_chash_options *options, enum gw_chash_algorithm algorithm)
{
	const struct chash_ops *ops = chash_ops_of(algorithm);

	*options = (struct gw_chash_options){
		.algorithm = algorithm,
		.hash = ops ? ops->hash : GW_CHASH_XXH3,
		.size = 65537,
		.vnodes = 100,
		.capacity = 1024,
		.probes = 21,
	};
}

int chash_options_check(const struct gw_chash_options *options)
{
	const struct chash_ops *ops = options ? chash_ops_of(options->algorithm) : NULL;

	if (!ops || (unsigned int)options->hash >= GW_CHASH_HASHES)
		return GW_CHASH_ERR_ARGUMENT;
	if (!hash_of(options->hash))
		return GW_CHASH_ERR_UNSUPPORTED;
	return ops->check ? ops->check(options) : 0;
}
