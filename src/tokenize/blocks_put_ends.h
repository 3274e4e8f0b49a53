/* SPDX-License-Identifier: Apache-2.0 */
/* put_ends of blocks_walk.h for processors that can not compress a vector of bytes. */
#ifndef LW__TOKENIZE_BLOCKS_PUT_ENDS_H
#define LW__TOKENIZE_BLOCKS_PUT_ENDS_H

#include "tokenize/blocks_masks.h"

/* Four at a time, past the last one too: a jump for each would often be guessed wrong. */
static inline void put_ends(uint32_t *ends, uint64_t cuts, uint32_t base)
{
    while (cuts != 0) {
        for (unsigned i = 0; i < 4; i++) {
            ends[i] = base + (uint32_t)(cuts == 0 ? 0 : lw__lowest_bit(cuts));
            cuts &= cuts - 1;
        }
        ends += 4;
    }
}

#endif
