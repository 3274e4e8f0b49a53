/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding added tokens in a text: leftmost, and of those that start together the longest.
 *
 * Immutable once filled; shared by all threads.
 */
#ifndef LW__TOKENIZE_MATCHER_H
#define LW__TOKENIZE_MATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tokenize/code_set.h"
#include "tokenize/vocab.h"

typedef struct lw__target {
    lw_str text; /* owned; of a normalized token, as the normalizer leaves it; not empty */
    lw__added token;
    bool ignored; /* a special token while special text is ordinary text */
} lw__target;

typedef struct lw__matcher {
    lw__target *targets; /* by their bytes */
    size_t count;
    bool starts[256];   /* the bytes that a target starts with */
    lw__code_set words; /* characters of words, in order; of single_word tokens */
} lw__matcher;

typedef struct lw__match {
    size_t start;
    size_t end; /* both with the white space that it takes */
    int32_t id;
} lw__match;

/*
 * Takes the added tokens of one kind, normalized or not. With special_text off special tokens
 * are found and passed over, as the reference does; when no other kind is there, nothing is found.
 */
lw_status lw__matcher_fill(lw__matcher *matcher, const lw__vocab *vocab, bool normalized,
                           bool special_text, lw_error *err);
void lw__matcher_reset(lw__matcher *matcher);

/*
 * The next match in text[*at, bytes), *at being where the search goes on; `taken` is the end of the
 * match before it, whose text this one can not take as white space. False when there is none.
 */
bool lw__matcher_next(const lw__matcher *matcher, const unsigned char *text, size_t bytes,
                      size_t *at, size_t taken, lw__match *match);

#endif
