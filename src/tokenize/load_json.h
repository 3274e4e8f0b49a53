/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of reading a tokenizer.json. Every field is honoured, or refused by its name: a file
 * that asks for anything else must not be read as if it did not.
 */
#ifndef LW__TOKENIZE_LOAD_JSON_H
#define LW__TOKENIZE_LOAD_JSON_H

#include <string.h>

#include "tokenize/vocab.h"

static inline bool lw__json_is(lw_str text, const char *name)
{
    return text.bytes == strlen(name) && memcmp(text.data, name, text.bytes) == 0;
}

/* LW_E_UNSUPPORTED: "<field>: <found>, expected <expected>". */
lw_status lw__load_json_refuse(const lw__vocab *vocab, const char *field, lw_str found,
                               const char *expected, lw_error *err);
/* Passes a value that must be null. */
lw_status lw__load_json_null(const lw__vocab *vocab, lw__json *json, const char *field,
                             lw_error *err);

/* A string; nothing for a value of another type, which is passed. */
lw_str lw__load_json_text(lw__json *json);

/* What a file made from a SentencePiece model says around its model. */
typedef struct lw__json_pieces {
    bool metaspace; /* pre_tokenizer Metaspace, and when it adds a space */
    lw__prefix scheme;
    bool splits_spaces; /* pre_tokenizer Split, which finds nothing where no spaces are left */
} lw__json_pieces;

/* Whether a file is of that kind; changes the bytes. Not sure of one that is wrong or cut short. */
bool lw__load_json_is_pieces(void *bytes, size_t count, bool *sure);
lw_status lw__load_json_piece_pre_tokenizer(lw__vocab *vocab, lw__json *json, lw__json_pieces *out,
                                            lw_error *err);
/* The "vocab" of a unigram model: [text, score] pairs. */
lw_status lw__load_json_scored(lw__vocab *vocab, lw__json *json, lw_error *err);
/* Makes all tokens of the model normal pieces. */
lw_status lw__load_json_all_pieces(lw__vocab *vocab, lw_error *err);
lw_status lw__load_json_finish_pieces(lw__vocab *vocab, const lw__json_pieces *found,
                                      lw_error *err);
/* Once all is read: whether a normalizer leaves it certain where a document starts. */
lw_status lw__load_json_check_first(const lw__vocab *vocab, lw_error *err);

/* The value of "pre_tokenizer": sets the rules and add_prefix_space. */
lw_status lw__load_json_pre_tokenizer(lw__vocab *vocab, lw__json *json, lw_error *err);
/* The value of "normalizer". */
lw_status lw__load_json_normalizer(lw__vocab *vocab, lw__json *json, lw_error *err);
/* The value of "model": vocabulary, merges and whole_piece. */
lw_status lw__load_json_model(lw__vocab *vocab, lw__json *json, lw_error *err);

/* The special tokens that a post_processor puts around a text; the last on each side is kept. */
typedef struct lw__ends {
    lw_str bos;
    lw_str eos;
    size_t bos_count;
    size_t eos_count;
} lw__ends;

/* The value of "decoder"; a fault of the JSON stays in json. */
void lw__load_json_decoder(lw__vocab *vocab, lw__json *json);
/* Once all is read: what a file without a decoder that fits means. */
void lw__load_json_finish_decoder(lw__vocab *vocab);

/* The value of "post_processor"; a fault of the JSON stays in json. */
void lw__load_json_post_processor(lw__json *json, lw__ends *out);
/* Keeps them in the vocabulary, which has its tokens, where there is one on a side. */
void lw__load_json_use_ends(lw__vocab *vocab, const lw__ends *ends);

#endif
