/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From ids back to bytes, as the reference of each kind of file does it. Part of a vocabulary;
 * loaders fill the rules, and they never change after that.
 *
 * A byte-level vocabulary has nothing to undo: its tokens are bytes.
 */
#ifndef LW__TOKENIZE_DECODE_H
#define LW__TOKENIZE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Which spaces at the start are those that encoding put there. */
typedef enum lw__decode_strip {
    LW__STRIP_NOTHING,
    LW__STRIP_FIRST_SPACE, /* one, of the text */
    LW__STRIP_FIRST_TOKEN, /* all of the first token */
    LW__STRIP_FIRST_PIECE, /* one, of the first piece with a text */
    LW__STRIP_PIECES       /* one, of each piece that nothing was written before */
} lw__decode_strip;

typedef struct lw__decode_rules {
    bool pieces; /* the rest counts; else tokens are bytes */
    bool spaces; /* U+2581 is a space */
    bool bytes;  /* <0xHH> is a byte */
    bool hidden; /* control pieces are never written, and the unknown piece has a surface */
    lw__decode_strip strip;
    lw__bytes surface; /* of the unknown piece */
    char refused[48];  /* the decoder that is not known, if there is one: nothing is decoded */
} lw__decode_rules;

void lw__decode_rules_reset(lw__decode_rules *rules);

#endif
