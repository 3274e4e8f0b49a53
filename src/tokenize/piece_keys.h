/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the ends of pieces to the lines of piece_cache.h where their ids may be. Those are looked at some
 * hundred pieces later: by then they have come.
 *
 *   piece_keys.c          one piece after the other, on any processor
 *   piece_keys_avx512.c   8 side by side
 */
#ifndef LW__TOKENIZE_PIECE_KEYS_H
#define LW__TOKENIZE_PIECE_KEYS_H

#include <stddef.h>
#include <stdint.h>

#include "tokenize/piece_cache.h"

#define LW__PIECE_BATCH 512 /* pieces at a time: their cache lines and what is kept here fit L1 */
#define LW__KEY_LANES   8   /* keys made at once at most */

/* Pieces one behind the other, and where in the cache they belong. */
typedef struct lw__piece_batch {
    uint32_t ends[LW__PIECE_BATCH];
    lw__cache_key keys[LW__PIECE_BATCH];
    uint32_t places[LW__PIECE_BATCH];
    uint32_t longer[LW__PIECE_BATCH + LW__KEY_LANES]; /* numbers of the pieces that have no key */
    size_t longer_count;
} lw__piece_batch;

/*
 * Of the first `count` pieces of the batch, with which the text begins: makes their keys and places,
 * asks for their lines, and lists those of more than LW__CACHE_KEY_BYTES.
 */
typedef void lw__piece_keys(lw__piece_batch *batch, const lw__cache *cache,
                            const unsigned char *text, size_t bytes, size_t count);

/* One for every processor, the other where lw__blocks_forms says so. */
lw__piece_keys lw__piece_keys_portable;
lw__piece_keys lw__piece_keys_avx512;

/* The same for one piece of the batch. */
static inline void lw__piece_keys_put(lw__piece_batch *batch, const lw__cache *cache,
                                      const unsigned char *text, size_t bytes, size_t number)
{
    size_t start = number > 0 ? batch->ends[number - 1] : 0;
    size_t length = batch->ends[number] - start;
    lw__cache_key key = __builtin_expect(bytes - start >= 16, 1)
                            ? lw__cache_key_of_16(text + start, length)
                            : lw__cache_key_of(text + start, length, text + bytes);
    uint32_t place = lw__cache_place(cache, &key);
    __builtin_prefetch(&cache->entries[(size_t)place * 2]);
    batch->longer[batch->longer_count] = (uint32_t)number;
    batch->longer_count += length > LW__CACHE_KEY_BYTES;
    batch->keys[number] = key;
    batch->places[number] = place;
}

#endif
