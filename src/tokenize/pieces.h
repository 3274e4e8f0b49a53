/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding with a SentencePiece vocabulary: a text is prepared (spaces, character map), cut where
 * no merge can go across, and each unit is merged, or split by the best sum of scores.
 *
 * The model is immutable and shared; a scratch belongs to one thread.
 */
#ifndef LW__TOKENIZE_PIECES_H
#define LW__TOKENIZE_PIECES_H

#include "tokenize/tokenize.h"
#include "tokenize/vocab.h"

typedef struct lw__pieces lw__pieces;
typedef struct lw__pieces_scratch lw__pieces_scratch;

/* Borrows the vocabulary, whose rules are in use. */
lw_status lw__pieces_build(const lw__vocab *vocab, lw__pieces **out, lw_error *err);
void lw__pieces_destroy(lw__pieces *pieces);

lw_status lw__pieces_scratch_create(lw__pieces_scratch **out, lw_error *err);
void lw__pieces_scratch_destroy(lw__pieces_scratch *scratch);

/* Appends the ids of text between added tokens; `first`: the document starts with it. */
lw_status lw__pieces_encode(const lw__pieces *pieces, lw__pieces_scratch *scratch, lw_str text,
                            bool first, lw__arena *arena, lw_error *err);

#endif
