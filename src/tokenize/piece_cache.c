/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of piece_cache.h. A new entry takes the second place of its pair, unless the first is
 * free; it gets the first when it is used again.
 */
#include "tokenize/piece_cache.h"

#include "base/alloc.h"
#include "base/error.h"

#define LINE_BYTES 64
#define BESIDE     7 /* pairs that share their places with one */

_Static_assert(2 * sizeof(lw__cache_entry) == LINE_BYTES, "a pair of entries fills a line");

/* clang-format off */
const unsigned char lw__cache_masks[LW__CACHE_KEY_BYTES + 2][16] = {
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0},
    {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};

/* clang-format on */

/* A table in small pages would be larger than what a processor knows the addresses of. */
lw_status lw__cache_create(lw__cache *cache, unsigned pair_bits, lw_error *err)
{
    size_t bytes = (size_t)LINE_BYTES << pair_bits;
    void *entries = NULL;
    cache->memory = lw__alloc_huge(bytes, &entries);
    if (cache->memory == NULL) {
        return lw__fail_nomem(err, bytes, "a cache of pieces");
    }
    cache->entries = entries;
    cache->shift = 64 - pair_bits;
    return LW_OK;
}

void lw__cache_reset(lw__cache *cache)
{
    lw__free(cache->memory);
    cache->memory = NULL;
    cache->entries = NULL;
}

static bool is_used(const lw__cache_entry *entry)
{
    return entry->ids[0] >> LW__CACHE_ID_BITS != 0;
}

/* The first of the pairs with which the pair of the key shares its places. */
static lw__cache_entry *pair_beside(const lw__cache *cache, const lw__cache_key *key,
                                    unsigned number)
{
    return &cache->entries[(size_t)(lw__cache_place(cache, key) ^ number) * 2];
}

lw__cache_entry *lw__cache_take_beside(const lw__cache *cache, const lw__cache_key *key)
{
    lw__cache_entry *chosen = lw__cache_pair(cache, key);
    for (unsigned i = 1; i <= BESIDE && is_used(&chosen[1]); i++) {
        lw__cache_entry *beside = pair_beside(cache, key, i);
        chosen = is_used(&beside[1]) ? chosen : beside;
    }
    chosen += is_used(chosen);
    *chosen = (lw__cache_entry){.key = *key};
    return chosen;
}

lw__cache_entry *lw__cache_find_beside(const lw__cache *cache, const lw__cache_key *key)
{
    lw__cache_entry *own = &lw__cache_pair(cache, key)[1];
    for (unsigned i = 1; i <= BESIDE && is_used(own); i++) {
        lw__cache_entry *beside = pair_beside(cache, key, i);
        lw__cache_entry *found = &beside[!lw__cache_is(&beside[0], key)];
        if (lw__cache_is(found, key)) {
            lw__cache_entry moved = *own;
            *own = *found;
            *found = moved;
            return own;
        }
    }
    return NULL;
}

lw__cache_entry *lw__cache_find(const lw__cache *cache, const lw__cache_key *key)
{
    lw__cache_entry *pair = lw__cache_pair(cache, key);
    for (size_t i = 0; i < 2; i++) {
        if (lw__cache_is(&pair[i], key)) {
            return &pair[i];
        }
    }
    return lw__cache_find_beside(cache, key);
}

void lw__cache_ask_beside(const lw__cache *cache, const lw__cache_key *key)
{
    const lw__cache_entry *own = lw__cache_pair(cache, key);
    for (unsigned i = 1; i <= BESIDE && is_used(&own[1]); i++) {
        __builtin_prefetch(pair_beside(cache, key, i));
    }
}
