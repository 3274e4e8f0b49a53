/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks of pairs. While merges are put, a table of wide slots holds them. When they are complete
 * they move to narrow ones, half as large:
 *
 *   slot   left id, 22 bits | right id, 22 bits | rank, 20 bits
 *
 * Most pairs that are asked for have no rank: for both a filter says so from a table that stays in
 * a core's own cache. A vocabulary too large for narrow slots keeps the wide ones.
 */
#ifndef LW__TOKENIZE_BPE_PAIRS_H
#define LW__TOKENIZE_BPE_PAIRS_H

#include "tokenize/bpe.h"

#define LW__PAIR_ID_BITS     22
#define LW__PAIR_RANK_BITS   20
#define LW__PAIR_FILTER_BITS 20 /* 128 KiB */
#define LW__PAIR_KNOWN_BITS  22 /* the same for the wide slots */

#define LW__PAIR_FACTOR UINT64_C(0x9E3779B97F4A7C15)

static inline uint64_t lw__pair_hash(uint64_t key)
{
    uint64_t hash = key * LW__PAIR_FACTOR;
    return hash ^ hash >> 32;
}

static inline uint64_t lw__pair_filter_bit(uint64_t hash)
{
    return hash >> (64 - LW__PAIR_FILTER_BITS);
}

/* Where a pair belongs in the wide slots: in the order of narrow ones, so that all move in turn. */
static inline uint64_t lw__pair_wide_hash(uint64_t key)
{
    return lw__pair_hash((key >> 32) << LW__PAIR_ID_BITS ^ (uint32_t)key);
}

/* Asks for the wide slot of a pair, once there are any. Compilers drop calls of what does no more. */
__attribute__((always_inline)) static inline void lw__pair_wide_prefetch(const lw__bpe *bpe,
                                                                         uint64_t key)
{
    __builtin_prefetch(&bpe->slots[lw__pair_wide_hash(key) & (bpe->slot_count - 1)]);
}

/* The rank of a pair in the wide slots. */
uint32_t lw__pair_wide_rank(const lw__bpe *bpe, uint64_t key);

/* The rank of a pair; LW__RANK_NONE when it has none. */
static inline uint32_t lw__pair_rank(const lw__bpe *bpe, uint32_t left, uint32_t right)
{
    const lw__bpe_quick *quick = &bpe->quick;
    if (quick->memory == NULL) {
        return lw__pair_wide_rank(bpe, (uint64_t)left << 32 | right);
    }
    uint64_t key = (uint64_t)left << LW__PAIR_ID_BITS | right;
    uint64_t hash = lw__pair_hash(key);
    uint64_t bit = lw__pair_filter_bit(hash);
    if ((quick->filter[bit / 64] >> bit % 64 & 1) == 0) {
        return LW__RANK_NONE;
    }
    size_t at = (size_t)hash & (quick->slot_count - 1);
    while (quick->slots[at] >> LW__PAIR_RANK_BITS != key) {
        if (quick->slots[at] == LW__PAIR_NONE) {
            return LW__RANK_NONE;
        }
        at = (at + 1) & (quick->slot_count - 1);
    }
    return (uint32_t)(quick->slots[at] & ((1u << LW__PAIR_RANK_BITS) - 1));
}

/* The same for two bytes of a piece. */
static inline uint32_t lw__pair_byte_rank(const lw__bpe *bpe, const unsigned char *p)
{
    if (bpe->quick.memory == NULL) {
        return lw__pair_rank(bpe, (uint32_t)bpe->byte_ids[p[0]], (uint32_t)bpe->byte_ids[p[1]]);
    }
    return bpe->quick.byte_ranks[(size_t)p[0] << 8 | p[1]];
}

#endif
