/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The masks of a block, and what the expressions on them share. Bit i is byte i of the block, or
 * its character i once the masks are squeezed.
 */
#ifndef LW__TOKENIZE_BLOCKS_MASKS_H
#define LW__TOKENIZE_BLOCKS_MASKS_H

#include <stdint.h>

typedef struct lw__masks {
    uint64_t valid;   /* what belongs to the block */
    uint64_t letter;  /* L */
    uint64_t number;  /* N */
    uint64_t space;   /* white space, line ends included */
    uint64_t newline; /* CR, LF */
    uint64_t blank;   /* U+0020 */
} lw__masks;

/* Bits 0 to i. */
static inline uint64_t lw__bits_through(unsigned i)
{
    return ((uint64_t)2 << i) - 1;
}

static inline unsigned lw__lowest_bit(uint64_t bits)
{
    return (unsigned)__builtin_ctzll(bits);
}

static inline unsigned lw__highest_bit(uint64_t bits)
{
    return 63u - (unsigned)__builtin_clzll(bits);
}

/* The first of each run. */
static inline uint64_t lw__run_firsts(uint64_t bits)
{
    return bits & ~(bits << 1);
}

#endif
