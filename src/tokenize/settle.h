/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which merges of a vocabulary can ever happen. Files list the same merging in different ways: one
 * merge for each token, every split of every token, or ranks alone, by which any two neighbours that
 * together are a token merge. What is left here is the same for all of them: at most one merge for
 * each token, those that happen, in order.
 */
#ifndef LW__TOKENIZE_SETTLE_H
#define LW__TOKENIZE_SETTLE_H

#include <stdbool.h>

#include "tokenize/bpe.h"
#include "tokenize/vocab.h"

/*
 * Puts the merges that can happen into the tables, which have the bytes and no merges yet, and keeps
 * no others in the vocabulary. They merge every text as all of them do. *makes_all: every token of the
 * model is made of its own bytes.
 */
lw_status lw__settle(lw__vocab *vocab, lw__bpe *bpe, bool *makes_all, lw_error *err);

#endif
