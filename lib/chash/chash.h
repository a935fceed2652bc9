/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Consistent hashing: one handle, twelve algorithms, lookups without locks.
 *
 * A handle (struct gw_chash) holds the options and the current view. A view is immutable and
 * reference counted: the members sorted by id, and whatever the algorithm derives from them.
 * A change builds a new view, raises the version by one and swaps one pointer; a view that a
 * reader holds stays as it is until the reader lets go.
 *
 *	gw_chash_options_init(&options, GW_CHASH_MAGLEV);
 *	gw_chash_create(&options, &handle);
 *	gw_chash_add_node(handle, "10.0.0.1:80", 1, "");
 *	view = gw_chash_snapshot(handle);
 *	gw_chash_get_node(view, key, length, &member);
 *	puts(gw_chash_view_members(view)[member].id);
 *	gw_chash_view_unref(view);
 *	gw_chash_destroy(handle);
 *
 * Threads: changes to a handle are serialised inside; gw_chash_snapshot and every call that takes
 * a view may run on any thread at any time, and never wait.
 *
 * Errors: calls return 0 or a negative errno, one for each mistake (enum gw_chash_error); a call
 * that fails changes nothing and leaves its outputs alone. gw_chash_strerror has the words.
 *
 * Order: the mapping is a function of options and members, whatever the route, for modulo, ring,
 * ketama, rendezvous, Maglev and multi-probe. Jump, JumpBack, Flip and Memento number their
 * buckets in the order of adding. Anchor and Dx give the same mapping for the same members added in
 * one update, whatever their order there; later changes count in their order, because a bucket
 * keeps its number: that is what makes their movement minimal.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gw_chash;
struct gw_chash_view;

#define GW_CHASH_NONE	     UINT32_MAX /* no member, no bucket */
#define GW_CHASH_ID_MAX	     1023	/* bytes of an id or a zone, without the NUL */
#define GW_CHASH_TABLE_MAX   5000011	/* largest Maglev table */
#define GW_CHASH_BUCKETS_MAX (1u << 26) /* points of a ring; buckets of all members together */

enum gw_chash_algorithm {
	GW_CHASH_MODULO,
	GW_CHASH_RING,
	GW_CHASH_KETAMA,
	GW_CHASH_RENDEZVOUS,
	GW_CHASH_JUMP,
	GW_CHASH_MAGLEV,
	GW_CHASH_ANCHOR,
	GW_CHASH_DX,
	GW_CHASH_MEMENTO,
	GW_CHASH_MULTIPROBE,
	GW_CHASH_JUMPBACK,
	GW_CHASH_FLIP,
	GW_CHASH_ALGORITHMS /* how many there are */
};

/* What turns a key into 64 bits. MD5 takes the digest's first 8 bytes, most significant first. */
enum gw_chash_hash {
	GW_CHASH_XXH3,
	GW_CHASH_XXH64,
	GW_CHASH_MURMUR3, /* x64, 128 bits, the first 64 */
	GW_CHASH_MD5,
	GW_CHASH_SIPHASH, /* SipHash-2-4, key (seed, 0) */
	GW_CHASH_HASHES
};

/* One errno for each mistake, so that each can be told from the others. */
enum gw_chash_error {
	GW_CHASH_ERR_ARGUMENT = -EINVAL,      /* a null pointer, an unknown algorithm or hash */
	GW_CHASH_ERR_MEMORY = -ENOMEM,	      /* no memory */
	GW_CHASH_ERR_DUPLICATE = -EEXIST,     /* a member with this id is there already */
	GW_CHASH_ERR_UNKNOWN = -ENOENT,	      /* no member with this id */
	GW_CHASH_ERR_EMPTY = -ENODATA,	      /* the set has no members */
	GW_CHASH_ERR_ALL_ZERO = -ENXIO,	      /* every member has weight 0 */
	GW_CHASH_ERR_WEIGHT = -ERANGE,	      /* negative or above 2^32-1 */
	GW_CHASH_ERR_WEIGHT_SUM = -EOVERFLOW, /* the weights add up to more than 2^32-1 */
	GW_CHASH_ERR_NOT_PRIME = -EDOM,	      /* the table size is not prime */
	GW_CHASH_ERR_SIZE = -EFBIG,	      /* table size not in 2 ... GW_CHASH_TABLE_MAX */
	GW_CHASH_ERR_SLOTS = -ENOSPC,	      /* more members than slots */
	GW_CHASH_ERR_CAPACITY = -EDQUOT,      /* more buckets than Anchor or Dx has capacity for */
	GW_CHASH_ERR_BUCKETS = -E2BIG,	      /* more than GW_CHASH_BUCKETS_MAX points or buckets */
	GW_CHASH_ERR_NOT_LAST = -EPERM,	      /* Jump and its kin change at the end only */
	GW_CHASH_ERR_ID = -ENAMETOOLONG,      /* id empty or too long, or zone too long */
	GW_CHASH_ERR_FACTOR = -ENOMSG,	      /* load factor not above 1, or not finite */
	GW_CHASH_ERR_FULL = -EBUSY,	      /* every member is at its bound; loads exceed total */
	GW_CHASH_ERR_UNSUPPORTED = -EOPNOTSUPP, /* this algorithm has no such thing */
	GW_CHASH_ERR_TRUNCATED = -EIO, /* serialised view ends early, or has bytes too many */
	GW_CHASH_ERR_MAGIC = -ENOEXEC, /* not a serialised view */
	GW_CHASH_ERR_FORMAT = -EPROTONOSUPPORT, /* written by another format version */
	GW_CHASH_ERR_CHECKSUM = -EBADMSG,	/* bytes altered */
	GW_CHASH_ERR_CONTENT = -EPROTO,		/* checksum right, content contradictory */
	GW_CHASH_ERR_PARAMETER = -EIDRM,	/* vnodes, probes or capacity out of range */
};

struct gw_chash_options {
	enum gw_chash_algorithm algorithm;
	enum gw_chash_hash hash;
	uint64_t seed; /* of the key hash and of ring points; Maglev's table and ketama take none */
	uint64_t size; /* Maglev: slots, a prime; default 65537 */
	uint32_t vnodes;   /* ring: points per unit of weight; default 100 */
	uint32_t capacity; /* Anchor, Dx: buckets there can ever be; default 1024 */
	uint32_t probes;   /* multi-probe: k; default 21 */
};

/* One member of a view. The strings live as long as the view. */
struct gw_chash_member {
	const char *id;
	const char *zone; /* "" when it has none */
	uint32_t weight;
	uint32_t bucket; /* first of its buckets (Jump, Anchor, Dx, ...), else GW_CHASH_NONE */
};

/* One step of an update. */
enum gw_chash_verb { GW_CHASH_ADD, GW_CHASH_REMOVE, GW_CHASH_WEIGH };
struct gw_chash_change {
	enum gw_chash_verb verb;
	const char *id;
	int64_t weight;	  /* add, weigh: 0 ... 2^32-1 */
	const char *zone; /* add: NULL is "" */
};

/* What an algorithm is, for tools that treat all alike. */
struct gw_chash_traits {
	const char *name;
	const char *title;   /* for charts: "AnchorHash" */
	bool buckets;	     /* keys map to numbered buckets, weight w is w buckets */
	bool integer_keys;   /* defined on 64-bit integers */
	bool ordered;	     /* the mapping depends on the order of changes */
	bool end_only;	     /* members leave only from the end */
	bool minimal;	     /* a change moves only keys of, or to, the member that changed */
	bool needs_capacity; /* options.capacity counts */
	bool exact_weights;  /* shares follow weights exactly in expectation */
};

/* ---- names ------------------------------------------------------------------------------- */

/* Never NULL for an algorithm below GW_CHASH_ALGORITHMS; NULL otherwise. Static storage. */
const struct gw_chash_traits *gw_chash_traits(enum gw_chash_algorithm algorithm);
const char *gw_chash_hash_name(enum gw_chash_hash hash);
/* "maglev", "multi-probe" (or "multiprobe"), ... ; "xxh3", "md5", ... ERR_ARGUMENT when unknown. */
int gw_chash_algorithm_parse(const char *name, enum gw_chash_algorithm *algorithm);
int gw_chash_hash_parse(const char *name, enum gw_chash_hash *hash);
/* Words for an error of this library; "unknown error" for another number. Static storage. */
const char *gw_chash_strerror(int error);
/* The 64 bits that `hash` makes of a key; 0 or ERR_ARGUMENT. */
int gw_chash_hash_key(
	enum gw_chash_hash hash, uint64_t seed, const void *key, size_t length, uint64_t *value);

/* ---- the handle -------------------------------------------------------------------------- */

void gw_chash_options_init(struct gw_chash_options *options, enum gw_chash_algorithm algorithm);

/*
 * A handle with no members, at version 0. Fails with ERR_ARGUMENT, ERR_SIZE, ERR_NOT_PRIME,
 * ERR_PARAMETER or ERR_MEMORY. The caller owns it.
 */
int gw_chash_create(const struct gw_chash_options *options, struct gw_chash **handle);
/* Views taken from it stay valid until they are let go. Takes NULL. */
void gw_chash_destroy(struct gw_chash *handle);

/* A weight of 0 keeps the member and gives it no keys. `zone` may be NULL. */
int gw_chash_add_node(struct gw_chash *handle, const char *id, int64_t weight, const char *zone);
int gw_chash_remove_node(struct gw_chash *handle, const char *id);
int gw_chash_set_weight(struct gw_chash *handle, const char *id, int64_t weight);
/*
 * All changes in one new version, or none. `failed`, if not NULL, tells the position of the change
 * at fault, or `count` when the set as a whole is (ERR_SLOTS, ERR_WEIGHT_SUM, ERR_MEMORY).
 */
int gw_chash_update(struct gw_chash *handle, const struct gw_chash_change *changes, size_t count,
	size_t *failed);
/* Members named "0", "1", ... count-1 of weight 1, in this order, in one version. */
int gw_chash_add_buckets(struct gw_chash *handle, uint32_t count);

/* The owner of a key in the current view; its id is copied. ERR_ID: `size` does not hold it. */
int gw_chash_get_id(struct gw_chash *handle, const void *key, size_t length, char *id, size_t size);

/* ---- views ------------------------------------------------------------------------------- */

/* The current view, with a reference for the caller; never NULL, never waits. */
struct gw_chash_view *gw_chash_snapshot(struct gw_chash *handle);
struct gw_chash_view *gw_chash_view_ref(struct gw_chash_view *view);
void gw_chash_view_unref(struct gw_chash_view *view); /* takes NULL */

uint64_t gw_chash_view_version(const struct gw_chash_view *view);
const struct gw_chash_options *gw_chash_view_options(const struct gw_chash_view *view);
/* Members, sorted by id (memcmp); every call below names a member by its position here. */
uint32_t gw_chash_view_count(const struct gw_chash_view *view);
const struct gw_chash_member *gw_chash_view_members(const struct gw_chash_view *view);
int gw_chash_view_find(const struct gw_chash_view *view, const char *id, uint32_t *member);
size_t gw_chash_view_memory(const struct gw_chash_view *view); /* bytes, members included */
/*
 * 128 bits over options, members and the whole mapping, without the version: two processes whose
 * digests are equal send every key to the same member.
 */
void gw_chash_view_digest(const struct gw_chash_view *view, uint8_t digest[16]);

/* ---- lookups: ERR_EMPTY and ERR_ALL_ZERO when nobody can own a key ----------------------- */

int gw_chash_get_node(
	const struct gw_chash_view *view, const void *key, size_t length, uint32_t *member);
/*
 * By a 64-bit value in place of the key's hash: an integer key for the algorithms defined on
 * integers, a hash computed elsewhere for the others (ketama takes the low 32 bits as the point).
 */
int gw_chash_get_node_u64(const struct gw_chash_view *view, uint64_t key, uint32_t *member);
/* The numbered bucket of a value; ERR_UNSUPPORTED where traits.buckets is false. */
int gw_chash_get_bucket_u64(const struct gw_chash_view *view, uint64_t key, uint32_t *bucket);
/*
 * What gw_chash_get_node hands to the algorithm, so get_node(k) = get_node_u64(view_hash(k)); only
 * multi-probe hashes a key twice, and makes the second from the first when it has no key.
 */
uint64_t gw_chash_view_hash(const struct gw_chash_view *view, const void *key, size_t length);
/* Who holds a bucket, GW_CHASH_NONE for one that is removed or out of range. */
uint32_t gw_chash_bucket_member(const struct gw_chash_view *view, uint32_t bucket);

/* Many at once, fetching ahead: the same answers as one by one. members[count]. */
int gw_chash_get_node_bulk(
	const struct gw_chash_view *view, const uint64_t *keys, size_t count, uint32_t *members);

/*
 * The next `n` distinct members in preference order, the owner first, into members[n]; `found` is n
 * or the number of members that have weight, if that is less. With `spread_zones` the first
 * of each zone come before the others ("" is a zone like any other).
 */
int gw_chash_get_nodes(const struct gw_chash_view *view, const void *key, size_t length, uint32_t n,
	bool spread_zones, uint32_t *members, uint32_t *found);
int gw_chash_get_nodes_u64(const struct gw_chash_view *view, uint64_t key, uint32_t n,
	bool spread_zones, uint32_t *members, uint32_t *found);

/*
 * Consistent hashing with bounded loads (Mirrokni, Thorup, Zadimoghaddam, arXiv 1608.01350).
 * loads[member] counts what each member has, `total` their sum; the caller keeps both. The answer
 * is the first member in preference order whose load is below
 * ceil(factor * (total + 1) * weight / sum of weights). factor > 1.
 */
int gw_chash_get_node_bounded(const struct gw_chash_view *view, const void *key, size_t length,
	const uint64_t *loads, uint64_t total, double factor, uint32_t *member);
int gw_chash_get_node_bounded_u64(const struct gw_chash_view *view, uint64_t key,
	const uint64_t *loads, uint64_t total, double factor, uint32_t *member);

/* ---- bytes ------------------------------------------------------------------------------- */

/* The view as bytes, the same on every machine; free() them. */
int gw_chash_serialize(const struct gw_chash_view *view, void **bytes, size_t *size);
/* A handle whose current view equals the serialised one, version included. Trusts no byte. */
int gw_chash_load(const void *bytes, size_t size, struct gw_chash **handle);

/* ---- a look inside: ERR_UNSUPPORTED for an algorithm without it; pointers live with the view - */

struct gw_chash_slots {
	const uint16_t *u16; /* one of the two: u16 when there are at most 65535 members */
	const uint32_t *u32;
	uint32_t size;
};
int gw_chash_view_slots(
	const struct gw_chash_view *view, struct gw_chash_slots *slots); /* Maglev */

struct gw_chash_point {
	uint64_t hash;	 /* below 2^32 for ketama */
	uint32_t member; /* whose point it is */
	uint32_t reserved;
};
struct gw_chash_points {
	const struct gw_chash_point *point; /* ascending by hash, then by member */
	size_t count;
};
/* Ring, ketama, multi-probe. */
int gw_chash_view_points(const struct gw_chash_view *view, struct gw_chash_points *points);
/*
 * AnchorHash's arrays as in the paper, each options.capacity long and written by this call; any
 * may be NULL. `working` is the paper's N.
 */
int gw_chash_view_anchor(const struct gw_chash_view *view, uint32_t *a, uint32_t *k, uint32_t *w,
	uint32_t *l, uint32_t *working);

/* ---- a Maglev table alone ---------------------------------------------------------------- */

struct gw_chash_table_member {
	const char *key;
	uint32_t weight;
};

struct gw_chash_table {
	uint32_t size;	 /* slots */
	uint32_t count;	 /* members, those of weight 0 included */
	uint32_t *order; /* order[i]: position in the caller's array of the i-th member by key */
	uint16_t *u16;	 /* slots: positions in sorted order; u16 when count <= 65535, else u32 */
	uint32_t *u32;
};

/*
 * Builds a table as Envoy does (after Eisenbud et al., "Maglev", NSDI 2016, section 3.4; keys
 * sorted by memcmp, XXH64 of the key for offset and skip, turns in proportion to weight). A pure
 * function of keys, weights and size: the order given does not matter. Free it with
 * gw_chash_table_free. Errors: ERR_EMPTY, ERR_ALL_ZERO, ERR_DUPLICATE, ERR_ID, ERR_WEIGHT_SUM,
 * ERR_SIZE, ERR_NOT_PRIME, ERR_SLOTS, ERR_MEMORY. Any thread.
 */
int gw_chash_table_build(const struct gw_chash_table_member *members, uint32_t count, uint64_t size,
	struct gw_chash_table **table);
void gw_chash_table_free(struct gw_chash_table *table); /* takes NULL */
/* 0, ERR_SIZE or ERR_NOT_PRIME: what a table size must be. */
int gw_chash_table_size_check(uint64_t size);

#ifdef __cplusplus
}
#endif
