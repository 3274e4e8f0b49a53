/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding strings of JSON 64 bytes at a time with AVX-512 VBMI2: masks say where escapes are, one
 * table look-up what they stand for, and one compress takes the backslashes out.
 */
#include "base/json_string.h"

#if LW__JSON_HAS_AVX512

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt"))),            \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")
#endif

enum { BLOCK = 64 };

#define EVEN UINT64_C(0x5555555555555555)

/*
 * The backslashes that begin an escape: in each run of them every second one, from its first on.
 * Adding the starts of some runs to all of them carries just those runs away.
 */
static inline uint64_t escapes_of(uint64_t slashes)
{
    uint64_t starts = slashes & ~(slashes << 1);
    uint64_t from_even = slashes & ~(slashes + (starts & EVEN));
    uint64_t from_odd = slashes & ~from_even;
    return (from_even & EVEN) | (from_odd & ~EVEN);
}

/* The places before the first of `stops`. */
static inline uint64_t before(uint64_t stops)
{
    return _blsmsk_u64(stops) & ~stops;
}

/* What the letters of one-letter escapes stand for, and 0 for all others. */
static inline __m512i unescape(__m512i letters)
{
    __m512i meant = _mm512_permutex2var_epi8(_mm512_loadu_si512(lw__json_unescaped), letters,
                                             _mm512_loadu_si512(lw__json_unescaped + BLOCK));
    return _mm512_maskz_mov_epi8((__mmask64)~_mm512_movepi8_mask(letters), meant);
}

/* The bytes of a block that have a part in what follows. */
typedef struct found {
    uint64_t slashes;
    uint64_t stops; /* quotes and control bytes */
} found;

static inline found find(__m512i v)
{
    return (found){.slashes = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\')),
                   .stops = _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('"')) |
                            _mm512_cmplt_epu8_mask(v, _mm512_set1_epi8(0x20))};
}

/* Decodes a block to *to, up to the first thing that ends a run; returns a bit for each byte before it. */
static inline uint64_t decode_block(__m512i v, found f, unsigned char **to)
{
    uint64_t escapes = escapes_of(f.slashes);
    uint64_t letters = escapes << 1;
    __m512i meant = unescape(v);
    uint64_t known = _mm512_test_epi8_mask(meant, meant) & letters;
    uint64_t cut = escapes & UINT64_C(1) << 63; /* its letter is in the next block */
    uint64_t taken = before((f.stops & ~known) | ((letters & ~known) >> 1) | cut);
    uint64_t kept = taken & ~escapes;
    unsigned count = (unsigned)__builtin_popcountll(kept);
    v = _mm512_mask_mov_epi8(v, known, meant);
    _mm512_mask_storeu_epi8(*to, _bzhi_u64(~UINT64_C(0), count),
                            _mm512_maskz_compress_epi8(kept, v));
    *to += count;
    return taken;
}

/* Most blocks are whole: the next one begins at a place that no mask has to be waited for. */
unsigned char *lw__json_decode_avx512(unsigned char *in, const unsigned char *end,
                                      unsigned char **out)
{
    unsigned char *to = *out;
    uint64_t taken = ~UINT64_C(0);
    while (end - in >= BLOCK && taken >> (BLOCK - 2) != 0) {
        __m512i v = _mm512_loadu_si512(in);
        found f = find(v);
        if ((f.slashes | f.stops) == 0) {
            _mm512_storeu_si512(to, v);
            to += BLOCK;
            in += BLOCK;
            continue;
        }
        taken = decode_block(v, f, &to);
        in += taken == ~UINT64_C(0) ? BLOCK : __builtin_popcountll(taken);
    }
    *out = to;
    return in;
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
