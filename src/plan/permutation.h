/* SPDX-License-Identifier: Apache-2.0 */
/* A keyed permutation of [0, count), computed per index (docs/stream.md, section 1). Pure. */
#ifndef LW__PLAN_PERMUTATION_H
#define LW__PLAN_PERMUTATION_H

#include <stdint.h>

#define LW__PERMUTATION_ROUNDS 8

typedef struct lw__permutation {
    uint64_t round_keys[LW__PERMUTATION_ROUNDS];
    uint64_t count;
    uint64_t half_mask;
    uint32_t half_bits;
} lw__permutation;

/* count is at least 1. */
lw__permutation lw__permutation_of(uint64_t key, uint64_t count);
/* index < count. */
uint64_t lw__permutation_at(const lw__permutation *permutation, uint64_t index);

#endif
