/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Byte-pair merging: the adjacent pair of lowest rank is merged, the leftmost of equals, until no
 * pair has a rank.
 *
 * The tables are immutable while texts are encoded; what one thread needs is its scratch.
 */
#ifndef LW__TOKENIZE_BPE_H
#define LW__TOKENIZE_BPE_H

#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#include "tokenize/merge_window.h"

#define LW__PAIR_NONE UINT64_MAX
#define LW__RANK_NONE UINT32_MAX

typedef struct lw__merge {
    int32_t left;
    int32_t right;
    int32_t id; /* of the token that the two become; the same for all merges of one rank */
    uint32_t rank;
} lw__merge;

typedef struct lw__pair {
    uint64_t key; /* left << 32 | right; LW__PAIR_NONE in an empty slot */
    uint64_t rank;
} lw__pair;

/* What makes look-ups quick, in one block of memory; see bpe_pairs.h. */
typedef struct lw__bpe_quick {
    void *memory;         /* NULL until lw__bpe_finish, and when the merges do not fit */
    uint64_t *slots;      /* a power of two of them, at most half in use */
    uint64_t *filter;     /* bits by hash of the pairs that have a rank */
    uint32_t *byte_ranks; /* the rank of each pair of bytes */
    size_t slot_count;
} lw__bpe_quick;

typedef struct lw__bpe {
    lw__pair *slots;    /* a power of two of them, at most half in use */
    uint64_t *known;    /* bits by hash of the pairs in the slots */
    void *slots_memory; /* what both lie in */
    size_t slot_count;
    size_t count;
    int32_t *ids; /* what the merge of a rank becomes */
    size_t id_capacity;
    uint32_t highest_rank;
    uint32_t highest_part; /* the highest id of a part */
    int32_t byte_ids[256];
    lw__bpe_quick quick;
} lw__bpe;

typedef struct lw__bpe_scratch {
    lw__merge_scratch merge;
} lw__bpe_scratch;

void lw__bpe_init(lw__bpe *bpe);
void lw__bpe_reset(lw__bpe *bpe);
/* Forgets the merges, and keeps byte_ids. */
void lw__bpe_clear(lw__bpe *bpe);
/* Room for so many merges, which may also be more. */
lw_status lw__bpe_reserve(lw__bpe *bpe, size_t count, lw_error *err);
/* A pair given twice keeps its later merge. */
lw_status lw__bpe_put(lw__bpe *bpe, const lw__merge *merge, lw_error *err);
/* Makes look-ups quick once all merges are there; none may be put after it. */
lw_status lw__bpe_finish(lw__bpe *bpe, lw_error *err);

void lw__bpe_scratch_reset(lw__bpe_scratch *scratch);

/*
 * Writes the ids of one piece to `ids`, which has room for `bytes` of them, and their number to
 * count. Takes O(n log n) for any piece; grows the scratch for those over 32 bytes.
 */
lw_status lw__bpe_encode(const lw__bpe *bpe, lw__bpe_scratch *scratch, const unsigned char *piece,
                         size_t bytes, int32_t *ids, size_t *count, lw_error *err);

#endif
