/* SPDX-License-Identifier: Apache-2.0 */
/* pair_cuts of blocks_walk.h for processors that can not look 64 bytes up at once. */
#ifndef LW__TOKENIZE_BLOCKS_PAIR_CUTS_H
#define LW__TOKENIZE_BLOCKS_PAIR_CUTS_H

#include "tokenize/blocks.h"

static inline uint64_t pair_cuts(const lw__pair_classes *pairs, const unsigned char *p)
{
    uint64_t cuts = 0;
    for (unsigned i = 0; i < LW__BLOCK_BYTES; i++) {
        cuts |= (uint64_t)lw__pair_classes_cut(pairs, p[i], p[i + 1]) << i;
    }
    return cuts;
}

#endif
