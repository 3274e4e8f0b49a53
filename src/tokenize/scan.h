/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking UTF-8 by character class: what all splitters share.
 *
 * Bytes below 0x80 are classified by one table; only the others are decoded. All reads stay
 * below `end`, also for a character cut short.
 */
#ifndef LW__TOKENIZE_SCAN_H
#define LW__TOKENIZE_SCAN_H

#include <stdbool.h>

#include "base/bytes.h"
#include "tokenize/unicode.h"

/* The class of an ASCII byte; 0xFF for bytes from 0x80 on, which equals no class. */
extern const uint8_t lw__scan_ascii[256];

typedef struct lw__char {
    unsigned class;
    unsigned bytes;
} lw__char;

/* A byte that can not start a character, or a character cut short, is one byte of no class. */
#define LW__STRAY UINT32_MAX

typedef struct lw__code {
    uint32_t code;
    unsigned bytes;
} lw__code;

typedef struct lw__spaces {
    const unsigned char *end;           /* of the run */
    const unsigned char *last;          /* the start of its last character */
    const unsigned char *after_newline; /* behind its last CR or LF; NULL without one */
} lw__spaces;

/* The character at p (p < end) that does not start with an ASCII byte. */
lw__code lw__scan_code(const unsigned char *p, const unsigned char *end);
/* Appends a character. */
void lw__scan_put(lw__bytes *out, uint32_t code);
lw__char lw__scan_wide(const unsigned char *p, const unsigned char *end);
/* The run of white space at p, which is not empty. */
lw__spaces lw__scan_spaces(const unsigned char *p, const unsigned char *end);

static inline lw__char lw__scan_char(const unsigned char *p, const unsigned char *end)
{
    if (*p < 0x80) {
        return (lw__char){.class = lw__scan_ascii[*p], .bytes = 1};
    }
    return lw__scan_wide(p, end);
}

static inline bool lw__scan_is_newline(unsigned char byte)
{
    return byte == '\n' || byte == '\r';
}

/* The end of the run of `class` that p is in. */
static inline const unsigned char *lw__scan_run(const unsigned char *p, const unsigned char *end,
                                                unsigned class)
{
    for (;;) {
        while (p < end && lw__scan_ascii[*p] == class) {
            p++;
        }
        if (p == end || *p < 0x80) {
            return p;
        }
        lw__char wide = lw__scan_wide(p, end);
        if (wide.class != class) {
            return p;
        }
        p += wide.bytes;
    }
}

#endif
