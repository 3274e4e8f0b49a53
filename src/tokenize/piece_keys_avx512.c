/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of 8 pieces side by side with AVX-512: a lane of a vector is half a key. */
#include "tokenize/piece_keys.h"

#if defined(__x86_64__)

#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))),        \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl")
#endif

#define LANES LW__KEY_LANES

_Static_assert(LANES * sizeof(uint64_t) == sizeof(__m512i), "half a key is a lane");

typedef struct lanes {
    __m512i head; /* the first halves of the keys */
    __m512i tail;
    __mmask8 longer; /* pieces without a key */
} lanes;

/* What is above so many bits of each lane, in ones; `bits` of 64 and more leave none. */
static inline __m512i above(__m512i bits)
{
    return _mm512_sllv_epi64(_mm512_set1_epi64(-1), bits);
}

/* As lw__cache_key_of_16, of pieces that start at `starts` of the text. */
static inline lanes keys_of(const unsigned char *text, __m256i starts, __m256i lengths)
{
    const __m256i limit = _mm256_set1_epi32(LW__CACHE_KEY_BYTES + 1);
    const __m512i half = _mm512_set1_epi64(64);
    __m512i at = _mm512_cvtepu32_epi64(starts);
    __m512i row = _mm512_cvtepu32_epi64(_mm256_min_epu32(lengths, limit));
    __m512i bits = _mm512_slli_epi64(row, 3);
    __m512i tail_bits = _mm512_sub_epi64(_mm512_max_epu64(bits, half), half);
    lanes k = {.longer = _mm256_cmpge_epu32_mask(lengths, limit)};
    __mmask8 shorter = (__mmask8)~k.longer;
    __m512i head = _mm512_i64gather_epi64(at, text, 1);
    __m512i tail = _mm512_i64gather_epi64(at, text + 8, 1);
    k.head = _mm512_maskz_andnot_epi64(shorter, above(bits), head);
    k.tail = _mm512_maskz_andnot_epi64(shorter, above(tail_bits), tail);
    k.tail = _mm512_or_si512(k.tail, _mm512_slli_epi64(row, LW__CACHE_COUNT_SHIFT));
    return k;
}

/* As lw__cache_place. */
static inline __m256i places_of(const lw__cache *cache, const lanes *k)
{
    __m512i hash = _mm512_mullo_epi64(k->head, _mm512_set1_epi64((int64_t)LW__CACHE_FACTOR_HEAD));
    hash = _mm512_xor_si512(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)), k->tail);
    hash = _mm512_mullo_epi64(hash, _mm512_set1_epi64((int64_t)LW__CACHE_FACTOR));
    return _mm512_cvtepi64_epi32(_mm512_srl_epi64(hash, _mm_cvtsi32_si128((int)cache->shift)));
}

static inline void put_keys(lw__cache_key *keys, const lanes *k)
{
    const __m512i lower = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i upper = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    _mm512_storeu_si512(keys, _mm512_permutex2var_epi64(k->head, lower, k->tail));
    _mm512_storeu_si512(keys + LANES / 2, _mm512_permutex2var_epi64(k->head, upper, k->tail));
}

static inline void list_longer(lw__piece_batch *batch, size_t number, __mmask8 longer)
{
    __m256i numbers =
        _mm256_add_epi32(_mm256_set1_epi32((int)number), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    _mm256_storeu_si256((__m256i *)(batch->longer + batch->longer_count),
                        _mm256_maskz_compress_epi32(longer, numbers));
    batch->longer_count += (size_t)__builtin_popcount(longer);
}

/* The pieces from `number` on, all of which have 16 bytes of text behind their starts. */
static inline void put_lanes(lw__piece_batch *batch, const lw__cache *cache,
                             const unsigned char *text, size_t number)
{
    const __m256i one_up = _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6);
    __m256i ends = _mm256_loadu_si256((const __m256i *)(batch->ends + number));
    __m256i starts = _mm256_mask_set1_epi32(_mm256_permutexvar_epi32(one_up, ends), 1,
                                            number > 0 ? (int)batch->ends[number - 1] : 0);
    lanes k = keys_of(text, starts, _mm256_sub_epi32(ends, starts));
    _mm256_storeu_si256((__m256i *)(batch->places + number), places_of(cache, &k));
    put_keys(batch->keys + number, &k);
    list_longer(batch, number, k.longer);
    for (size_t i = number; i < number + LANES; i++) {
        __builtin_prefetch(&cache->entries[(size_t)batch->places[i] * 2]);
    }
}

void lw__piece_keys_avx512(lw__piece_batch *batch, const lw__cache *cache,
                           const unsigned char *text, size_t bytes, size_t count)
{
    size_t number = 0;
    batch->longer_count = 0;
    for (; number + LANES <= count && bytes - batch->ends[number + LANES - 2] >= 16;
         number += LANES) {
        put_lanes(batch, cache, text, number);
    }
    for (; number < count; number++) {
        lw__piece_keys_put(batch, cache, text, bytes, number);
    }
}

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
