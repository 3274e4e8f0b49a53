/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From bytes of a text to ids: which ids hold the bytes that are to be learnt.
 *
 * Encoding leaves anchors behind, places where text and ids are known to begin together: at added
 * tokens and at what lies between them. Within such a stretch the bytes of its tokens add up to it, as
 * normalizing and preparing leave it.
 */
#ifndef LW__TOKENIZE_SUPERVISE_H
#define LW__TOKENIZE_SUPERVISE_H

#include "tokenize/model.h"

typedef struct lw__anchor {
    size_t at; /* byte of the text */
    size_t id; /* in the arena */
} lw__anchor;

/* All zeros is ready for use; nothing is put while there is no text. */
typedef struct lw__anchors {
    const unsigned char *text;
    size_t bytes;
    lw__anchor *items; /* in order; the first at the start of the text, the last at its end */
    size_t count;
    size_t capacity;
} lw__anchors;

void lw__anchors_reset(lw__anchors *anchors);
/* Anchors of a text are put until it ends; the list stays for the next one, unless it is very long. */
void lw__anchors_begin(lw__anchors *anchors, lw_str text);
void lw__anchors_end(lw__anchors *anchors);
/* `at` begins with the next id; passed over when it is no place in the text, but in a copy. */
lw_status lw__anchors_put(lw__anchors *anchors, const unsigned char *at, size_t id, lw_error *err);

/* A text that was encoded, and what its thread encodes with. */
typedef struct lw__supervision {
    const lw__tokenizer *tokenizer;
    lw__normal_scratch *normal;
    lw__pieces_scratch *pieces; /* of a SentencePiece vocabulary, else NULL */
    const lw__anchors *anchors;
    const lw_text_span *spans;
    size_t span_count;
    int32_t *ids; /* of the arena; all of the text are marked LW_TOKEN_UNSUPERVISED */
} lw__supervision;

/* Takes the mark off the ids that hold a byte of a span. */
lw_status lw__supervise(const lw__supervision *job, lw_error *err);

#endif
