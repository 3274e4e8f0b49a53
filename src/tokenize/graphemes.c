/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules GB3 to GB999. A state says what a cluster so far may go on with: the class of its last
 * character, and what the rules that look further back have seen.
 */
#include "tokenize/graphemes.h"

#include <stdbool.h>

#include "tokenize/scan.h"
#include "tokenize/unicode_graphemes.h"

typedef struct cluster {
    lw__grapheme last;
    bool has_flag;      /* an odd number of regional indicators ends it */
    bool is_pictograph; /* a pictograph and what extends it ends it, but for a joiner */
    bool is_conjunct;   /* a consonant and what may link it ends it */
    bool is_linked;     /* a linker is among that */
} cluster;

static bool is_extension(lw__grapheme class)
{
    return class >= LW__GRAPHEME_EXTEND && class <= LW__GRAPHEME_ZWJ;
}

static bool is_control(lw__grapheme class)
{
    return class >= LW__GRAPHEME_CONTROL && class <= LW__GRAPHEME_LF;
}

/* GB6 to GB8: parts of a syllable. */
static bool is_syllable(lw__grapheme last, lw__grapheme next)
{
    switch (last) {
    case LW__GRAPHEME_L:
        return next == LW__GRAPHEME_L || next == LW__GRAPHEME_V || next == LW__GRAPHEME_LV ||
               next == LW__GRAPHEME_LVT;
    case LW__GRAPHEME_LV:
    case LW__GRAPHEME_V:
        return next == LW__GRAPHEME_V || next == LW__GRAPHEME_T;
    case LW__GRAPHEME_LVT:
    case LW__GRAPHEME_T:
        return next == LW__GRAPHEME_T;
    default:
        return false;
    }
}

static bool goes_on(const cluster *so_far, lw__grapheme next)
{
    if (is_control(so_far->last) || is_control(next)) {
        return so_far->last == LW__GRAPHEME_CR && next == LW__GRAPHEME_LF;
    }
    if (is_extension(next) || next == LW__GRAPHEME_SPACING ||
        so_far->last == LW__GRAPHEME_PREPEND || is_syllable(so_far->last, next)) {
        return true;
    }
    switch (next) {
    case LW__GRAPHEME_CONSONANT:
        return so_far->is_linked;
    case LW__GRAPHEME_PICTOGRAPH:
        return so_far->last == LW__GRAPHEME_ZWJ && so_far->is_pictograph;
    case LW__GRAPHEME_REGIONAL:
        return so_far->has_flag;
    default:
        return false;
    }
}

static void add(cluster *so_far, lw__grapheme next)
{
    bool extends = is_extension(next);
    bool links = extends && next != LW__GRAPHEME_ZWNJ;
    /* A joiner comes last before the next pictograph: behind it nothing but that keeps the state. */
    bool is_joined = so_far->last == LW__GRAPHEME_ZWJ;
    so_far->has_flag = next == LW__GRAPHEME_REGIONAL && !so_far->has_flag;
    so_far->is_pictograph =
        next == LW__GRAPHEME_PICTOGRAPH || (extends && !is_joined && so_far->is_pictograph);
    so_far->is_linked =
        links && (so_far->is_linked || (so_far->is_conjunct && next == LW__GRAPHEME_LINKER));
    so_far->is_conjunct = next == LW__GRAPHEME_CONSONANT || (links && so_far->is_conjunct);
    so_far->last = next;
}

static lw__code code_at(const unsigned char *p, const unsigned char *end)
{
    return *p < 0x80 ? (lw__code){.code = *p, .bytes = 1} : lw__scan_code(p, end);
}

size_t lw__grapheme_bytes(const unsigned char *p, const unsigned char *end)
{
    lw__code next = code_at(p, end);
    cluster so_far = {.last = LW__GRAPHEME_OTHER};
    const unsigned char *at = p;
    do {
        add(&so_far, lw__unicode_grapheme(next.code));
        at += next.bytes;
        if (at == end) {
            break;
        }
        next = code_at(at, end);
    } while (goes_on(&so_far, lw__unicode_grapheme(next.code)));
    return (size_t)(at - p);
}
