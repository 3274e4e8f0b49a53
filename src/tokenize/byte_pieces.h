/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text to ids, piece by piece: the splitter cuts, the caches know the pieces seen before,
 * merging does the others. What one thread needs for it; nothing in it changes an id.
 */
#ifndef LW__TOKENIZE_BYTE_PIECES_H
#define LW__TOKENIZE_BYTE_PIECES_H

#include "tokenize/blocks.h"
#include "tokenize/bpe.h"
#include "tokenize/byte_gaps.h"
#include "tokenize/long_cache.h"
#include "tokenize/model.h"
#include "tokenize/piece_cache.h"
#include "tokenize/piece_keys.h"
#include "tokenize/tokenize.h"
#include "tokenize/wide_cache.h"

struct lw__byte_pieces {
    const lw__tokenizer *tokenizer;
    lw__pieces_scratch *pieces; /* of a SentencePiece vocabulary, else NULL; borrowed */
    const lw__split_rules *rules;
    const lw__cuts *cuts;
    size_t growth; /* the most ids of one byte */
    lw__blocks_walk *walk;
    lw__bpe_do_jobs *do_jobs;
    lw__piece_keys *put_keys;
    lw__cache cache;
    lw__wide_cache wide_cache;
    lw__long_cache long_cache;
    lw__bpe_scratch scratch;
    lw__piece_batch batch;
    lw__gaps gaps;
    lw__steps_scratch steps; /* with LW__SPLIT_STEPS */
};

/* With the scratch of a SentencePiece vocabulary, or NULL, and tables as lw__encoder_create_within says. */
lw_status lw__byte_pieces_create(lw__byte_pieces *pieces, const lw__tokenizer *tokenizer,
                                 lw__pieces_scratch *scratch, size_t bytes, lw_error *err);
void lw__byte_pieces_reset(lw__byte_pieces *pieces);

/* Appends the ids of a text without added tokens. After a failure the arena holds some of them. */
lw_status lw__byte_pieces_encode(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                                 lw__arena *arena, lw_error *err);

/* The same, cut as a family does. */
lw_status lw__byte_pieces_encode_by(lw__byte_pieces *pieces, const lw__split_rules *rules,
                                    const unsigned char *text, size_t bytes, lw__arena *arena,
                                    lw_error *err);
/* The same, cut in the steps of the vocabulary. */
lw_status lw__byte_steps_encode(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                                lw__arena *arena, lw_error *err);
/* Appends the ids of the first `count` pieces of the batch, with which the text begins. */
lw_status lw__byte_pieces_take(lw__byte_pieces *pieces, const unsigned char *text, size_t bytes,
                               size_t count, lw__arena *arena, lw_error *err);

#endif
