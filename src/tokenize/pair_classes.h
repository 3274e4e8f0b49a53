/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between which two bytes a text can be cut, in a form that a processor asks for many at once.
 *
 * Each byte has one of eight classes, and a mask of the classes that it is joined to when they
 * follow it. Where the mask has not the class of the next byte, the text is cut. Bytes of one
 * class are joined to more than they need be: that costs a cut, and never makes one.
 */
#ifndef LW__TOKENIZE_PAIR_CLASSES_H
#define LW__TOKENIZE_PAIR_CLASSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

/* Which pairs of bytes are joined: bit x of a set says that byte x is, to the byte behind it. */
typedef struct lw__byte_pairs {
    uint64_t before[256][4]; /* by the byte behind */
} lw__byte_pairs;

typedef struct lw__pair_classes {
    uint8_t joined[256]; /* by the byte before: a mask */
    uint8_t class[256];  /* by the byte behind: one bit */
} lw__pair_classes;

static inline void lw__byte_pairs_join(lw__byte_pairs *pairs, unsigned before, unsigned behind)
{
    pairs->before[behind][before / 64] |= UINT64_C(1) << before % 64;
}

/*
 * Finds classes in which few other pairs are joined. U+0020 has one of its own, and so have the
 * bytes that follow within a character: those are joined to all that stand before them.
 */
lw_status lw__pair_classes_build(lw__pair_classes *classes, const lw__byte_pairs *pairs,
                                 lw_error *err);

/* Whether a text is cut between two neighbours. */
static inline bool lw__pair_classes_cut(const lw__pair_classes *classes, unsigned char before,
                                        unsigned char behind)
{
    return (classes->joined[before] & classes->class[behind]) == 0;
}

/* The first cut behind `at`, which is below `bytes`; `bytes` when there is none. */
static inline size_t lw__pair_classes_next(const lw__pair_classes *classes,
                                           const unsigned char *text, size_t bytes, size_t at)
{
    for (at++; at < bytes && !lw__pair_classes_cut(classes, text[at - 1], text[at]);) {
        at++;
    }
    return at;
}

#endif
