/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on x86-64 with AVX-512 VBMI2: one table look-up classifies all 64 bytes, one compress
 * writes their cuts.
 */
#include "tokenize/blocks.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "tokenize/blocks_masks.h"
#include "tokenize/unicode.h"

#if defined(__clang__)
#pragma clang attribute push(                                                                      \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt"))),   \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,popcnt")
#endif

enum { LOWER = 1, UPPER = 2, NUMBER = 4, SYMBOL = 8, SPACE = 16, NEWLINE = 32, BLANK = 64 };

#define L LOWER
#define U UPPER
#define N NUMBER
#define P SYMBOL
#define S SPACE
#define E (SPACE | NEWLINE)
#define B (SPACE | BLANK)

/* clang-format off */
static const uint8_t classes[128] __attribute__((aligned(64))) = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, S, E, S, S, E, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    B, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, N, N, N, N, N, N, N, N, N, N, P, P, P, P, P, P,
    P, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U, P, P, P, P, P,
    P, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, P, P, P, P, 0,
};

static const uint8_t iota[64] __attribute__((aligned(64))) = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
    26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49,
    50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
};
/* clang-format on */

#undef L
#undef U
#undef N
#undef P
#undef S
#undef E
#undef B

typedef __m512i lw__raw;

static inline lw__raw raw_load(const unsigned char *p, unsigned bytes)
{
    /* A load under a mask waits for the mask, so only the end of a text has one. */
    return __builtin_expect(bytes == LW__BLOCK_BYTES, 1)
               ? _mm512_loadu_si512(p)
               : _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, bytes), p);
}

static inline uint64_t raw_high(lw__raw raw)
{
    return _mm512_movepi8_mask(raw);
}

static inline uint64_t raw_equal(lw__raw raw, char byte)
{
    return _mm512_cmpeq_epi8_mask(raw, _mm512_set1_epi8(byte));
}

static inline uint64_t raw_at_least(lw__raw raw, int byte)
{
    return _mm512_cmpge_epu8_mask(raw, _mm512_set1_epi8((char)byte));
}

static inline uint64_t raw_within(lw__raw raw, int first, int last)
{
    __m512i offset = _mm512_sub_epi8(raw, _mm512_set1_epi8((char)first));
    return _mm512_cmple_epu8_mask(offset, _mm512_set1_epi8((char)(last - first)));
}

static inline void raw_masks(lw__raw raw, lw__masks *masks)
{
    __m512i low = _mm512_load_si512(classes);
    __m512i high = _mm512_load_si512(classes + 64);
    __mmask64 ascii = ~_mm512_movepi8_mask(raw);
    __m512i found = _mm512_maskz_permutex2var_epi8(ascii, low, raw, high);
    masks->letter = _mm512_test_epi8_mask(found, _mm512_set1_epi8(LOWER | UPPER));
    masks->upper = _mm512_test_epi8_mask(found, _mm512_set1_epi8(UPPER));
    masks->number = _mm512_test_epi8_mask(found, _mm512_set1_epi8(NUMBER));
    masks->symbol = _mm512_test_epi8_mask(found, _mm512_set1_epi8(SYMBOL));
    masks->space = _mm512_test_epi8_mask(found, _mm512_set1_epi8(SPACE));
    masks->newline = _mm512_test_epi8_mask(found, _mm512_set1_epi8(NEWLINE));
    masks->blank = _mm512_test_epi8_mask(found, _mm512_set1_epi8(BLANK));
}

static inline void put_sixteen(uint32_t *ends, __m128i places, __m512i base)
{
    _mm512_storeu_si512(ends, _mm512_add_epi32(_mm512_cvtepu8_epi32(places), base));
}

static inline void put_ends(uint32_t *ends, uint64_t cuts, uint32_t base)
{
    __m512i places = _mm512_maskz_compress_epi8(cuts, _mm512_load_si512(iota));
    __m512i bases = _mm512_set1_epi32((int)base);
    put_sixteen(ends, _mm512_castsi512_si128(places), bases);
    put_sixteen(ends + 16, _mm512_extracti32x4_epi32(places, 1), bases);
    if (__builtin_popcountll(cuts) > 32) {
        put_sixteen(ends + 32, _mm512_extracti32x4_epi32(places, 2), bases);
        put_sixteen(ends + 48, _mm512_extracti32x4_epi32(places, 3), bases);
    }
}

/* A table of 256 bytes, looked up by 64 of them. */
static inline __m512i look_up(const uint8_t *table, __m512i raw)
{
    __m512i low =
        _mm512_permutex2var_epi8(_mm512_loadu_si512(table), raw, _mm512_loadu_si512(table + 64));
    __m512i high = _mm512_permutex2var_epi8(_mm512_loadu_si512(table + 128), raw,
                                            _mm512_loadu_si512(table + 192));
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(raw), low, high);
}

static inline uint64_t pair_cuts(const lw__pair_classes *pairs, const unsigned char *p)
{
    __m512i joined = look_up(pairs->joined, _mm512_loadu_si512(p));
    __m512i class = look_up(pairs->class, _mm512_loadu_si512(p + 1));
    return _mm512_testn_epi8_mask(joined, class);
}

#include "tokenize/blocks_kinds_pages.h"
#include "tokenize/blocks_pext.h"
#include "tokenize/blocks_walk.h"

size_t lw__blocks_avx512(const lw__split_rules *rules, const unsigned char *text, size_t bytes,
                         uint32_t *ends, size_t room)
{
    return walk_blocks(rules, text, bytes, ends, room);
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
