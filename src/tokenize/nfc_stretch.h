/* SPDX-License-Identifier: Apache-2.0 */
/* The part of normalization that changes a text: one stretch from a wall to the next. */
#ifndef LW__TOKENIZE_NFC_STRETCH_H
#define LW__TOKENIZE_NFC_STRETCH_H

#include "tokenize/nfc.h"
#include "tokenize/scan.h"

/* The canonical combining class of a character. */
uint32_t lw__nfc_class_of(uint32_t code);
/* Appends the normal form of [p, end), which begins at a wall or holds none, to nfc->out. */
lw_status lw__nfc_stretch(lw__nfc *nfc, const unsigned char *p, const unsigned char *end,
                          lw_error *err);

/* The character at p (p < end). */
static inline lw__code lw__nfc_code(const unsigned char *p, const unsigned char *end)
{
    return *p < 0x80 ? (lw__code){.code = *p, .bytes = 1} : lw__scan_code(p, end);
}

#endif
