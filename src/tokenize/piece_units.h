/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a text for SentencePiece can be cut into units that are merged alone.
 *
 * A boundary between two characters can only vanish by a merge whose left side ends in the one and
 * whose right side starts with the other. Where no merge is such, a cut is certain. It is told by
 * the two bytes at the boundary, and in what is long without such a cut by the two characters.
 * Immutable once built.
 */
#ifndef LW__TOKENIZE_PIECE_UNITS_H
#define LW__TOKENIZE_PIECE_UNITS_H

#include "tokenize/cuts.h"
#include "tokenize/pair_classes.h"
#include "tokenize/split.h"

typedef struct lw__piece_units {
    lw__byte_pairs *pairs; /* while it is built */
    lw__pair_classes classes;
    lw__cuts cuts;
    lw__split_rules rules; /* names the classes */
} lw__piece_units;

/* Nothing is joined; then characters are, by their code points; then it is finished. */
lw_status lw__piece_units_create(lw__piece_units *units, lw_error *err);
void lw__piece_units_join(lw__piece_units *units, uint32_t before, uint32_t behind);
/* Joins two bytes at a boundary of characters, so that only bytes can tell a cut from now on. */
void lw__piece_units_join_bytes(lw__piece_units *units, unsigned before, unsigned behind);
lw_status lw__piece_units_finish(lw__piece_units *units, lw_error *err);
void lw__piece_units_reset(lw__piece_units *units);

/*
 * A certain cut near the end of a text, as far back as a few KiB; 0 when none was found there.
 * Never behind `but`, when that is a byte and not -1.
 */
size_t lw__piece_units_last(const lw__piece_units *units, const unsigned char *text, size_t bytes,
                            int but);

#endif
