/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which merges of a list can ever happen. Files list the same merging in different ways: one merge
 * for each token, every split of every token, or ranks alone. What is left here is the same for
 * all of them: at most one merge for each token, those that happen, in order.
 */
#ifndef LW__TOKENIZE_SETTLE_H
#define LW__TOKENIZE_SETTLE_H

#include "tokenize/bpe.h"
#include "tokenize/vocab.h"

typedef struct lw__settled {
    bool is_sound;  /* what is put in the tables merges every text as the list does */
    bool makes_all; /* and every token of the model is made of its own bytes */
} lw__settled;

/*
 * Puts the merges of the vocabulary that can happen into the tables, which have the bytes and no
 * merges yet, and keeps no others in the vocabulary. When it is not sound, neither is changed but
 * for what is in the tables.
 */
lw_status lw__settle_merges(lw__vocab *vocab, lw__bpe *bpe, lw__settled *out, lw_error *err);
/* The same where ids are ranks: any two neighbours that together are a token merge. */
lw_status lw__settle_ranks(lw__vocab *vocab, lw__bpe *bpe, lw__settled *out, lw_error *err);

#endif
