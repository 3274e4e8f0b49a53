/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of pieces of 16 to 31 bytes, for one thread: as piece_cache.h, with one entry to a line
 * of the processor's cache. Long words of Russian, Greek or German are such pieces.
 */
#ifndef LW__TOKENIZE_WIDE_CACHE_H
#define LW__TOKENIZE_WIDE_CACHE_H

#include "tokenize/piece_cache.h"

#define LW__WIDE_BYTES 31 /* longest piece that is kept */
#define LW__WIDE_IDS   8  /* most ids in an entry */

typedef struct lw__wide_key {
    lw__cache_key head; /* 16 bytes */
    lw__cache_key tail; /* those behind them, and their number and the kind in the last byte */
} lw__wide_key;

typedef struct lw__wide_entry {
    lw__wide_key key;
    uint32_t ids[LW__WIDE_IDS]; /* as those of lw__cache_entry; a count of 0: empty */
} lw__wide_entry;

typedef struct lw__wide_cache {
    void *memory;
    lw__wide_entry *entries;
    unsigned shift; /* of a hash, to the number of an entry */
} lw__wide_cache;

/* With 2^line_bits entries of 64 bytes. */
lw_status lw__wide_cache_create(lw__wide_cache *cache, unsigned line_bits, lw_error *err);
void lw__wide_cache_reset(lw__wide_cache *cache);

/* The key of a piece of 16 to 31 bytes; `end` is that of the text it is in. */
static inline lw__wide_key lw__wide_key_of(const unsigned char *piece, size_t bytes,
                                           const unsigned char *end)
{
    lw__wide_key key;
    memcpy(&key.head, piece, sizeof key.head);
    key.tail = lw__cache_key_of(piece + sizeof key.head, bytes - sizeof key.head, end);
    return key;
}

/* The entry where the key belongs. */
static inline lw__wide_entry *lw__wide_place(const lw__wide_cache *cache, const lw__wide_key *key)
{
    uint64_t hash = lw__cache_hash(&key->head);
    lw__cache_key rest = {.words = {key->tail.words[0] ^ hash, key->tail.words[1]}};
    return &cache->entries[lw__cache_hash(&rest) >> cache->shift];
}

/* The entry of the key; NULL: it is not there. */
lw__wide_entry *lw__wide_find(const lw__wide_cache *cache, const lw__wide_key *key);
/* An empty entry for a key that is not there; what was there is forgotten. */
lw__wide_entry *lw__wide_take(const lw__wide_cache *cache, const lw__wide_key *key);

#endif
