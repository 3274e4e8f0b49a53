/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of piece_cache.h. A new entry takes the second place of its pair, unless the first is
 * free; it gets the first when it is used again.
 */
#include "tokenize/piece_cache.h"

#include "base/alloc.h"
#include "base/error.h"

#define LINE_BYTES 64

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

lw_status lw__cache_create(lw__cache *cache, lw_error *err)
{
    size_t count = ((size_t)2 << LW__CACHE_PAIR_BITS) + 2;
    cache->memory = lw__alloc_zero(count, sizeof(lw__cache_entry));
    if (cache->memory == NULL) {
        return lw__fail_nomem(err, count * sizeof(lw__cache_entry), "a cache of pieces");
    }
    size_t past = (size_t)((uintptr_t)cache->memory % LINE_BYTES);
    cache->entries = (void *)((char *)cache->memory + (LINE_BYTES - past) % LINE_BYTES);
    return LW_OK;
}

void lw__cache_reset(lw__cache *cache)
{
    lw__free(cache->memory);
    cache->memory = NULL;
    cache->entries = NULL;
}

void lw__cache_put(lw__cache_entry *pair, const lw__cache_key *key, const int32_t *ids,
                   size_t count)
{
    lw__cache_entry *entry = &pair[pair[0].ids[0] >> 24 != 0];
    *entry = (lw__cache_entry){.key = *key};
    for (size_t i = 0; i < count; i++) {
        entry->ids[i] = (uint32_t)ids[i];
    }
    entry->ids[0] |= (uint32_t)count << 24;
}
