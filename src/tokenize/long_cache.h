/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of pieces that are too long for piece_cache.h and wide_cache.h, and of those that have
 * too many for an entry there, for one thread. A ring of fixed size holds them, the newest overwrite
 * the oldest; slots found by hash say where in the ring. What it holds depends on the bytes of a piece
 * and its kind alone, so what it has forgotten can not change an id.
 *
 *   ring   ... | count of bytes, kind | count of ids | ids ... | bytes ... | ...
 */
#ifndef LW__TOKENIZE_LONG_CACHE_H
#define LW__TOKENIZE_LONG_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#define LW__LONG_CACHE_BYTES 1024 /* longest piece that is kept */
#define LW__LONG_CACHE_KEPT  96   /* most ids without their piece: 3 for each of 31 bytes */
#define LW__LONG_CACHE_BITS  15   /* of the smallest ring */
#define LW__KEPT_STEP        8    /* of those, what may be read and written behind the last */

typedef struct lw__long_slot {
    uint64_t hash;
    uint64_t position; /* of the entry, in words that were ever written, plus 1; 0: empty */
} lw__long_slot;

typedef struct lw__long_cache {
    void *memory;
    uint32_t *ring;
    lw__long_slot *slots;
    size_t ring_words;
    size_t slot_count;
    uint64_t head; /* words that were ever written */
} lw__long_cache;

/* A piece to look for; the kind tells two ways of merging the same bytes apart. */
typedef struct lw__long_key {
    const unsigned char *piece;
    uint32_t bytes;
    uint32_t kind; /* 0 or 1 */
    uint64_t hash;
} lw__long_key;

/* With a ring of 2^ring_bits ids. */
lw_status lw__long_cache_create(lw__long_cache *cache, unsigned ring_bits, lw_error *err);
void lw__long_cache_reset(lw__long_cache *cache);

lw__long_key lw__long_cache_key(const unsigned char *piece, size_t bytes, unsigned kind);
/* The ids of the piece, borrowed until the next put, and their number; NULL: not there. */
const uint32_t *lw__long_cache_find(const lw__long_cache *cache, const lw__long_key *key,
                                    size_t *count);
void lw__long_cache_put(lw__long_cache *cache, const lw__long_key *key, const int32_t *ids,
                        size_t count);

/*
 * Up to LW__LONG_CACHE_KEPT ids of a piece that another table has. `keep` returns where they are in
 * the ring, `kept` the ids there, or NULL when they were overwritten.
 */
uint64_t lw__long_cache_keep(lw__long_cache *cache, const int32_t *ids, size_t count);
const uint32_t *lw__long_cache_kept(const lw__long_cache *cache, uint64_t position);

#endif
