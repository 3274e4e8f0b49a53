/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 by the table of well-formed sequences. ASCII passes 32 bytes at a time. Other text is
 * checked 32 bytes at a time too where AVX2 is there: each pair of neighbouring bytes is looked up
 * in three tables of 16 by their half bytes, giving the set of faults that the pair may be part of.
 * The vector form only says that a stretch is well-formed; the place of a fault always comes from
 * the plain form, so both give the same result.
 */
#include "base/utf8.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/cpu.h"

#if defined(__x86_64__) && !defined(LW__NO_SIMD)
#define HAVE_AVX2_FORM 1
#include <immintrin.h>
#else
#define HAVE_AVX2_FORM 0
#endif

#define HIGH_BITS UINT64_C(0x8080808080808080)

static uint64_t load8(const unsigned char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

/* The bytes in a character that starts with `lead`; 0 when none does. */
static size_t sequence_bytes(unsigned lead)
{
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xC2) {
        return 0;
    }
    if (lead < 0xE0) {
        return 2;
    }
    if (lead < 0xF0) {
        return 3;
    }
    return lead < 0xF5 ? 4 : 0;
}

/*
 * Passes one well-formed character (*whole) or one maximal ill-formed part: the longest beginning
 * of a character, or a single byte. Returns its bytes, at least 1.
 */
static size_t take(const unsigned char *p, size_t left, bool *whole)
{
    unsigned lead = *p;
    size_t wanted = sequence_bytes(lead);
    unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    *whole = wanted > 0;
    for (size_t i = 1; i < wanted; i++) {
        if (i == left || p[i] < low || p[i] > high) {
            *whole = false;
            return i;
        }
        low = 0x80;
        high = 0xBF;
    }
    return wanted > 0 ? wanted : 1;
}

static const unsigned char *pass_ascii(const unsigned char *p, const unsigned char *end)
{
    while (end - p >= 32) {
        uint64_t any = load8(p) | load8(p + 8) | load8(p + 16) | load8(p + 24);
        if ((any & HIGH_BITS) != 0) {
            break;
        }
        p += 32;
    }
    while (end - p >= 8 && (load8(p) & HIGH_BITS) == 0) {
        p += 8;
    }
    while (p < end && *p < 0x80) {
        p++;
    }
    return p;
}

/* The first fault from p on, which stands at the start of a character; end when there is none. */
static const unsigned char *find_fault(const unsigned char *p, const unsigned char *end)
{
    for (;;) {
        p = pass_ascii(p, end);
        while (p < end && *p >= 0x80) {
            bool whole = false;
            size_t count = take(p, (size_t)(end - p), &whole);
            if (!whole) {
                return p;
            }
            p += count;
        }
        if (p == end) {
            return end;
        }
    }
}

#if HAVE_AVX2_FORM

/* What can be wrong with a pair of bytes; a bit that all three tables give is a fault. */
enum {
    TOO_SHORT = 1 << 0,    /* a lead without a continuation */
    TOO_LONG = 1 << 1,     /* ASCII, then a continuation */
    OVERLONG_3 = 1 << 2,   /* E0 80-9F */
    TOO_LARGE = 1 << 3,    /* F4 90-BF, F5-FF 90-BF */
    SURROGATE = 1 << 4,    /* ED A0-BF */
    OVERLONG_2 = 1 << 5,   /* C0, C1 */
    FAR_OR_LOW_4 = 1 << 6, /* F0 80-8F, F5-FF 80-8F */
    TWO_CONTINUED = 1 << 7 /* two continuations: right only as the rest of 3 or 4 bytes */
};

#define CARRIED (TOO_SHORT | TOO_LONG | TWO_CONTINUED)
#define TWICE(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__, __VA_ARGS__                                                                   \
    }

static const uint8_t by_first_high[32] = TWICE(
    TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, /* ASCII */
    TWO_CONTINUED, TWO_CONTINUED, TWO_CONTINUED, TWO_CONTINUED, TOO_SHORT | OVERLONG_2, TOO_SHORT,
    TOO_SHORT | OVERLONG_3 | SURROGATE, TOO_SHORT | TOO_LARGE | FAR_OR_LOW_4);

static const uint8_t by_first_low[32] =
    TWICE(CARRIED | OVERLONG_3 | OVERLONG_2 | FAR_OR_LOW_4, CARRIED | OVERLONG_2, CARRIED, CARRIED,
          CARRIED | TOO_LARGE, CARRIED | TOO_LARGE | FAR_OR_LOW_4,
          CARRIED | TOO_LARGE | FAR_OR_LOW_4, CARRIED | TOO_LARGE | FAR_OR_LOW_4,
          CARRIED | TOO_LARGE | FAR_OR_LOW_4, CARRIED | TOO_LARGE | FAR_OR_LOW_4,
          CARRIED | TOO_LARGE | FAR_OR_LOW_4, CARRIED | TOO_LARGE | FAR_OR_LOW_4,
          CARRIED | TOO_LARGE | FAR_OR_LOW_4, CARRIED | TOO_LARGE | FAR_OR_LOW_4 | SURROGATE,
          CARRIED | TOO_LARGE | FAR_OR_LOW_4, CARRIED | TOO_LARGE | FAR_OR_LOW_4);

static const uint8_t by_second_high[32] =
    TWICE(TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
          TOO_LONG | OVERLONG_2 | TWO_CONTINUED | OVERLONG_3 | FAR_OR_LOW_4,
          TOO_LONG | OVERLONG_2 | TWO_CONTINUED | OVERLONG_3 | TOO_LARGE,
          TOO_LONG | OVERLONG_2 | TWO_CONTINUED | SURROGATE | TOO_LARGE,
          TOO_LONG | OVERLONG_2 | TWO_CONTINUED | SURROGATE | TOO_LARGE, TOO_SHORT, TOO_SHORT,
          TOO_SHORT, TOO_SHORT);

#define AVX2 __attribute__((target("avx2")))

AVX2 static __m256i load32(const uint8_t *p)
{
    return _mm256_loadu_si256((const __m256i_u *)p);
}

AVX2 static __m256i half_lookup(const uint8_t table[32], __m256i halves)
{
    return _mm256_shuffle_epi8(load32(table), halves);
}

AVX2 static __m256i high_halves(__m256i v)
{
    return _mm256_and_si256(_mm256_srli_epi16(v, 4), _mm256_set1_epi8(0x0F));
}

/* Non-zero bytes where v, preceded by `before`, has a fault. */
AVX2 static __m256i faults_in(__m256i v, __m256i before)
{
    __m256i joined = _mm256_permute2x128_si256(before, v, 0x21);
    __m256i back1 = _mm256_alignr_epi8(v, joined, 15);
    __m256i back2 = _mm256_alignr_epi8(v, joined, 14);
    __m256i back3 = _mm256_alignr_epi8(v, joined, 13);
    __m256i low = _mm256_and_si256(back1, _mm256_set1_epi8(0x0F));
    __m256i pairs =
        _mm256_and_si256(_mm256_and_si256(half_lookup(by_first_high, high_halves(back1)),
                                          half_lookup(by_first_low, low)),
                         half_lookup(by_second_high, high_halves(v)));
    /* The top bit stands where a third or fourth byte has to be, so it must equal TWO_CONTINUED. */
    __m256i third = _mm256_subs_epu8(back2, _mm256_set1_epi8(0xE0 - 0x80));
    __m256i fourth = _mm256_subs_epu8(back3, _mm256_set1_epi8(0xF0 - 0x80));
    __m256i owed = _mm256_and_si256(_mm256_or_si256(third, fourth), _mm256_set1_epi8((char)0x80));
    return _mm256_xor_si256(owed, pairs);
}

/* Passes chunks that show no fault; may stop inside a character, or one chunk after its start. */
AVX2 static const unsigned char *pass_chunks(const unsigned char *p, const unsigned char *end)
{
    __m256i before = _mm256_setzero_si256();
    while (end - p >= 32) {
        __m256i v = load32(p);
        if (_mm256_movemask_epi8(_mm256_or_si256(v, before)) != 0) {
            __m256i faults = faults_in(v, before);
            if (!_mm256_testz_si256(faults, faults)) {
                break;
            }
        }
        before = v;
        p += 32;
    }
    /* Compilers add this from -O2 up only; without it the caller's SSE code crawls. */
    _mm256_zeroupper();
    return p;
}

/* Goes back to the start of the character that p may stand in, but not before begin. */
static const unsigned char *back_to_start(const unsigned char *p, const unsigned char *begin)
{
    for (size_t back = 1; back <= 3 && back <= (size_t)(p - begin); back++) {
        if (p[-(ptrdiff_t)back] >= 0xC0) {
            return p - back;
        }
        if (p[-(ptrdiff_t)back] < 0x80) {
            break;
        }
    }
    return p;
}

#endif

size_t lw__utf8_check(const void *bytes, size_t count)
{
    const unsigned char *begin = bytes;
    if (count == 0) {
        return 0;
    }
    const unsigned char *end = begin + count;
    const unsigned char *p = begin;
#if HAVE_AVX2_FORM
    if (count >= 32 && lw__cpu_has_avx2()) {
        p = back_to_start(pass_chunks(begin, end), begin);
    }
#endif
    return (size_t)(find_fault(p, end) - begin);
}

size_t lw__utf8_repair(const void *bytes, size_t count, void *out)
{
    const unsigned char *p = bytes;
    unsigned char *to = out;
    size_t left = count;
    while (left > 0) {
        size_t good = lw__utf8_check(p, left);
        memcpy(to, p, good);
        to += good;
        p += good;
        left -= good;
        if (left > 0) {
            bool whole = false;
            size_t bad = take(p, left, &whole);
            *to++ = 0xEF; /* U+FFFD */
            *to++ = 0xBF;
            *to++ = 0xBD;
            p += bad;
            left -= bad;
        }
    }
    return (size_t)(to - (unsigned char *)out);
}
