/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges on their way from a file into a vocabulary, which has its tokens already. They are collected
 * a few at a time, as their tokens are found faster together.
 */
#ifndef LW__TOKENIZE_LOAD_MERGES_H
#define LW__TOKENIZE_LOAD_MERGES_H

#include "tokenize/vocab.h"

enum { LW__LOAD_MERGES = 32 }; /* collected before they are put */

typedef struct lw__load_merges {
    lw__vocab *vocab;
    lw__place place; /* of the next merge */
    lw__bytes texts; /* of those collected, one behind the other */
    lw__merge_text merges[LW__LOAD_MERGES];
    size_t count;
} lw__load_merges;

void lw__load_merges_init(lw__load_merges *loading, lw__vocab *vocab, const lw__place *first);
void lw__load_merges_reset(lw__load_merges *loading);

/*
 * Adds one merge by the texts of its parts as the file writes them. *good is false, and nothing is
 * added, when they are not of the alphabet that the vocabulary is written in: then all before it are
 * put, so that what is wrong with one of these is said first.
 */
lw_status lw__load_merges_add(lw__load_merges *loading, lw_str left, lw_str right, bool *good,
                              lw_error *err);
/* Puts what is collected. */
lw_status lw__load_merges_put(lw__load_merges *loading, lw_error *err);

#endif
