/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the normalization forms need to know of characters, by Unicode 9.0.
 *
 * Written by tools/unicode-tables; docs/tokenizers.md says why this version is not that of the
 * classes. Syllables of Hangul are computed, and stand in no list.
 */
#ifndef LW__TOKENIZE_UNICODE_NFC_H
#define LW__TOKENIZE_UNICODE_NFC_H

#include <stdbool.h>

#include "tokenize/unicode.h"

#define LW__NFC_LIMIT      0x2FA80 /* from here on nothing takes part in normalization */
#define LW__NFC_CLASSES    0x32E
#define LW__NFC_APART      0x80C
#define LW__NFC_JOINED     0x3AC
#define LW__NFC_COMPATIBLE 0xE5E
#define LW__NFC_CODES      0x15DF /* of all that they become */

/* The K forms also take apart what is only compatible; the C forms join again. */
typedef enum lw__nfc_form { LW__NFC_C, LW__NFC_D, LW__NFC_KC, LW__NFC_KD } lw__nfc_form;

static inline bool lw__nfc_joins(lw__nfc_form form)
{
    return form == LW__NFC_C || form == LW__NFC_KC;
}

static inline bool lw__nfc_is_compatible(lw__nfc_form form)
{
    return form >= LW__NFC_KC;
}

typedef struct lw__nfc_class {
    uint32_t code;
    uint8_t class; /* the canonical combining class, not 0 */
} lw__nfc_class;

/* For a character that comes apart: it, and its two (or one, and 0). For two that join: both, and
 * what they become. */
typedef struct lw__nfc_three {
    uint32_t first;
    uint32_t second;
    uint32_t third;
} lw__nfc_three;

/* What a character becomes in the K forms, where the others do not say the same. */
typedef struct lw__nfc_whole {
    uint32_t code;
    uint16_t start; /* in lw__nfc_codes */
    uint16_t count;
} lw__nfc_whole;

extern const uint8_t lw__nfc_blocks[LW__NFC_LIMIT / LW__UNICODE_BLOCK];
extern const uint8_t lw__nfc_bits[]; /* two bits for each form, a byte a code point */
extern const lw__nfc_class lw__nfc_classes[LW__NFC_CLASSES];
extern const lw__nfc_three lw__nfc_apart[LW__NFC_APART];
extern const lw__nfc_three lw__nfc_joined[LW__NFC_JOINED];
extern const lw__nfc_whole lw__nfc_compatible[LW__NFC_COMPATIBLE];
extern const uint32_t lw__nfc_codes[LW__NFC_CODES];

typedef enum lw__nfc_value {
    LW__NFC_WALL,   /* no character before it has to do with it, nor has it an order */
    LW__NFC_MARK,   /* marks are put in the order of their classes */
    LW__NFC_TOUCHY, /* may join what stands before it, or is never left as it is */
} lw__nfc_value;

static inline lw__nfc_value lw__unicode_nfc(lw__nfc_form form, uint32_t code)
{
    if (code >= LW__NFC_LIMIT) {
        return LW__NFC_WALL;
    }
    size_t block = lw__nfc_blocks[code / LW__UNICODE_BLOCK];
    size_t index = block * LW__UNICODE_BLOCK + code % LW__UNICODE_BLOCK;
    return (lw__nfc_value)(((unsigned)lw__nfc_bits[index] >> (2 * (unsigned)form)) & 3u);
}

#endif
