/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contractions of the patterns: 's 'd 'm 't 'll 've 're. What comes in is an apostrophe; what
 * goes out is the end of the contraction it begins. All reads stay below `end`.
 */
#ifndef LW__TOKENIZE_CONTRACTION_H
#define LW__TOKENIZE_CONTRACTION_H

#include <stddef.h>

#define LW__CONTRACTION_BYTES 3 /* of the longest one */

/* The end of the contraction whose apostrophe is at p; NULL when there is none. */
static inline const unsigned char *lw__contraction(const unsigned char *p, const unsigned char *end,
                                                   unsigned char fold)
{
    if (end - p < 2) {
        return NULL;
    }
    unsigned char first = p[1] | fold;
    if (first == 's' || first == 'd' || first == 'm' || first == 't') {
        return p + 2;
    }
    if (end - p < 3) {
        return NULL;
    }
    unsigned char second = p[2] | fold;
    if ((first == 'l' && second == 'l') || ((first == 'v' || first == 'r') && second == 'e')) {
        return p + 3;
    }
    return NULL;
}

/* The same without regard to case; U+017F (long s, C5 BF) folds to s. */
static inline const unsigned char *lw__contraction_any_case(const unsigned char *p,
                                                            const unsigned char *end)
{
    if (end - p >= 3 && p[1] == 0xC5 && p[2] == 0xBF) {
        return p + 3;
    }
    return lw__contraction(p, end, 0x20);
}

#endif
