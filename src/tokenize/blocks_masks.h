/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The masks of a block, and what the expressions on them share. Bit i is byte i of the block, or
 * its character i once the masks are squeezed.
 */
#ifndef LW__TOKENIZE_BLOCKS_MASKS_H
#define LW__TOKENIZE_BLOCKS_MASKS_H

#include <stdint.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Expressions use some of them; what a family does not use is not computed. */
typedef struct lw__masks {
    uint64_t valid;      /* what belongs to the block */
    uint64_t ascii;      /* bytes below 0x80 */
    uint64_t letter;     /* L */
    uint64_t upper;      /* Lu, Lt */
    uint64_t caseless;   /* Lm, Lo */
    uint64_t mark;       /* M */
    uint64_t number;     /* N */
    uint64_t symbol;     /* P, S */
    uint64_t ideograph;  /* lw__is_ideograph: letters, marks and symbols */
    uint64_t space;      /* white space, line ends included */
    uint64_t newline;    /* CR, LF */
    uint64_t blank;      /* U+0020 */
    uint64_t slash;      /* U+002F */
    uint64_t apostrophe; /* U+0027 */
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

/* Of each run, what is not before the first of `from` in it. The sum carries to the end of the run
 * and clears it, but for further bits of `from`. */
static inline uint64_t lw__runs_from(uint64_t bits, uint64_t from)
{
    return (bits & ~(bits + from)) | from;
}

/* Of each run, what is not behind the last of `to` in it. */
static inline uint64_t lw__runs_to(uint64_t bits, uint64_t to)
{
    if (to == 0) {
        return 0;
    }
    for (unsigned step = 1; step < 64; step *= 2) {
        to |= bits & to >> step;
        bits &= bits >> step;
    }
    return to;
}

/* Every third from the first of each run. */
static inline uint64_t lw__run_thirds(uint64_t bits)
{
    uint64_t thirds = lw__run_firsts(bits);
    uint64_t goes_on = bits & bits >> 1 & bits >> 2 & bits >> 3;
    for (uint64_t next = thirds & goes_on; next != 0; next = next << 3 & goes_on) {
        thirds |= next << 3;
    }
    return thirds;
}

#endif
