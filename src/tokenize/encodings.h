/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encodings that are known by name: their patterns, their special tokens and the files that
 * hold their ranks.
 *
 * A file's name tells the encoding. Where a pattern belongs to one model alone, the pattern's name
 * does too, whatever the file is called.
 */
#ifndef LW__TOKENIZE_ENCODINGS_H
#define LW__TOKENIZE_ENCODINGS_H

#include "tokenize/vocab.h"

#define LW__SPECIAL_NEXT (-1)

/* One special token, or several that are numbered. */
typedef struct lw__special {
    const char
        *text;       /* the token; of numbered ones what stands before the number, "|>" behind it */
    int32_t id;      /* of the first; LW__SPECIAL_NEXT: behind all that is there */
    uint32_t number; /* of the first */
    uint32_t count;  /* 0: one token without a number */
} lw__special;

typedef struct lw__encoding {
    const char *file;
    const char *pattern;
    const lw__special *specials; /* ends at a NULL text */
    bool of_pattern;             /* the pattern's name alone tells it */
} lw__encoding;

/* By the last part of the path; NULL when it is none of the known names. */
const lw__encoding *lw__encoding_of_file(const char *path);
/* NULL when the pattern is not of one model. */
const lw__encoding *lw__encoding_of_pattern(const char *pattern);
/* Adds the special tokens to a vocabulary that has its ranks. */
lw_status lw__encoding_put_specials(lw__vocab *vocab, const lw__encoding *encoding, lw_error *err);

#endif
