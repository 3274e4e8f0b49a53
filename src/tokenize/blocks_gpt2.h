/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where pieces of the GPT-2 pattern start, but for contractions.
 *
 * A run of L, N or X starts a piece unless U+0020 stands before it, which then does. White space
 * starts a piece at the first of a run, and at its last when something else follows.
 */
#ifndef LW__TOKENIZE_BLOCKS_GPT2_H
#define LW__TOKENIZE_BLOCKS_GPT2_H

#include "tokenize/blocks_masks.h"

static inline uint64_t lw__gpt2_starts(const lw__masks *m)
{
    uint64_t other = m->valid & ~(m->letter | m->number | m->space);
    uint64_t runs = lw__run_firsts(m->letter) | lw__run_firsts(m->number) | lw__run_firsts(other);
    uint64_t last_spaces = m->space & (m->valid & ~m->space) >> 1;
    return (runs & ~(m->blank << 1)) | lw__run_firsts(m->space) | last_spaces;
}

#endif
