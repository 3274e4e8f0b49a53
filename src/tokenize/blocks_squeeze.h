/* SPDX-License-Identifier: Apache-2.0 */
/*
 * squeeze and spread of blocks_walk.h for processors without instructions for them.
 *
 * A bit moves down by the number of bits below it that are dropped. That number is taken apart into
 * powers of two: step k moves by 2^k those bits whose number has bit k. Which they are depends on the kept
 * bits alone and is found once for all masks of a block, by counting modulo 2 (the parity of the
 * dropped bits below each bit), halving the count at each step.
 */
#ifndef LW__TOKENIZE_BLOCKS_SQUEEZE_H
#define LW__TOKENIZE_BLOCKS_SQUEEZE_H

#include <stdint.h>

#define SQUEEZE_STEPS 6

typedef struct lw__squeezer {
    uint64_t keep;
    uint64_t moving[SQUEEZE_STEPS]; /* what step k moves, where it is then */
} lw__squeezer;

/* Bit i: whether the number of bits up to i that are set is odd. */
static inline uint64_t parities(uint64_t bits)
{
    for (unsigned step = 1; step < 64; step *= 2) {
        bits ^= bits << step;
    }
    return bits;
}

static inline lw__squeezer squeezer_of(uint64_t keep)
{
    lw__squeezer squeezer = {.keep = keep};
    uint64_t dropped = ~keep << 1; /* bit i: the bit below i is dropped */
    for (unsigned k = 0; k < SQUEEZE_STEPS; k++) {
        uint64_t odd = parities(dropped);
        uint64_t moving = odd & keep;
        squeezer.moving[k] = moving;
        keep = (keep ^ moving) | moving >> (1u << k);
        dropped &= ~odd;
    }
    return squeezer;
}

static inline uint64_t squeeze(uint64_t bits, const lw__squeezer *squeezer)
{
    bits &= squeezer->keep;
    for (unsigned k = 0; k < SQUEEZE_STEPS; k++) {
        uint64_t moving = bits & squeezer->moving[k];
        bits = (bits ^ moving) | moving >> (1u << k);
    }
    return bits;
}

static inline uint64_t spread(uint64_t bits, const lw__squeezer *squeezer)
{
    for (unsigned k = SQUEEZE_STEPS; k-- > 0;) {
        uint64_t moving = squeezer->moving[k];
        bits = (bits & ~(moving >> (1u << k))) | (bits << (1u << k) & moving);
    }
    return bits & squeezer->keep;
}

#endif
