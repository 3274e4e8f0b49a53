/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps among the ids of a text: short pieces that the cache does not have are left out at first, and
 * merged when there are some of them, many at a time.
 */
#ifndef LW__TOKENIZE_BYTE_GAPS_H
#define LW__TOKENIZE_BYTE_GAPS_H

#include <stdbool.h>

#include "tokenize/bpe_short.h"
#include "tokenize/piece_cache.h"
#include "tokenize/tokenize.h"

#define LW__GAPS     64                               /* left at a time */
#define LW__GAP_ROOM (LW__GAPS * LW__CACHE_KEY_BYTES) /* most ids of all gaps */

typedef struct lw__byte_pieces lw__byte_pieces;

typedef struct lw__gap {
    lw__bpe_job job;
    lw__cache_key key;
    size_t at;  /* where in the arena, with no room for itself nor for gaps before it */
    bool whole; /* a piece, not a part of one */
} lw__gap;

typedef struct lw__gaps {
    lw__gap items[LW__GAPS];
    size_t count;
    uint64_t left; /* gaps that were ever left */
} lw__gaps;

/* A piece of up to LW__CACHE_KEY_BYTES, or a part of one, that is in neither place of its pair. */
typedef struct lw__gap_piece {
    const unsigned char *text;
    size_t bytes;
    const lw__cache_key *key;
    bool whole;
} lw__gap_piece;

/* Leaves a gap where the arena's ids end; fills those before it when they are LW__GAPS. */
void lw__gaps_leave(lw__byte_pieces *pieces, const lw__gap_piece *piece, lw__arena *arena);
/* Fills all gaps; the arena has room for their ids. */
void lw__gaps_fill(lw__byte_pieces *pieces, lw__arena *arena);

#endif
