/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find_kinds of blocks_walk.h with AVX-512 VBMI. Characters that differ in their last byte alone are a page
 * of 64, whose kinds fill a vector: one permutation by last bytes finds those of all characters of the page. Text of one
 * language has few pages.
 */
#ifndef LW__TOKENIZE_BLOCKS_KINDS_PAGES_H
#define LW__TOKENIZE_BLOCKS_KINDS_PAGES_H

#include <immintrin.h>
#include <stdbool.h>

#include "tokenize/blocks_kinds.h"
#include "tokenize/blocks_masks.h"

#define PAGE 64 /* code points */

/* The bytes of a block, and those behind each of them. */
typedef struct page_bytes {
    __m512i first;
    __m512i second;
    __m512i third;
    __m512i fourth;
} page_bytes;

/* Each byte that is `count` behind; what the last ones become is of no use. */
static ALWAYS_INLINE __m512i bytes_behind(__m512i raw, __m512i places, char count)
{
    return _mm512_permutexvar_epi8(_mm512_add_epi8(places, _mm512_set1_epi8(count)), raw);
}

/* The kinds of the page of a character. */
static ALWAYS_INLINE __m512i page_of(uint32_t code, bool ideographs)
{
    if (code >= LW__KIND_LIMIT) {
        return _mm512_setzero_si512();
    }
    size_t at = (size_t)lw__kind_blocks[code / LW__UNICODE_BLOCK] * LW__UNICODE_BLOCK +
                code % LW__UNICODE_BLOCK / PAGE * PAGE;
    __m256i pairs = _mm256_loadu_si256((const __m256i *)(lw__kind_bits + at / 2));
    __m512i wide = _mm512_cvtepu8_epi16(pairs);
    wide = _mm512_or_si512(wide, _mm512_slli_epi16(wide, 4));
    __m512i kinds = _mm512_and_si512(wide, _mm512_set1_epi8(0xF));
    uint32_t count = ideographs ? lw__ideographs_from(code - code % PAGE) : 0;
    uint64_t which = count == 0 ? 0 : lw__bits_through(count < PAGE ? count - 1 : PAGE - 1);
    return _mm512_mask_mov_epi8(kinds, which, _mm512_set1_epi8(KIND_IDEOGRAPH));
}

/* Those of `leads` that are on the page of the character at p, and where their last bytes are. */
static ALWAYS_INLINE __mmask64 same_page(const unsigned char *p, uint64_t leads,
                                         const page_bytes *bytes, __m512i *last)
{
    __mmask64 same = _mm512_mask_cmpeq_epi8_mask(leads, bytes->first, _mm512_set1_epi8((char)p[0]));
    *last = bytes->second;
    if (p[0] >= 0xE0) {
        same = _mm512_mask_cmpeq_epi8_mask(same, bytes->second, _mm512_set1_epi8((char)p[1]));
        *last = bytes->third;
    }
    if (p[0] >= 0xF0) {
        same = _mm512_mask_cmpeq_epi8_mask(same, bytes->third, _mm512_set1_epi8((char)p[2]));
        *last = bytes->fourth;
    }
    return same;
}

static ALWAYS_INLINE void find_kinds(const unsigned char *text, lw__raw raw, uint64_t leads,
                                     bool ideographs, uint64_t kinds[static KINDS])
{
    __m512i places = _mm512_load_si512(iota);
    page_bytes bytes = {.first = raw,
                        .second = bytes_behind(raw, places, 1),
                        .third = bytes_behind(raw, places, 2),
                        .fourth = bytes_behind(raw, places, 3)};
    __m512i found = _mm512_setzero_si512();
    for (uint64_t left = leads; left != 0;) {
        const unsigned char *p = text + lw__lowest_bit(left);
        __m512i last;
        __mmask64 same = same_page(p, left, &bytes, &last);
        found = _mm512_mask_permutexvar_epi8(found, same, last, page_of(wide_code(p), ideographs));
        left &= ~(uint64_t)same;
    }
    for (unsigned kind = 1; kind <= KIND_IDEOGRAPH; kind++) {
        kinds[kind] = _mm512_mask_cmpeq_epi8_mask(leads, found, _mm512_set1_epi8((char)kind));
    }
}

#endif
