/* SPDX-License-Identifier: Apache-2.0 */
/* squeeze and spread of blocks_walk.h by the instructions of BMI2. */
#ifndef LW__TOKENIZE_BLOCKS_PEXT_H
#define LW__TOKENIZE_BLOCKS_PEXT_H

#include <immintrin.h>
#include <stdint.h>

typedef struct lw__squeezer {
    uint64_t keep;
} lw__squeezer;

static inline lw__squeezer squeezer_of(uint64_t keep)
{
    return (lw__squeezer){.keep = keep};
}

static inline uint64_t squeeze(uint64_t bits, const lw__squeezer *squeezer)
{
    return _pext_u64(bits, squeezer->keep);
}

static inline uint64_t spread(uint64_t bits, const lw__squeezer *squeezer)
{
    return _pdep_u64(bits, squeezer->keep);
}

#endif
