/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normalization forms of Unicode 9.0, for vocabularies that ask for one.
 *
 * Text that is in this form already, which is nearly all, is only looked at. Else the stretches
 * that are not are taken apart, put in order and, in the C forms, joined; whatever they hold, this takes linear time.
 */
#ifndef LW__TOKENIZE_NFC_H
#define LW__TOKENIZE_NFC_H

#include "base/bytes.h"
#include "tokenize/unicode_nfc.h"

/* What one thread needs. All zeros is ready for form C. */
typedef struct lw__nfc {
    lw__nfc_form form; /* may be set before a call */
    lw__bytes out;
    uint32_t *units; /* a character << 8 | its combining class */
    uint32_t *spare; /* the same room, to sort into */
    size_t capacity;
} lw__nfc;

void lw__nfc_reset(lw__nfc *nfc);

/*
 * The normal form of a text of valid UTF-8: the text itself, or bytes that hold until the next
 * call.
 */
lw_status lw__nfc_normalize(lw__nfc *nfc, lw_str text, lw_str *out, lw_error *err);

#endif
