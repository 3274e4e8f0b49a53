/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a tokenizer, for the files of this layer that open one or encode with it.
 */
#ifndef LW__TOKENIZE_MODEL_H
#define LW__TOKENIZE_MODEL_H

#include "tokenize/bpe.h"
#include "tokenize/cuts.h"
#include "tokenize/matcher.h"
#include "tokenize/pieces.h"
#include "tokenize/tokenize.h"
#include "tokenize/vocab.h"
#include "tokenize/whole_tokens.h"

/* Added tokens are matched in two rounds: those of the text as given, then the normalized ones. */
#define LW__ROUNDS 2

struct lw__tokenizer {
    /* set when opened, never changed */
    lw__vocab vocab;
    lw__bpe bpe;
    lw__cuts cuts;
    lw__whole_tokens whole_tokens;
    lw__pieces *pieces; /* of a SentencePiece vocabulary, in place of bpe; else NULL */
    lw__matcher matchers[LW__ROUNDS];
    bool is_bytes; /* the vocabulary "bytes": an id is a byte */
    int32_t vocabulary;
    int32_t bos;
    int32_t eos;
    bool special_text;
    uint64_t fingerprint;
};

/* Fills bpe from the vocabulary; derives the merges of a vocabulary that only has ranks. */
lw_status lw__model_build(lw__tokenizer *tokenizer, lw_error *err);
/* Hashes what encoding depends on, in a form that does not depend on the kind of file. */
lw_status lw__model_fingerprint(lw__tokenizer *tokenizer, lw_error *err);

#endif
