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

/* The value of "pre_tokenizer": sets the rules and add_prefix_space. */
lw_status lw__load_json_pre_tokenizer(lw__vocab *vocab, lw__json *json, lw_error *err);
/* The value of "normalizer": null, NFC, or a Sequence of no more than NFC. */
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

/* The value of "post_processor"; a fault of the JSON stays in json. */
void lw__load_json_post_processor(lw__json *json, lw__ends *out);
/* Keeps them in the vocabulary, which has its tokens, where there is one on a side. */
void lw__load_json_use_ends(lw__vocab *vocab, const lw__ends *ends);

#endif
