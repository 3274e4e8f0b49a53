/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The break classes that grapheme clusters are made by, of Unicode 17.0.
 *
 * Written by tools/unicode-tables; docs/tokenizers.md says why this version is not that of the
 * other classes. Syllables of Hangul are computed, and stand in no table.
 */
#ifndef LW__TOKENIZE_UNICODE_GRAPHEMES_H
#define LW__TOKENIZE_UNICODE_GRAPHEMES_H

#include "tokenize/unicode.h"

#define LW__GRAPHEME_LIMIT 0xE1000 /* from here on all is LW__GRAPHEME_OTHER */

typedef enum lw__grapheme {
    LW__GRAPHEME_OTHER,
    LW__GRAPHEME_PICTOGRAPH,
    LW__GRAPHEME_CONSONANT, /* of an Indic conjunct */
    LW__GRAPHEME_CONTROL,
    LW__GRAPHEME_CR,
    LW__GRAPHEME_LF,
    LW__GRAPHEME_EXTEND, /* but those that follow */
    LW__GRAPHEME_LINKER, /* joins the consonants of a conjunct */
    LW__GRAPHEME_ZWNJ,   /* ends a conjunct */
    LW__GRAPHEME_ZWJ,
    LW__GRAPHEME_REGIONAL,
    LW__GRAPHEME_PREPEND,
    LW__GRAPHEME_SPACING,
    LW__GRAPHEME_L, /* of Hangul, as are the rest */
    LW__GRAPHEME_V,
    LW__GRAPHEME_T,
    LW__GRAPHEME_LV,
    LW__GRAPHEME_LVT
} lw__grapheme;

extern const uint8_t lw__grapheme_blocks[LW__GRAPHEME_LIMIT / LW__UNICODE_BLOCK];
extern const uint8_t lw__grapheme_bits[]; /* four bits a code point */

static inline lw__grapheme lw__unicode_grapheme(uint32_t code)
{
    enum { SYLLABLE = 0xAC00, SYLLABLES = 11172, TRAILING = 28 };

    if (code >= LW__GRAPHEME_LIMIT) {
        return LW__GRAPHEME_OTHER;
    }
    if (code - SYLLABLE < SYLLABLES) {
        return (code - SYLLABLE) % TRAILING == 0 ? LW__GRAPHEME_LV : LW__GRAPHEME_LVT;
    }
    size_t block = lw__grapheme_blocks[code / LW__UNICODE_BLOCK];
    size_t index = block * LW__UNICODE_BLOCK + code % LW__UNICODE_BLOCK;
    return (lw__grapheme)(((unsigned)lw__grapheme_bits[index / 2] >> (index % 2 * 4)) & 15u);
}

#endif
