/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging, by the length of the piece: a short one as bpe_short.h does; one of up to 32 bytes keeps its
 * symbols and ranks in arrays, and the least is looked for; a longer one is merged window by window
 * (merge_long.h).
 */
#include <string.h>

#include "base/error.h"
#include "tokenize/bpe_pairs.h"
#include "tokenize/bpe_short.h"

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

#define SHORT_PIECE   32               /* symbols up to which the scan beats windows */
#define LONGEST_PIECE (UINT32_MAX / 2) /* places in a window are counted in 32 bits */

void lw__bpe_scratch_reset(lw__bpe_scratch *scratch)
{
    lw__merge_scratch_reset(&scratch->merge);
}

static size_t encode_packed(const lw__bpe *bpe, const unsigned char *piece, size_t bytes,
                            int32_t *ids)
{
    lw__bpe_job job = {.piece = piece, .bytes = (uint32_t)bytes};
    lw__bpe_job *only = &job;
    lw__bpe_jobs_portable(bpe, &only, 1);
    memcpy(ids, job.ids, job.count * sizeof *ids);
    return job.count;
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
    if (bytes <= LW__BPE_SHORT) {
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
