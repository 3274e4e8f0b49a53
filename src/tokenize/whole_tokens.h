/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens that a piece is only because it is one: merging its bytes does not end there. Where whole
 * pieces go before merges, these are all that need the rule, and most vocabularies have few of them.
 * Immutable once built.
 */
#ifndef LW__TOKENIZE_WHOLE_TOKENS_H
#define LW__TOKENIZE_WHOLE_TOKENS_H

#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#include "tokenize/bpe.h"
#include "tokenize/vocab.h"

typedef struct lw__whole_tokens {
    uint64_t *filter; /* bits by hash of their bytes; NULL: there are none */
} lw__whole_tokens;

/* Those of a vocabulary whose merges are settled (settle.h); none unless its whole_piece says so. */
lw_status lw__whole_tokens_build(lw__whole_tokens *whole, const lw__vocab *vocab,
                                 const lw__bpe *bpe, lw_error *err);
void lw__whole_tokens_reset(lw__whole_tokens *whole);

/* The id of such a token; -1: the piece is not one, or one that merging makes as well. */
int32_t lw__whole_tokens_find(const lw__whole_tokens *whole, const lw__vocab *vocab,
                              const unsigned char *piece, size_t bytes);

#endif
