/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which merges can ever happen, whatever the ranks are: the shorter tokens are settled first. What the
 * bytes of a token become alone, before they are the token, depends on merges of shorter tokens only. If
 * that is two parts, and the vocabulary merges these two, then it is this merge that happens.
 */
#ifndef LW__TOKENIZE_SETTLE_BY_LENGTH_H
#define LW__TOKENIZE_SETTLE_BY_LENGTH_H

#include <stdbool.h>

#include "tokenize/bpe.h"
#include "tokenize/vocab.h"

/* As lw__settle, for any list and for ranks. */
lw_status lw__settle_by_length(lw__vocab *vocab, lw__bpe *bpe, bool *makes_all, lw_error *err);

#endif
