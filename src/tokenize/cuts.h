/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certain cuts: between two characters that stand side by side in no token, no merge can reach
 * across, so what is before and what is behind merge as if they were alone.
 *
 * The pairs of characters that tokens do contain are kept as a filter of bits by hash: what is
 * not in it is certain, and what is in it by chance only costs a cut. A token may begin or end
 * inside a character; then the whole character on the other side counts as joined to anything.
 * Immutable once built.
 */
#ifndef LW__TOKENIZE_CUTS_H
#define LW__TOKENIZE_CUTS_H

#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#include "tokenize/vocab.h"

typedef struct lw__cuts {
    uint64_t *joined; /* bits; NULL: nothing is certain */
} lw__cuts;

/* Nothing is joined yet; */
lw_status lw__cuts_create(lw__cuts *cuts, lw_error *err);
/* joins two characters, by their code points. */
void lw__cuts_join(lw__cuts *cuts, uint32_t before, uint32_t behind);
/* From the tokens of a vocabulary. */
lw_status lw__cuts_build(lw__cuts *cuts, const lw__vocab *vocab, lw_error *err);
void lw__cuts_reset(lw__cuts *cuts);

/* The first certain cut behind `at`; `bytes` when there is none, or the bytes are not UTF-8. */
size_t lw__cuts_next(const lw__cuts *cuts, const unsigned char *text, size_t bytes, size_t at);

#endif
