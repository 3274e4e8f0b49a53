/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The precompiled character map of a SentencePiece model: a double array of texts and what each is
 * replaced with. The bytes are those of the file; nothing is copied.
 *
 * sentencepiece replaces the longest text at a place. The Precompiled of tokenizers goes by grapheme
 * clusters, of which it looks at the shortest text that one starts with.
 */
#ifndef LW__TOKENIZE_CHARSMAP_H
#define LW__TOKENIZE_CHARSMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

typedef struct lw__charsmap {
    const unsigned char *units; /* 32-bit little-endian; NULL: no map */
    size_t unit_count;
    const char *texts; /* each ends at a NUL, and so does the last */
    size_t text_bytes;
    bool starts[256]; /* the bytes that a replaced text can start with */
    bool alone[128];  /* ASCII that is such a text */
} lw__charsmap;

/* Finds the parts of the bytes; false when they are not those of a map. */
bool lw__charsmap_open(lw__charsmap *map, const unsigned char *bytes, size_t count);

/*
 * The longest replaced text that starts at p: its byte count, 0 when there is none, and what it
 * becomes.
 */
size_t lw__charsmap_longest(const lw__charsmap *map, const unsigned char *p, size_t bytes,
                            lw_str *becomes);

/* What the shortest replaced text becomes that starts at p; false when there is none. */
bool lw__charsmap_first(const lw__charsmap *map, const unsigned char *p, size_t bytes,
                        lw_str *becomes);

/* Whether a text that starts with this ASCII character, alone or before another, is replaced. */
bool lw__charsmap_has_ascii(const lw__charsmap *map, unsigned char byte);

#endif
