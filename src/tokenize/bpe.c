/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging. A piece of up to 16 bytes keeps the ranks of its pairs in places that never move, and
 * a bit for each symbol that is still there; one of up to 32 keeps its symbols and ranks in
 * arrays. Both look for the least. A longer one is merged window by window (merge_long.h).
 */
#include <string.h>

#include "base/error.h"
#include "tokenize/bpe_pairs.h"

/* How merge_long.h merges. */
typedef lw__bpe lw__merge_table;

static inline uint32_t lw__merge_rank(const lw__bpe *bpe, uint32_t left, uint32_t right)
{
    return lw__pair_rank(bpe, left, right);
}

static inline uint32_t lw__merge_symbol(const lw__bpe *bpe, uint32_t left, uint32_t right,
                                        uint32_t rank)
{
    (void)left;
    (void)right;
    return (uint32_t)bpe->ids[rank];
}

#include "tokenize/merge_long.h"

#define PACKED_PIECE  16               /* symbols that are looked at all at once */
#define PACKED_BITS   4                /* of a place among them, below the rank */
#define SHORT_PIECE   32               /* symbols up to which the scan beats windows */
#define LONGEST_PIECE (UINT32_MAX / 2) /* places in a window are counted in 32 bits */

void lw__bpe_scratch_reset(lw__bpe_scratch *scratch)
{
    lw__merge_scratch_reset(&scratch->merge);
}

/* Symbols in the places of their first bytes. */
typedef struct packed {
    uint32_t ranks[PACKED_PIECE]; /* rank and place of the pair that starts here */
    uint32_t ids[PACKED_PIECE];
    uint32_t live; /* bits of the places that start a symbol */
} packed;

static inline void packed_put(packed *p, unsigned at, uint32_t rank)
{
    p->ranks[at] = rank == LW__RANK_NONE ? LW__RANK_NONE : rank << PACKED_BITS | at;
}

/* Looks up the pair that starts at a symbol again. */
static inline void packed_renew(const lw__bpe *bpe, packed *p, unsigned at)
{
    uint32_t behind = p->live >> at >> 1;
    if (behind == 0) {
        p->ranks[at] = LW__RANK_NONE;
        return;
    }
    unsigned next = at + 1 + (unsigned)__builtin_ctz(behind);
    packed_put(p, at, lw__pair_rank(bpe, p->ids[at], p->ids[next]));
}

static inline uint32_t least_of(const uint32_t *ranks)
{
    uint32_t least[4] = {ranks[0], ranks[1], ranks[2], ranks[3]};
    for (unsigned i = 4; i < PACKED_PIECE; i++) {
        least[i % 4] = ranks[i] < least[i % 4] ? ranks[i] : least[i % 4];
    }
    least[0] = least[1] < least[0] ? least[1] : least[0];
    least[2] = least[3] < least[2] ? least[3] : least[2];
    return least[2] < least[0] ? least[2] : least[0];
}

static size_t encode_packed(const lw__bpe *bpe, const unsigned char *piece, size_t count,
                            int32_t *ids)
{
    packed p = {.live = (1u << count) - 1};
    memset(p.ranks, 0xFF, sizeof p.ranks);
    for (unsigned i = 0; i < count; i++) {
        p.ids[i] = (uint32_t)bpe->byte_ids[piece[i]];
    }
    for (unsigned i = 0; i + 1 < count; i++) {
        packed_put(&p, i, lw__pair_byte_rank(bpe, piece + i));
    }
    for (uint32_t least = least_of(p.ranks); least != LW__RANK_NONE; least = least_of(p.ranks)) {
        unsigned at = least % PACKED_PIECE;
        unsigned gone = at + 1 + (unsigned)__builtin_ctz(p.live >> at >> 1);
        uint32_t before = p.live & ((1u << at) - 1);
        p.live &= ~(1u << gone);
        p.ranks[gone] = LW__RANK_NONE;
        p.ids[at] = (uint32_t)bpe->ids[least >> PACKED_BITS];
        packed_renew(bpe, &p, at);
        if (before != 0) {
            packed_renew(bpe, &p, 31u - (unsigned)__builtin_clz(before));
        }
    }
    size_t found = 0;
    for (uint32_t left = p.live; left != 0; left &= left - 1) {
        ids[found++] = (int32_t)p.ids[__builtin_ctz(left)];
    }
    return found;
}

/* Takes out symbol `at + 1` of `count`, and the pair it starts. */
static void close_gap(uint32_t *symbols, uint32_t *ranks, size_t at, size_t count)
{
    for (size_t i = at + 1; i + 1 < count; i++) {
        symbols[i] = symbols[i + 1];
        ranks[i] = ranks[i + 1];
    }
}

static size_t encode_short(const lw__bpe *bpe, const unsigned char *piece, size_t count,
                           int32_t *ids)
{
    uint32_t symbols[SHORT_PIECE];
    uint32_t ranks[SHORT_PIECE];
    for (size_t i = 0; i < count; i++) {
        symbols[i] = (uint32_t)bpe->byte_ids[piece[i]];
        ranks[i] = LW__RANK_NONE;
    }
    for (size_t i = 0; i + 1 < count; i++) {
        ranks[i] = lw__pair_byte_rank(bpe, piece + i);
    }
    for (;;) {
        size_t best = 0;
        uint32_t least = ranks[0];
        for (size_t i = 1; i + 1 < count; i++) {
            best = ranks[i] < least ? i : best;
            least = ranks[i] < least ? ranks[i] : least;
        }
        if (least == LW__RANK_NONE) {
            break;
        }
        symbols[best] = (uint32_t)bpe->ids[least];
        close_gap(symbols, ranks, best, count);
        count--;
        if (best > 0) {
            ranks[best - 1] = lw__pair_rank(bpe, symbols[best - 1], symbols[best]);
        }
        ranks[best] =
            best + 1 < count ? lw__pair_rank(bpe, symbols[best], symbols[best + 1]) : LW__RANK_NONE;
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = (int32_t)symbols[i];
    }
    return count;
}

static lw_status encode_long(const lw__bpe *bpe, lw__bpe_scratch *scratch,
                             const unsigned char *piece, size_t bytes, int32_t *ids, size_t *count,
                             lw_error *err)
{
    LW__TRY(lw__merge_reserve(&scratch->merge, bytes, err));
    for (size_t i = 0; i < bytes; i++) {
        scratch->merge.given[i] = (uint32_t)bpe->byte_ids[piece[i]];
    }
    *count = bytes;
    return lw__merge_long(bpe, &scratch->merge, LW__MERGE_WINDOW, ids, count, err);
}

lw_status lw__bpe_encode(const lw__bpe *bpe, lw__bpe_scratch *scratch, const unsigned char *piece,
                         size_t bytes, int32_t *ids, size_t *count, lw_error *err)
{
    if (bytes == 0) {
        *count = 0;
        return LW_OK;
    }
    if (bytes <= PACKED_PIECE) {
        *count = encode_packed(bpe, piece, bytes, ids);
        return LW_OK;
    }
    if (bytes <= SHORT_PIECE) {
        *count = encode_short(bpe, piece, bytes, ids);
        return LW_OK;
    }
    if (bytes > LONGEST_PIECE) {
        return lw__fail(err, LW_E_UNSUPPORTED,
                        "tokenizer: a piece of %zu bytes without a cut, expected at most %zu",
                        bytes, (size_t)LONGEST_PIECE);
    }
    return encode_long(bpe, scratch, piece, bytes, ids, count, err);
}
