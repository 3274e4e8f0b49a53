/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks on x86-64 with AVX2 and BMI2: comparisons classify two halves of 32 bytes.
 */
#include "tokenize/blocks.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

#include "tokenize/blocks_masks.h"
#include "tokenize/unicode.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif

typedef struct lw__raw {
    __m256i low;
    __m256i high;
} lw__raw;

static inline lw__raw raw_load(const unsigned char *p, unsigned bytes)
{
    unsigned char copy[LW__BLOCK_BYTES];
    if (bytes < LW__BLOCK_BYTES) {
        memset(copy, 0, sizeof copy);
        memcpy(copy, p, bytes);
        p = copy;
    }
    return (lw__raw){.low = _mm256_loadu_si256((const void *)p),
                     .high = _mm256_loadu_si256((const void *)(p + 32))};
}

static inline uint64_t join(__m256i low, __m256i high)
{
    return (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high)
                                                     << 32;
}

static inline uint64_t raw_high(lw__raw raw)
{
    return join(raw.low, raw.high);
}

static inline uint64_t raw_equal(lw__raw raw, char byte)
{
    __m256i wanted = _mm256_set1_epi8(byte);
    return join(_mm256_cmpeq_epi8(raw.low, wanted), _mm256_cmpeq_epi8(raw.high, wanted));
}

static inline __m256i at_least(__m256i bytes, int byte)
{
    return _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, _mm256_set1_epi8((char)byte)), bytes);
}

static inline uint64_t raw_at_least(lw__raw raw, int byte)
{
    return join(at_least(raw.low, byte), at_least(raw.high, byte));
}

/* Bytes from `first` to `last`. */
static inline __m256i in_range(__m256i bytes, int first, int last)
{
    __m256i offset = _mm256_sub_epi8(bytes, _mm256_set1_epi8((char)first));
    __m256i most = _mm256_set1_epi8((char)(last - first));
    return _mm256_cmpeq_epi8(_mm256_min_epu8(offset, most), offset);
}

static inline uint64_t raw_within(lw__raw raw, int first, int last)
{
    return join(in_range(raw.low, first, last), in_range(raw.high, first, last));
}

static inline __m256i ascii_letters(__m256i bytes)
{
    return in_range(_mm256_or_si256(bytes, _mm256_set1_epi8(0x20)), 'a', 'z');
}

static inline void raw_masks(lw__raw raw, lw__masks *masks)
{
    masks->letter = join(ascii_letters(raw.low), ascii_letters(raw.high));
    masks->upper = raw_within(raw, 'A', 'Z');
    masks->number = raw_within(raw, '0', '9');
    masks->symbol = raw_within(raw, '!', '~') & ~(masks->letter | masks->number);
    masks->blank = raw_equal(raw, ' ');
    masks->space = masks->blank | raw_within(raw, '\t', '\r');
    masks->newline = raw_equal(raw, '\n') | raw_equal(raw, '\r');
}

#include "tokenize/blocks_kinds_each.h"
#include "tokenize/blocks_pair_cuts.h"
#include "tokenize/blocks_pext.h"
#include "tokenize/blocks_put_ends.h"
#include "tokenize/blocks_walk.h"

size_t lw__blocks_avx2(const lw__split_rules *rules, const unsigned char *text, size_t bytes,
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
