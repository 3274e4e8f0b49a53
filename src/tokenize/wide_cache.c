/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of wide_cache.h. A new entry takes the line beside its own when only that is free; one
 * that is used again moves to its own line.
 */
#include "tokenize/wide_cache.h"

#include "base/alloc.h"
#include "base/error.h"

_Static_assert(sizeof(lw__wide_entry) == 64, "an entry fills a line");

lw_status lw__wide_cache_create(lw__wide_cache *cache, unsigned line_bits, lw_error *err)
{
    size_t bytes = sizeof(lw__wide_entry) << line_bits;
    void *entries = NULL;
    cache->memory = lw__alloc_huge(bytes, &entries);
    if (cache->memory == NULL) {
        return lw__fail_nomem(err, bytes, "a cache of pieces");
    }
    cache->entries = entries;
    cache->shift = 64 - line_bits;
    return LW_OK;
}

void lw__wide_cache_reset(lw__wide_cache *cache)
{
    lw__free(cache->memory);
    cache->memory = NULL;
    cache->entries = NULL;
}

static bool is_used(const lw__wide_entry *entry)
{
    return entry->ids[0] >> LW__CACHE_ID_BITS != 0;
}

static bool is_of(const lw__wide_entry *entry, const lw__wide_key *key)
{
    return is_used(entry) && lw__cache_key_equal(&entry->key.head, &key->head) &&
           lw__cache_key_equal(&entry->key.tail, &key->tail);
}

static lw__wide_entry *beside_of(const lw__wide_cache *cache, const lw__wide_entry *entry)
{
    return &cache->entries[(size_t)(entry - cache->entries) ^ 1];
}

lw__wide_entry *lw__wide_find(const lw__wide_cache *cache, const lw__wide_key *key)
{
    lw__wide_entry *own = lw__wide_place(cache, key);
    if (is_of(own, key)) {
        return own;
    }
    lw__wide_entry *beside = beside_of(cache, own);
    if (!is_of(beside, key)) {
        return NULL;
    }
    lw__wide_entry found = *beside;
    *beside = *own;
    *own = found;
    return own;
}

lw__wide_entry *lw__wide_take(const lw__wide_cache *cache, const lw__wide_key *key)
{
    lw__wide_entry *own = lw__wide_place(cache, key);
    lw__wide_entry *beside = beside_of(cache, own);
    lw__wide_entry *taken = is_used(own) && !is_used(beside) ? beside : own;
    *taken = (lw__wide_entry){.key = *key};
    return taken;
}
