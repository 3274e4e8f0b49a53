/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging of short pieces, many at a time where the processor can: a merge waits for the ranks of
 * two pairs, which lie anywhere in a large table, so those of 16 pieces are asked for at once.
 *
 *   bpe_short.c          one piece after the other, on any processor
 *   bpe_short_avx512.c   16 side by side
 */
#ifndef LW__TOKENIZE_BPE_SHORT_H
#define LW__TOKENIZE_BPE_SHORT_H

#include "tokenize/bpe.h"

#define LW__BPE_SHORT      16 /* most bytes of a short piece */
#define LW__BPE_PLACE_BITS 4  /* of a place in one: below the rank of the pair that starts there */

typedef struct lw__bpe_job {
    const unsigned char *piece;
    uint32_t bytes; /* 1 to LW__BPE_SHORT */
    uint32_t count; /* of ids */
    int32_t ids[LW__BPE_SHORT];
} lw__bpe_job;

/* Finds the ids of short pieces. */
typedef void lw__bpe_do_jobs(const lw__bpe *bpe, lw__bpe_job *const *jobs, size_t count);

/* One for every processor, the other where lw__blocks_forms says so. */
lw__bpe_do_jobs lw__bpe_jobs_portable;
lw__bpe_do_jobs lw__bpe_jobs_avx512;

#endif
