/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of long_cache.h. An entry is whole as long as the head is less than a ring ahead of it. */
#include "tokenize/long_cache.h"

#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/error.h"

#define WORDS_OF_SLOT 32 /* words of the ring for one slot */
#define HEAD_WORDS    2  /* of an entry, before its ids */
#define ENTRY_WORDS   (HEAD_WORDS + LW__LONG_CACHE_BYTES * 4)

_Static_assert(((size_t)1 << LW__LONG_CACHE_BITS) > 2 * ENTRY_WORDS, "an entry fits the ring");

lw_status lw__long_cache_create(lw__long_cache *cache, unsigned ring_bits, lw_error *err)
{
    memset(cache, 0, sizeof *cache);
    cache->ring_words = (size_t)1 << ring_bits;
    cache->slot_count = cache->ring_words / WORDS_OF_SLOT;
    size_t bytes = cache->slot_count * sizeof *cache->slots +
                   (cache->ring_words + LW__KEPT_STEP) * sizeof *cache->ring;
    void *start = NULL;
    cache->memory = lw__alloc_huge(bytes, &start);
    if (cache->memory == NULL) {
        return lw__fail_nomem(err, bytes, "a cache of long pieces");
    }
    cache->slots = start;
    cache->ring = (uint32_t *)(cache->slots + cache->slot_count);
    return LW_OK;
}

void lw__long_cache_reset(lw__long_cache *cache)
{
    lw__free(cache->memory);
    memset(cache, 0, sizeof *cache);
}

lw__long_key lw__long_cache_key(const unsigned char *piece, size_t bytes, unsigned kind)
{
    return (lw__long_key){.piece = piece,
                          .bytes = (uint32_t)bytes,
                          .kind = kind,
                          .hash = (uint64_t)XXH3_64bits(piece, bytes) + kind};
}

/* The slot of the key: one of two side by side; of others the older one, which it takes over. */
static lw__long_slot *slot_of(const lw__long_cache *cache, const lw__long_key *key)
{
    lw__long_slot *slots = &cache->slots[key->hash & (cache->slot_count - 2)];
    if (slots[0].hash == key->hash || slots[1].hash == key->hash) {
        return &slots[slots[0].hash != key->hash];
    }
    return &slots[slots[0].position > slots[1].position];
}

const uint32_t *lw__long_cache_find(const lw__long_cache *cache, const lw__long_key *key,
                                    size_t *count)
{
    const lw__long_slot *slot = slot_of(cache, key);
    if (slot->hash != key->hash || slot->position == 0 ||
        cache->head - (slot->position - 1) > cache->ring_words) {
        return NULL;
    }
    const uint32_t *entry = &cache->ring[(slot->position - 1) % cache->ring_words];
    const uint32_t *ids = entry + HEAD_WORDS;
    if (entry[0] != (key->bytes << 1 | key->kind) ||
        memcmp(ids + entry[1], key->piece, key->bytes) != 0) {
        return NULL;
    }
    *count = entry[1];
    return ids;
}

/* Room for some words one behind the other; the newest overwrite the oldest. */
static uint32_t *take_words(lw__long_cache *cache, size_t words, uint64_t *position)
{
    size_t at = cache->head % cache->ring_words;
    if (at + words > cache->ring_words) {
        cache->head += cache->ring_words - at;
        at = 0;
    }
    *position = cache->head;
    cache->head += words;
    return &cache->ring[at];
}

void lw__long_cache_put(lw__long_cache *cache, const lw__long_key *key, const int32_t *ids,
                        size_t count)
{
    uint64_t position = 0;
    uint32_t *entry = take_words(cache, HEAD_WORDS + count + (key->bytes + 3) / 4, &position);
    entry[0] = key->bytes << 1 | key->kind;
    entry[1] = (uint32_t)count;
    memcpy(entry + HEAD_WORDS, ids, count * sizeof *ids);
    memcpy(entry + HEAD_WORDS + count, key->piece, key->bytes);
    *slot_of(cache, key) = (lw__long_slot){.hash = key->hash, .position = position + 1};
}

uint64_t lw__long_cache_keep(lw__long_cache *cache, const int32_t *ids, size_t count)
{
    uint64_t position = 0;
    memcpy(take_words(cache, count, &position), ids, count * sizeof *ids);
    return position;
}

const uint32_t *lw__long_cache_kept(const lw__long_cache *cache, uint64_t position)
{
    return cache->head - position > cache->ring_words ? NULL
                                                      : &cache->ring[position % cache->ring_words];
}
