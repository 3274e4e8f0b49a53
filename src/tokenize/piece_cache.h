/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of pieces seen before, for one thread: a table of fixed size with two places for each
 * hash, and more of them beside these when they are full. What it holds depends on the bytes of a piece alone, so neither its size nor what it has
 * forgotten can change an id.
 */
#ifndef LW__TOKENIZE_PIECE_CACHE_H
#define LW__TOKENIZE_PIECE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <laneway/error.h>

#define LW__CACHE_KEY_BYTES 15 /* longest piece that is kept */
#define LW__CACHE_IDS       4  /* most ids of a piece that is kept */

typedef struct lw__cache_key {
    uint64_t words[2]; /* the bytes, zeros, and byte count and kind in the last byte */
} lw__cache_key;

typedef struct lw__cache_entry {
    lw__cache_key key;           /* a count of 0: empty */
    uint32_t ids[LW__CACHE_IDS]; /* the number of ids is in the top byte of the first */
} lw__cache_entry;

typedef struct lw__cache {
    void *memory;
    lw__cache_entry *entries; /* pairs, each on one line of the processor's cache */
    unsigned shift;           /* of a hash, to the number of a pair */
} lw__cache;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LW__CACHE_COUNT_SHIFT 0
#else
#define LW__CACHE_COUNT_SHIFT 56
#endif

extern const unsigned char lw__cache_masks[LW__CACHE_KEY_BYTES + 2][16];

/* What the top byte of the first id says. */
#define LW__CACHE_ID_BITS 24

/* With 2^pair_bits pairs of 64 bytes. */
lw_status lw__cache_create(lw__cache *cache, unsigned pair_bits, lw_error *err);
void lw__cache_reset(lw__cache *cache);

/*
 * A full pair has its next entries in free places of the pairs beside it. These two know that; `take`
 * makes an entry without ids, `find` brings one back into its own pair. NULL: it is not there.
 */
lw__cache_entry *lw__cache_take_beside(const lw__cache *cache, const lw__cache_key *key);
lw__cache_entry *lw__cache_find_beside(const lw__cache *cache, const lw__cache_key *key);
/* The entry of the key in its pair or beside it. */
lw__cache_entry *lw__cache_find(const lw__cache *cache, const lw__cache_key *key);
/* Asks for the lines that lw__cache_find will look at. */
void lw__cache_ask_beside(const lw__cache *cache, const lw__cache_key *key);

/*
 * The key of a piece at which 16 bytes can be read. One of more than 15 bytes gets a key that no
 * entry has.
 */
static inline lw__cache_key lw__cache_key_of_16(const unsigned char *piece, size_t bytes)
{
    lw__cache_key key;
    uint64_t mask[2];
    size_t row = bytes > LW__CACHE_KEY_BYTES ? LW__CACHE_KEY_BYTES + 1 : bytes;
    memcpy(&key, piece, 16);
    memcpy(mask, lw__cache_masks[row], 16);
    key.words[0] &= mask[0];
    key.words[1] = (key.words[1] & mask[1]) | (uint64_t)row << LW__CACHE_COUNT_SHIFT;
    return key;
}

/* The same for a piece anywhere; `end` is that of the text it is in. */
static inline lw__cache_key lw__cache_key_of(const unsigned char *piece, size_t bytes,
                                             const unsigned char *end)
{
    if (end - piece >= 16) {
        return lw__cache_key_of_16(piece, bytes);
    }
    unsigned char copy[16] = {0};
    memcpy(copy, piece, bytes);
    return lw__cache_key_of_16(copy, bytes);
}

/* A key of the same bytes for another way of merging them. */
static inline lw__cache_key lw__cache_other_kind(lw__cache_key key)
{
    key.words[1] |= UINT64_C(0x20) << LW__CACHE_COUNT_SHIFT;
    return key;
}

#define LW__CACHE_FACTOR_HEAD UINT64_C(0x9E3779B97F4A7C15)
#define LW__CACHE_FACTOR      UINT64_C(0xD6E8FEB86659FD93)

/* Its upper bits are the better ones. */
static inline uint64_t lw__cache_hash(const lw__cache_key *key)
{
    uint64_t hash = key->words[0] * LW__CACHE_FACTOR_HEAD;
    return (hash ^ hash >> 32 ^ key->words[1]) * LW__CACHE_FACTOR;
}

/* The number of the pair of entries where the key belongs. */
static inline uint32_t lw__cache_place(const lw__cache *cache, const lw__cache_key *key)
{
    return (uint32_t)(lw__cache_hash(key) >> cache->shift);
}

static inline lw__cache_entry *lw__cache_pair(const lw__cache *cache, const lw__cache_key *key)
{
    return &cache->entries[(size_t)lw__cache_place(cache, key) * 2];
}

static inline bool lw__cache_key_equal(const lw__cache_key *a, const lw__cache_key *b)
{
    return a->words[0] == b->words[0] && a->words[1] == b->words[1];
}

static inline bool lw__cache_is(const lw__cache_entry *entry, const lw__cache_key *key)
{
    return lw__cache_key_equal(&entry->key, key);
}

#endif
