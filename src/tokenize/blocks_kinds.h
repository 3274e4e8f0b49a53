/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of characters that are not ASCII, as blocks tell them apart; see find_kinds in blocks_walk.h. */
#ifndef LW__TOKENIZE_BLOCKS_KINDS_H
#define LW__TOKENIZE_BLOCKS_KINDS_H

#include <stdint.h>

#include "tokenize/split_parts.h"
#include "tokenize/unicode.h"

#define KIND_IDEOGRAPH (LW__KIND_SYMBOL + 1) /* of whatever kind */
#define KINDS          16                    /* and some that do not occur */

/* The character of two to four bytes at p. */
static inline uint32_t wide_code(const unsigned char *p)
{
    if (*p < 0xE0) {
        return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    }
    if (*p < 0xF0) {
        return (p[0] & 0xFu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    }
    return (p[0] & 0x7u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
}

#endif
