/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of pairs, and merging with it. Few symbols are kept in an array that is looked through
 * for the least value; many are merged window by window (merge_long.h).
 */
#include "tokenize/piece_joins.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* How merge_long.h merges. */
typedef lw__joins lw__merge_table;

static inline uint32_t lw__merge_rank(const lw__joins *joins, uint32_t left, uint32_t right)
{
    return (uint32_t)(lw__joins_value(joins, left, right) >> 32);
}

static inline uint32_t lw__merge_symbol(const lw__joins *joins, uint32_t left, uint32_t right,
                                        uint32_t rank)
{
    (void)rank;
    return (uint32_t)lw__joins_value(joins, left, right);
}

#include "tokenize/merge_long.h"

#define FEW         32               /* symbols up to which looking through beats windows */
#define NONE        UINT64_MAX       /* no pair */
#define MOST        (UINT32_MAX / 2) /* places in a window are counted in 32 bits */
#define FIRST_SLOTS 1024

static lw_status grow(lw__joins *joins, size_t slot_count, lw_error *err);

lw_status lw__joins_create(lw__joins *joins, lw_error *err)
{
    memset(joins, 0, sizeof *joins);
    return grow(joins, FIRST_SLOTS, err);
}

void lw__joins_reset(lw__joins *joins)
{
    lw__free(joins->slots);
    memset(joins, 0, sizeof *joins);
}

static lw_status grow(lw__joins *joins, size_t slot_count, lw_error *err)
{
    lw__join *slots = lw__alloc_array(slot_count, sizeof *slots);
    if (slots == NULL) {
        return lw__fail_nomem(err, slot_count * sizeof *slots, "merges");
    }
    memset(slots, 0xFF, slot_count * sizeof *slots);
    for (size_t i = 0; i < joins->slot_count; i++) {
        if (joins->slots[i].key != NONE) {
            *lw__joins_slot(slots, slot_count, joins->slots[i].key) = joins->slots[i];
        }
    }
    lw__free(joins->slots);
    joins->slots = slots;
    joins->slot_count = slot_count;
    return LW_OK;
}

lw_status lw__joins_put(lw__joins *joins, const lw__joint *joint, lw_error *err)
{
    if (joins->count >= joins->slot_count / 2) {
        LW__TRY(grow(joins, joins->slot_count * 2, err));
    }
    uint64_t key = (uint64_t)joint->left << 32 | joint->right;
    lw__join *slot = lw__joins_slot(joins->slots, joins->slot_count, key);
    joins->count += slot->key == NONE;
    slot->key = key;
    slot->value = (uint64_t)joint->rank << 32 | joint->becomes;
    return LW_OK;
}

/* Takes out symbol `at + 1` of `count`, and the pair it starts. */
static void close_gap(int32_t *symbols, uint64_t *values, size_t at, size_t count)
{
    for (size_t i = at + 1; i + 1 < count; i++) {
        symbols[i] = symbols[i + 1];
        values[i] = values[i + 1];
    }
}

static uint64_t pair_at(const lw__joins *joins, const int32_t *symbols, size_t at, size_t count)
{
    return at + 1 < count ? lw__joins_value(joins, (uint32_t)symbols[at], (uint32_t)symbols[at + 1])
                          : NONE;
}

static size_t merge_few(const lw__joins *joins, int32_t *symbols, size_t count)
{
    uint64_t values[FEW];
    for (size_t i = 0; i < count; i++) {
        values[i] = pair_at(joins, symbols, i, count);
    }
    for (;;) {
        size_t best = 0;
        uint64_t least = NONE;
        for (size_t i = 0; i + 1 < count; i++) {
            /* By rank alone, so that of equals the leftmost stays. */
            bool is_less = values[i] >> 32 < least >> 32;
            best = is_less ? i : best;
            least = is_less ? values[i] : least;
        }
        if (least == NONE) {
            return count;
        }
        symbols[best] = (int32_t)(uint32_t)least;
        close_gap(symbols, values, best, count);
        count--;
        if (best > 0) {
            values[best - 1] = pair_at(joins, symbols, best - 1, count);
        }
        values[best] = pair_at(joins, symbols, best, count);
    }
}

lw_status lw__joins_merge(const lw__joins *joins, lw__merge_scratch *scratch, int32_t *symbols,
                          size_t *count, lw_error *err)
{
    if (*count < 2) {
        return LW_OK;
    }
    if (*count <= FEW) {
        *count = merge_few(joins, symbols, *count);
        return LW_OK;
    }
    if (*count > MOST) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a unit of %zu characters without a cut, expected at most %zu",
                        *count, (size_t)MOST);
    }
    LW__TRY(lw__merge_reserve(scratch, *count, err));
    memcpy(scratch->given, symbols, *count * sizeof *symbols);
    return lw__merge_long(joins, scratch, LW__MERGE_WINDOW, symbols, count, err);
}
