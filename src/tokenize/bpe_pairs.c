/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of bpe_pairs.h: putting merges, and moving them to where look-ups are quick. */
#include "tokenize/bpe_pairs.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

#define FIRST_SLOTS  1024                      /* of a new table */
#define RANK_LIMIT   ((uint32_t)LW__TREE_NONE) /* a rank and a place in a short piece fill 31 bits */
#define BYTE_PAIRS   ((size_t)256 * 256)
#define FILTER_WORDS (((size_t)1 << LW__PAIR_FILTER_BITS) / 64)
#define KNOWN_WORDS  (((size_t)1 << LW__PAIR_KNOWN_BITS) / 64)

void lw__bpe_init(lw__bpe *bpe)
{
    memset(bpe, 0, sizeof *bpe);
}

static void wide_reset(lw__bpe *bpe)
{
    lw__free(bpe->slots_memory);
    bpe->slots = NULL;
    bpe->known = NULL;
    bpe->slots_memory = NULL;
    bpe->slot_count = 0;
}

void lw__bpe_clear(lw__bpe *bpe)
{
    wide_reset(bpe);
    lw__free(bpe->ids);
    lw__free(bpe->quick.memory);
    bpe->count = 0;
    bpe->ids = NULL;
    bpe->id_capacity = 0;
    bpe->highest_rank = 0;
    bpe->highest_part = 0;
    memset(&bpe->quick, 0, sizeof bpe->quick);
}

void lw__bpe_reset(lw__bpe *bpe)
{
    lw__bpe_clear(bpe);
    lw__bpe_init(bpe);
}

/* The slot that holds the key, or the empty one where it would be put. */
static lw__pair *slot_of(lw__pair *slots, size_t slot_count, uint64_t key, uint64_t hash)
{
    size_t at = (size_t)hash & (slot_count - 1);
    while (slots[at].key != key && slots[at].key != LW__PAIR_NONE) {
        at = (at + 1) & (slot_count - 1);
    }
    return &slots[at];
}

static inline uint64_t known_bit(uint64_t hash)
{
    return hash >> (64 - LW__PAIR_KNOWN_BITS);
}

uint32_t lw__pair_wide_rank(const lw__bpe *bpe, uint64_t key)
{
    uint64_t hash = lw__pair_wide_hash(key);
    uint64_t bit = known_bit(hash);
    if (bpe->slot_count == 0 || (bpe->known[bit / 64] >> bit % 64 & 1) == 0) {
        return LW__RANK_NONE;
    }
    const lw__pair *slot = slot_of(bpe->slots, bpe->slot_count, key, hash);
    return slot->key == key ? (uint32_t)slot->rank : LW__RANK_NONE;
}

/* On huge pages where there are any, as each pair is on another page. */
static lw_status grow(lw__bpe *bpe, size_t slot_count, lw_error *err)
{
    size_t known_bytes = KNOWN_WORDS * sizeof *bpe->known;
    size_t bytes = slot_count * sizeof *bpe->slots + known_bytes;
    void *start = NULL;
    void *memory = lw__alloc_huge(bytes, &start);
    if (memory == NULL) {
        return lw__fail_nomem(err, bytes, "merges");
    }
    lw__pair *slots = start;
    uint64_t *known = (void *)(slots + slot_count);
    memset(slots, 0xFF, slot_count * sizeof *slots);
    for (size_t i = 0; i < bpe->slot_count; i++) {
        uint64_t key = bpe->slots[i].key;
        if (key != LW__PAIR_NONE) {
            *slot_of(slots, slot_count, key, lw__pair_wide_hash(key)) = bpe->slots[i];
        }
    }
    if (bpe->known != NULL) {
        memcpy(known, bpe->known, known_bytes);
    }
    lw__free(bpe->slots_memory);
    bpe->slots = slots;
    bpe->known = known;
    bpe->slots_memory = memory;
    bpe->slot_count = slot_count;
    return LW_OK;
}

lw_status lw__bpe_reserve(lw__bpe *bpe, size_t count, lw_error *err)
{
    size_t slot_count = FIRST_SLOTS;
    while (slot_count < count * 2) {
        slot_count *= 2;
    }
    return slot_count > bpe->slot_count ? grow(bpe, slot_count, err) : LW_OK;
}

static lw_status put_id(lw__bpe *bpe, const lw__merge *merge, lw_error *err)
{
    if (merge->rank >= RANK_LIMIT) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a merge of rank %lu, expected one below %lu",
                        (unsigned long)merge->rank, (unsigned long)RANK_LIMIT);
    }
    if (merge->rank >= bpe->id_capacity) {
        size_t wanted = (size_t)merge->rank + merge->rank / 2 + FIRST_SLOTS;
        int32_t *ids = lw__resize_array(bpe->ids, wanted, sizeof *ids);
        if (ids == NULL) {
            return lw__fail_nomem(err, wanted * sizeof *ids, "merges");
        }
        bpe->ids = ids;
        bpe->id_capacity = wanted;
    }
    bpe->ids[merge->rank] = merge->id;
    bpe->highest_rank = merge->rank > bpe->highest_rank ? merge->rank : bpe->highest_rank;
    return LW_OK;
}

lw_status lw__bpe_put(lw__bpe *bpe, const lw__merge *merge, lw_error *err)
{
    if (bpe->count >= bpe->slot_count / 2) {
        LW__TRY(lw__bpe_reserve(bpe, bpe->count + 1, err));
    }
    LW__TRY(put_id(bpe, merge, err));
    uint32_t left = (uint32_t)merge->left;
    uint32_t right = (uint32_t)merge->right;
    uint32_t higher = left > right ? left : right;
    bpe->highest_part = higher > bpe->highest_part ? higher : bpe->highest_part;
    uint64_t key = (uint64_t)left << 32 | right;
    uint64_t hash = lw__pair_wide_hash(key);
    uint64_t bit = known_bit(hash);
    lw__pair *slot = slot_of(bpe->slots, bpe->slot_count, key, hash);
    bpe->count += slot->key == LW__PAIR_NONE;
    slot->key = key;
    slot->rank = merge->rank;
    bpe->known[bit / 64] |= (uint64_t)1 << bit % 64;
    return LW_OK;
}

/* One block on huge pages where there are any, as each look-up is on another page. */
static lw_status quick_create(lw__bpe_quick *quick, size_t slot_count, lw_error *err)
{
    size_t bytes = slot_count * sizeof *quick->slots + FILTER_WORDS * sizeof *quick->filter +
                   BYTE_PAIRS * sizeof *quick->byte_ranks;
    void *start = NULL;
    void *memory = lw__alloc_huge(bytes, &start);
    if (memory == NULL) {
        return lw__fail_nomem(err, bytes, "merges");
    }
    quick->memory = memory;
    quick->slots = start;
    quick->slot_count = slot_count;
    quick->filter = quick->slots + slot_count;
    quick->byte_ranks = (void *)(quick->filter + FILTER_WORDS);
    memset(quick->slots, 0xFF, slot_count * sizeof *quick->slots);
    return LW_OK;
}

static void quick_put(lw__bpe_quick *quick, const lw__pair *pair)
{
    uint64_t key = (pair->key >> 32) << LW__PAIR_ID_BITS | (uint32_t)pair->key;
    uint64_t hash = lw__pair_hash(key);
    uint64_t bit = lw__pair_filter_bit(hash);
    size_t at = (size_t)hash & (quick->slot_count - 1);
    while (quick->slots[at] != LW__PAIR_NONE) {
        at = (at + 1) & (quick->slot_count - 1);
    }
    quick->slots[at] = key << LW__PAIR_RANK_BITS | pair->rank;
    quick->filter[bit / 64] |= (uint64_t)1 << bit % 64;
}

/* Whether all ids and ranks fit a narrow slot, and none could be taken for an empty one. */
static bool is_narrow(const lw__bpe *bpe)
{
    return bpe->highest_part < (1u << LW__PAIR_ID_BITS) - 1 &&
           bpe->highest_rank < (1u << LW__PAIR_RANK_BITS) - 1;
}

lw_status lw__bpe_finish(lw__bpe *bpe, lw_error *err)
{
    if (bpe->slot_count == 0 || !is_narrow(bpe)) {
        return LW_OK;
    }
    lw__bpe_quick quick = {.memory = NULL};
    LW__TRY(quick_create(&quick, bpe->slot_count, err));
    for (size_t i = 0; i < bpe->slot_count; i++) {
        if (bpe->slots[i].key != LW__PAIR_NONE) {
            quick_put(&quick, &bpe->slots[i]);
        }
    }
    for (size_t i = 0; i < BYTE_PAIRS; i++) {
        uint64_t left = (uint32_t)bpe->byte_ids[i / 256];
        quick.byte_ranks[i] =
            lw__pair_wide_rank(bpe, left << 32 | (uint32_t)bpe->byte_ids[i % 256]);
    }
    bpe->quick = quick;
    wide_reset(bpe);
    return LW_OK;
}
