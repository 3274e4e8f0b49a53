/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ids of an entry of piece_cache.h or wide_cache.h. Those that are too many for it are kept in the
 * ring of long_cache.h, and the entry says where.
 */
#ifndef LW__TOKENIZE_ENTRY_IDS_H
#define LW__TOKENIZE_ENTRY_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tokenize/long_cache.h"
#include "tokenize/piece_cache.h"

/* The ids of an entry that has not all of them in it; false when they are no longer anywhere. */
bool lw__entry_put_kept(const lw__long_cache *kept, uint32_t *entry_ids, int32_t **out);
/* Fills the ids of an entry with room for some of them. */
void lw__entry_fill(lw__long_cache *kept, uint32_t *entry_ids, size_t room, const int32_t *ids,
                    size_t count);

/* Whether the ids of a short entry are all in it. */
static inline bool lw__entry_has_all(const uint32_t *ids)
{
    return ids[0] >> LW__CACHE_ID_BITS <= LW__CACHE_IDS;
}

/* Puts all places of an entry that has all of its ids, and returns how many are used. */
static inline size_t lw__entry_copy(const uint32_t *ids, size_t room, int32_t *out)
{
    uint32_t first = ids[0];
    memcpy(out, ids, room * sizeof *ids);
    out[0] = (int32_t)(first & ((1u << LW__CACHE_ID_BITS) - 1));
    return first >> LW__CACHE_ID_BITS;
}

/*
 * Puts all places of the entry, and counts those that are used; false as in lw__entry_put_kept.
 * What lies behind the ids in `out` may be overwritten: less than `room` or LW__KEPT_STEP places.
 */
static inline bool lw__entry_put(const lw__long_cache *kept, uint32_t *ids, size_t room,
                                 int32_t **out)
{
    if (__builtin_expect(ids[0] >> LW__CACHE_ID_BITS > room, 0)) {
        return lw__entry_put_kept(kept, ids, out);
    }
    *out += lw__entry_copy(ids, room, *out);
    return true;
}

/* An entry whose ids are gone must not be found again: its key says nothing of its count. */
static inline bool lw__entry_put_short(const lw__long_cache *kept, lw__cache_entry *entry,
                                       int32_t **out)
{
    if (__builtin_expect(lw__entry_put(kept, entry->ids, LW__CACHE_IDS, out), 1)) {
        return true;
    }
    *entry = (lw__cache_entry){.ids = {0}};
    return false;
}

#endif
