/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding with a SentencePiece vocabulary: a text is prepared (spaces, character map), cut where
 * no merge can go across, and each unit is merged, or split by the best sum of scores.
 *
 * The model is immutable and shared; a scratch belongs to one thread.
 */
#ifndef LW__TOKENIZE_PIECES_H
#define LW__TOKENIZE_PIECES_H

#include "tokenize/cuts.h"
#include "tokenize/tokenize.h"
#include "tokenize/vocab.h"

typedef struct lw__pieces lw__pieces;
typedef struct lw__pieces_scratch lw__pieces_scratch;
struct lw__byte_pieces;

/* Text between added tokens. */
typedef struct lw__piece_text {
    lw_str text;
    bool first; /* the document starts with it */
} lw__piece_text;

/* Borrows the vocabulary, whose rules are in use. */
lw_status lw__pieces_build(const lw__vocab *vocab, lw__pieces **out, lw_error *err);
void lw__pieces_destroy(lw__pieces *pieces);

lw_status lw__pieces_scratch_create(lw__pieces_scratch **out, lw_error *err);
void lw__pieces_scratch_destroy(lw__pieces_scratch *scratch);

/* How units are cut, for `units`: where two bytes say so, and within a long one where two characters do. */
const lw__split_rules *lw__pieces_rules(const lw__pieces *pieces);
const lw__cuts *lw__pieces_cuts(const lw__pieces *pieces);
/* The most ids of one byte of a unit; of any model's. */
#define LW__PIECES_GROWTH 3
size_t lw__pieces_growth(const lw__pieces *pieces);

/* Writes the ids of one unit to `ids`, which has room for its bytes times the growth. */
lw_status lw__pieces_unit(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                          const unsigned char *text, size_t bytes, int32_t *ids, size_t *count,
                          lw_error *err);

/* Appends the ids of a text; `units`, of the same thread, cuts, and knows the units seen before. */
lw_status lw__pieces_encode(const lw__pieces *pieces, lw__pieces_scratch *scratch,
                            struct lw__byte_pieces *units, lw__piece_text text, lw__arena *arena,
                            lw_error *err);

#endif
