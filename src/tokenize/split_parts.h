/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the splitters are made of: one function for each family, and the rules that several share.
 *
 * The finer splitters go by kinds (unicode.h); a set of kinds is a word with a bit for each.
 */
#ifndef LW__TOKENIZE_SPLIT_PARTS_H
#define LW__TOKENIZE_SPLIT_PARTS_H

#include "tokenize/scan.h"
#include "tokenize/split.h"

typedef const unsigned char *lw__cursor;

/* The end of the piece that starts at p (p < end). */
typedef lw__cursor lw__split_next(const lw__split_rules *rules, lw__cursor p, lw__cursor end);

lw__split_next lw__split_next_o200k;
lw__split_next lw__split_next_tekken;
lw__split_next lw__split_next_qwen3_6;
lw__split_next lw__split_next_deepseek;

/* White space, in the way of cl100k: up to its last CR or LF, else but its last character. */
lw__split_next lw__split_spaces;
/* The end of a number of at most `digits` characters that starts at p. */
lw__cursor lw__split_number(lw__cursor p, lw__cursor end, uint32_t digits);

#define LW__SET(kind)   (1u << LW__KIND_##kind)
#define LW__SET_LETTERS (LW__SET(UPPER) | LW__SET(LOWER) | LW__SET(CASELESS))

typedef struct lw__rune {
    unsigned set; /* that of its kind alone */
    unsigned bytes;
} lw__rune;

/* The character at p (p < end). */
static inline lw__rune lw__split_rune(lw__cursor p, lw__cursor end)
{
    if (*p < 0x80) {
        return (lw__rune){.set = 1u << lw__kind_ascii[*p], .bytes = 1};
    }
    lw__code wide = lw__scan_code(p, end);
    return (lw__rune){.set = 1u << lw__unicode_kind(wide.code), .bytes = wide.bytes};
}

/* The end of the run of ASCII characters of the set that starts at p; p when there is none. */
static inline lw__cursor lw__split_ascii_run(lw__cursor p, lw__cursor end, unsigned set)
{
    while (p < end && *p < 0x80 && (set >> lw__kind_ascii[*p] & 1) != 0) {
        p++;
    }
    return p;
}

/* The same of all characters of the set. */
static inline lw__cursor lw__split_run(lw__cursor p, lw__cursor end, unsigned set)
{
    for (;;) {
        p = lw__split_ascii_run(p, end, set);
        if (p == end || *p < 0x80) {
            return p;
        }
        lw__rune next = lw__split_rune(p, end);
        if ((next.set & set) == 0) {
            return p;
        }
        p += next.bytes;
    }
}

/* How many characters from this one on are ideographs or kana that DeepSeek cuts out. */
static inline uint32_t lw__ideographs_from(uint32_t code)
{
    bool is_kana = code >= 0x3040 && code <= 0x30FF;
    return code >= 0x4E00 && code <= 0x9FA5 ? 0x9FA6 - code : is_kana ? 0x3100 - code : 0;
}

static inline bool lw__is_ideograph(uint32_t code)
{
    return lw__ideographs_from(code) > 0;
}

/* The end of the line ends at p. */
static inline lw__cursor lw__split_newlines(lw__cursor p, lw__cursor end)
{
    while (p < end && lw__scan_is_newline(*p)) {
        p++;
    }
    return p;
}

#endif
