/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counter-based randomness: the mixing function, keys, and the Feistel permutation. All of it is
 * part of the stream's definition (docs/stream.md, section 1), so no line here may change a value.
 */
#include <laneway/random.h>

#include "plan/permutation.h"

static const uint64_t golden = 0x9E3779B97F4A7C15u;

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9u;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBu;
    x ^= x >> 31;
    return x;
}

uint64_t lw_random_key(uint64_t seed, uint64_t purpose, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t h = mix((seed ^ purpose) + golden);
    h = mix((h ^ a) + golden);
    h = mix((h ^ b) + golden);
    return mix((h ^ c) + golden);
}

/* The smallest half width >= 1 whose square domain covers count. */
static uint32_t half_bits_for(uint64_t count)
{
    uint32_t bits = 1;
    while (bits < 32 && (count - 1) >> (2 * bits) != 0) {
        bits++;
    }
    return bits;
}

lw__permutation lw__permutation_of(uint64_t key, uint64_t count)
{
    lw__permutation p = {.count = count, .half_bits = half_bits_for(count)};
    p.half_mask = (UINT64_C(1) << p.half_bits) - 1;
    for (uint32_t round = 0; round < LW__PERMUTATION_ROUNDS; round++) {
        p.round_keys[round] = mix(key + (round + 1) * golden);
    }
    return p;
}

uint64_t lw__permutation_at(const lw__permutation *p, uint64_t index)
{
    uint64_t x = index;
    do {
        uint64_t left = x >> p->half_bits;
        uint64_t right = x & p->half_mask;
        for (uint32_t round = 0; round < LW__PERMUTATION_ROUNDS; round++) {
            uint64_t next = left ^ (mix(p->round_keys[round] ^ right) & p->half_mask);
            left = right;
            right = next;
        }
        x = (left << p->half_bits) | right;
    } while (x >= p->count);
    return x;
}

uint64_t lw_random_permute(uint64_t key, uint64_t count, uint64_t index)
{
    lw__permutation p = lw__permutation_of(key, count > 0 ? count : 1);
    return count > 1 ? lw__permutation_at(&p, index) : 0;
}
