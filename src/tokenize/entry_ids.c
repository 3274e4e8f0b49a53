/* SPDX-License-Identifier: Apache-2.0 */
#include "tokenize/entry_ids.h"

_Static_assert(LW__CACHE_IDS >= 3, "an entry has room for a position");

bool lw__entry_put_kept(const lw__long_cache *kept, uint32_t *entry_ids, int32_t **out)
{
    uint64_t at = (uint64_t)entry_ids[2] << 32 | entry_ids[1];
    const uint32_t *ids = lw__long_cache_kept(kept, at);
    if (ids == NULL) {
        entry_ids[0] = 0;
        return false;
    }
    size_t count = entry_ids[0] >> LW__CACHE_ID_BITS;
    for (size_t i = 0; i < count; i += LW__KEPT_STEP) {
        memcpy(*out + i, ids + i, LW__KEPT_STEP * sizeof *ids);
    }
    *out += count;
    return true;
}

void lw__entry_fill(lw__long_cache *kept, uint32_t *entry_ids, size_t room, const int32_t *ids,
                    size_t count)
{
    if (count > room) {
        uint64_t at = lw__long_cache_keep(kept, ids, count);
        entry_ids[0] = 0;
        entry_ids[1] = (uint32_t)at;
        entry_ids[2] = (uint32_t)(at >> 32);
    } else {
        memcpy(entry_ids, ids, count * sizeof *ids);
    }
    entry_ids[0] |= (uint32_t)count << LW__CACHE_ID_BITS;
}
