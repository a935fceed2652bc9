/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for the library's errors: what is wrong, and what would be right. */
#include "chash/chash.h"

#include <stddef.h>

static const struct {
	enum gw_chash_error error;
	const char *words;
} messages[] = {
	{GW_CHASH_ERR_ARGUMENT, "invalid argument: NULL where a value is needed, or a number that "
				"names no algorithm, hash or change"},
	{GW_CHASH_ERR_MEMORY, "out of memory"},
	{GW_CHASH_ERR_DUPLICATE, "duplicate member: this id is in the set already"},
	{GW_CHASH_ERR_UNKNOWN, "unknown member: no such id in the set"},
	{GW_CHASH_ERR_EMPTY, "empty set: add a member first"},
	{GW_CHASH_ERR_ALL_ZERO, "all members have weight 0: give at least one a weight above 0"},
	{GW_CHASH_ERR_WEIGHT, "weight out of range: it must be an integer from 0 to 4294967295"},
	{GW_CHASH_ERR_WEIGHT_SUM, "weight overflow: the sum of all weights exceeds 4294967295"},
	{GW_CHASH_ERR_NOT_PRIME, "table size is not prime: Maglev needs a prime, such as 65537"},
	{GW_CHASH_ERR_SIZE, "table size out of range: it must be a prime from 2 to 5000011"},
	{GW_CHASH_ERR_SLOTS, "more members than table slots: choose a larger table size"},
	{GW_CHASH_ERR_CAPACITY, "capacity exceeded: create the set with a larger capacity"},
	{GW_CHASH_ERR_BUCKETS, "too many points or buckets: weights, or points per unit of weight, "
			       "must be smaller (67108864 in all)"},
	{GW_CHASH_ERR_NOT_LAST, "not the last member: with this algorithm only the member added "
				"last can leave or change its weight"},
	{GW_CHASH_ERR_ID,
		"id or zone of illegal length: ids have 1 to 1023 bytes, zones 0 to 1023"},
	{GW_CHASH_ERR_FACTOR, "load factor must be a finite number above 1"},
	{GW_CHASH_ERR_FULL,
		"every member is at its bound: the loads add up to more than the total"},
	{GW_CHASH_ERR_UNSUPPORTED, "this algorithm has no such thing"},
	{GW_CHASH_ERR_TRUNCATED, "serialised view is truncated, or has bytes after its end"},
	{GW_CHASH_ERR_MAGIC, "not a serialised view: the first bytes are wrong"},
	{GW_CHASH_ERR_FORMAT, "serialised view has another format version"},
	{GW_CHASH_ERR_CHECKSUM, "serialised view was altered: its checksum does not match"},
	{GW_CHASH_ERR_CONTENT, "serialised view contradicts itself, though its checksum matches"},
	{GW_CHASH_ERR_PARAMETER, "points per unit of weight, probes or capacity out of range, or a "
				 "hash function or seed that "
				 "this algorithm does not take"},
};

const char *gw_chash_strerror(int error)
{
	if (!error)
		return "success";
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		if ((int)messages[i].error == error)
			return messages[i].words;
	return "unknown error";
}
