/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging of symbols that are not bytes: which pairs merge, into what and in which order.
 */
#ifndef LW__TOKENIZE_PIECE_JOINS_H
#define LW__TOKENIZE_PIECE_JOINS_H

#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#include "tokenize/merge_window.h"

typedef struct lw__join {
    uint64_t key;   /* left << 32 | right; UINT64_MAX in an empty slot */
    uint64_t value; /* rank << 32 | what they become */
} lw__join;

typedef struct lw__joins {
    lw__join *slots; /* a power of two of them, at most half in use; NULL: none */
    size_t slot_count;
    size_t count;
} lw__joins;

/* A pair of symbols that merges. */
typedef struct lw__joint {
    uint32_t left;
    uint32_t right;
    uint32_t becomes;
    uint32_t rank;
} lw__joint;

lw_status lw__joins_create(lw__joins *joins, lw_error *err);
void lw__joins_reset(lw__joins *joins);
/* Of a pair given twice the later counts. */
lw_status lw__joins_put(lw__joins *joins, const lw__joint *joint, lw_error *err);

/*
 * Merges symbols in place: the pair of lowest rank first, the leftmost of equals, until none is
 * left. O(n log n) for any input.
 */
lw_status lw__joins_merge(const lw__joins *joins, lw__merge_scratch *scratch, int32_t *symbols,
                          size_t *count, lw_error *err);

/* The slot that holds the key, or the empty one where it would be put. */
static inline lw__join *lw__joins_slot(lw__join *slots, size_t slot_count, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash ^ hash >> 32) & (slot_count - 1);
    while (slots[at].key != key && slots[at].key != UINT64_MAX) {
        at = (at + 1) & (slot_count - 1);
    }
    return &slots[at];
}

/* rank << 32 | what the two become; UINT64_MAX: they do not merge. */
static inline uint64_t lw__joins_value(const lw__joins *joins, uint32_t left, uint32_t right)
{
    uint64_t key = (uint64_t)left << 32 | right;
    const lw__join *slot = lw__joins_slot(joins->slots, joins->slot_count, key);
    return slot->key == key ? slot->value : UINT64_MAX;
}

#endif
