/* SPDX-License-Identifier: Apache-2.0 */
/* find_kinds of blocks_walk.h, one character after the other. */
#ifndef LW__TOKENIZE_BLOCKS_KINDS_EACH_H
#define LW__TOKENIZE_BLOCKS_KINDS_EACH_H

#include <stdbool.h>

#include "tokenize/blocks_kinds.h"
#include "tokenize/blocks_masks.h"

static ALWAYS_INLINE void find_kinds(const unsigned char *text, lw__raw raw, uint64_t leads,
                                     bool ideographs, uint64_t kinds[static KINDS])
{
    (void)raw;
    for (uint64_t left = leads; left != 0; left &= left - 1) {
        unsigned i = lw__lowest_bit(left);
        uint32_t code = wide_code(text + i);
        unsigned kind = ideographs && lw__is_ideograph(code) ? (unsigned)KIND_IDEOGRAPH
                                                             : (unsigned)lw__unicode_kind(code);
        kinds[kind] |= (uint64_t)1 << i;
    }
}

#endif
