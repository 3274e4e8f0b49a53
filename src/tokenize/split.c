/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The GPT-2 and cl100k splitters, and the choice among all of them.
 *
 * GPT-2:   's 't 're 've 'm 'll 'd | ?L+ | ?N+ | ?X+ | white space but its last character | white
 *          space. Here " ?" is one optional U+0020 and X is what is no letter, number or space.
 * cl100k:  the same contractions in any case | [not CR LF L N]?L+ | N{1,3} | ?X+ and the CR LF
 *          behind it | white space up to its last CR or LF | but its last character | all of it.
 *
 * The first alternative that matches wins, as in the patterns. Every character is matched by one
 * of them, so pieces leave no gaps.
 */
#include "tokenize/split.h"

#include <string.h>

#include "tokenize/contraction.h"
#include "tokenize/scan.h"
#include "tokenize/split_parts.h"

typedef lw__cursor cursor;

bool lw__split_rules_named(const char *name, lw__split_rules *rules)
{
    static const struct {
        const char *name;
        lw__split_rules rules;
    } named[] = {
        {"gpt2", {.family = LW__SPLIT_GPT2}},
        {"cl100k", {.family = LW__SPLIT_CL100K, .digits = 3}},
        {"o200k", {.family = LW__SPLIT_O200K, .digits = 3}},
        {"llama3", {.family = LW__SPLIT_CL100K, .digits = 3}},
        {"llama4", {.family = LW__SPLIT_O200K, .digits = 3}},
        {"qwen", {.family = LW__SPLIT_CL100K, .digits = 1}},
        {"qwen3_6", {.family = LW__SPLIT_QWEN3_6, .digits = 1}},
    };

    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        if (strcmp(name, named[i].name) == 0) {
            *rules = named[i].rules;
            return true;
        }
    }
    return false;
}

/* White space leaves its last character to what follows, unless nothing does. */
static cursor spaces_but_last(const lw__spaces *spaces, cursor start, cursor end)
{
    return spaces->end == end || spaces->last == start ? spaces->end : spaces->last;
}

static inline cursor next_gpt2(cursor p, cursor end)
{
    if (*p == '\'') {
        cursor cut = lw__contraction(p, end, 0);
        if (cut != NULL) {
            return cut;
        }
    }
    cursor body = p + (*p == ' ');
    if (body < end) {
        lw__char first = lw__scan_char(body, end);
        if (first.class != LW__CLASS_SPACE) {
            return lw__scan_run(body + first.bytes, end, first.class);
        }
    }
    lw__spaces spaces = lw__scan_spaces(p, end);
    return spaces_but_last(&spaces, p, end);
}

cursor lw__split_number(cursor p, cursor end, uint32_t digits)
{
    while (digits-- > 0 && p < end) {
        lw__char next = lw__scan_char(p, end);
        if (next.class != LW__CLASS_NUMBER) {
            break;
        }
        p += next.bytes;
    }
    return p;
}

/* The rest of a run of X that p is in, and the line ends behind it. */
static cursor symbols_end(cursor p, cursor end)
{
    p = lw__scan_run(p, end, LW__CLASS_OTHER);
    while (p < end && lw__scan_is_newline(*p)) {
        p++;
    }
    return p;
}

cursor lw__split_spaces(const lw__split_rules *rules, cursor p, cursor end)
{
    lw__spaces spaces = lw__scan_spaces(p, end);
    if (rules->trailing_whole && spaces.end == end) {
        return end;
    }
    return spaces.after_newline != NULL ? spaces.after_newline : spaces_but_last(&spaces, p, end);
}

static inline cursor next_cl100k(const lw__split_rules *rules, cursor p, cursor end)
{
    lw__char first = lw__scan_char(p, end);
    cursor body = p + first.bytes;
    if (first.class == LW__CLASS_LETTER) {
        return lw__scan_run(body, end, LW__CLASS_LETTER);
    }
    if (first.class == LW__CLASS_NUMBER) {
        return lw__split_number(p, end, rules->digits);
    }
    cursor cut = *p == '\'' ? lw__contraction_any_case(p, end) : NULL;
    if (cut != NULL) {
        return cut;
    }
    if (body < end && !lw__scan_is_newline(*p)) {
        lw__char second = lw__scan_char(body, end);
        if (second.class == LW__CLASS_LETTER) {
            return lw__scan_run(body + second.bytes, end, LW__CLASS_LETTER);
        }
        if (*p == ' ' && second.class == LW__CLASS_OTHER) {
            return symbols_end(body + second.bytes, end);
        }
    }
    return first.class == LW__CLASS_OTHER ? symbols_end(body, end)
                                          : lw__split_spaces(rules, p, end);
}

static lw__split_next *next_of(lw__split_family family)
{
    switch (family) {
    case LW__SPLIT_O200K:
        return lw__split_next_o200k;
    case LW__SPLIT_TEKKEN:
        return lw__split_next_tekken;
    case LW__SPLIT_QWEN3_6:
        return lw__split_next_qwen3_6;
    default:
        return lw__split_next_deepseek;
    }
}

size_t lw__split(const lw__split_rules *rules, const unsigned char *text, size_t bytes, size_t at,
                 size_t *ends, size_t room)
{
    cursor p = text + at;
    cursor end = text + bytes;
    size_t count = 0;
    if (rules->family == LW__SPLIT_GPT2) {
        while (p < end && count < room) {
            p = next_gpt2(p, end);
            ends[count++] = (size_t)(p - text);
        }
    } else if (rules->family == LW__SPLIT_CL100K) {
        while (p < end && count < room) {
            p = next_cl100k(rules, p, end);
            ends[count++] = (size_t)(p - text);
        }
    } else if (rules->family == LW__SPLIT_PAIRS) {
        for (size_t from = at; from < bytes && count < room; count++) {
            from = lw__pair_classes_next(rules->pairs, text, bytes, from);
            ends[count] = from;
        }
    } else {
        lw__split_next *next = next_of(rules->family);
        while (p < end && count < room) {
            p = next(rules, p, end);
            ends[count++] = (size_t)(p - text);
        }
    }
    return count;
}
