/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of piece_cache.h. A new entry takes the second place of its pair, unless the first is
 * free; it gets the first when it is used again.
 */
#include "tokenize/piece_cache.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"

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

/* A table in small pages would be larger than what a processor knows the addresses of. */
lw_status lw__cache_create(lw__cache *cache, lw_error *err)
{
    size_t bytes = ((size_t)LINE_BYTES << LW__CACHE_PAIR_BITS);
    size_t with_slack = bytes + LW__OS_HUGE_BYTES;
    cache->memory = lw__alloc_zero(with_slack, 1);
    if (cache->memory == NULL) {
        return lw__fail_nomem(err, with_slack, "a cache of pieces");
    }
    size_t past = (size_t)((uintptr_t)cache->memory % LW__OS_HUGE_BYTES);
    cache->entries = (void *)((char *)cache->memory + (LW__OS_HUGE_BYTES - past));
    lw__os_advise_huge(cache->entries, bytes);
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
