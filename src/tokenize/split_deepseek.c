/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitter of DeepSeek V3 and R1, a sequence of three.
 *
 * First numbers are cut out, N{1,3}; then runs of ideographs and kana, [4E00-9FA5 3040-30FF]+; what is
 * left between these walls is cut by a third pattern, to which a wall is the end of the text:
 *
 *          one ASCII P or S and [A-Za-z]+ | [not CR LF L P S]?[L M]+ | ?[P S]+ and the CR LF behind it |
 *          white space up to its last CR or LF | but its last character | all of it.
 *
 * Controls and the like match none of these, unless as the first character of a word: a run of them
 * is a piece.
 */
#include "tokenize/split_parts.h"

#define WORD    (LW__SET_LETTERS | LW__SET(MARK))
#define SYMBOLS (LW__SET(PUNCTUATION) | LW__SET(SYMBOL))
#define WALL    (1u << 31) /* a number, an ideograph or a kana */
#define CJK     (1u << 30) /* those of them that are no number */

typedef lw__cursor cursor;

/* The character at p; nothing at all at the end of the text and at walls. */
static inline lw__rune rune_at(cursor p, cursor end)
{
    if (p == end) {
        return (lw__rune){.set = WALL, .bytes = 0};
    }
    if (*p < 0x80) {
        unsigned set = 1u << lw__kind_ascii[*p];
        return (lw__rune){.set = set == LW__SET(NUMBER) ? WALL : set, .bytes = 1};
    }
    lw__code wide = lw__scan_code(p, end);
    unsigned set = 1u << lw__unicode_kind(wide.code);
    if (lw__is_ideograph(wide.code)) {
        set = WALL | CJK;
    } else if (set == LW__SET(NUMBER)) {
        set = WALL;
    }
    return (lw__rune){.set = set, .bytes = wide.bytes};
}

static cursor run(cursor p, cursor end, unsigned set)
{
    for (;;) {
        p = lw__split_ascii_run(p, end, set);
        lw__rune next = rune_at(p, end);
        if ((next.set & set) == 0) {
            return p;
        }
        p += next.bytes;
    }
}

static bool is_ascii_letter(unsigned char byte)
{
    return (unsigned char)((byte | 0x20) - 'a') < 26;
}

static cursor ascii_word(cursor p, cursor end)
{
    while (p < end && is_ascii_letter(*p)) {
        p++;
    }
    return p;
}

/* The rest of a run of symbols, and the line ends behind it. */
static cursor symbols_end(cursor p, cursor end)
{
    return lw__split_newlines(run(p, end, SYMBOLS), end);
}

/* White space leaves its last character to what follows, unless that is a wall or the end. */
static cursor spaces_end(cursor p, cursor end)
{
    lw__spaces spaces = lw__scan_spaces(p, end);
    if (spaces.after_newline != NULL) {
        return spaces.after_newline;
    }
    bool is_last = (rune_at(spaces.end, end).set & WALL) != 0;
    return is_last || spaces.last == p ? spaces.end : spaces.last;
}

/* A run of characters that nothing matches; the last of them may belong to a word. */
static cursor gap_end(cursor p, cursor end)
{
    lw__rune next = rune_at(p, end);
    do {
        p += next.bytes;
        next = rune_at(p, end);
    } while (next.set == LW__SET(OTHER) && (rune_at(p + next.bytes, end).set & WORD) == 0);
    return p;
}

static cursor wall_end(const lw__split_rules *rules, cursor p, cursor end, lw__rune first)
{
    return (first.set & CJK) != 0 ? run(p, end, CJK) : lw__split_number(p, end, rules->digits);
}

cursor lw__split_next_deepseek(const lw__split_rules *rules, cursor p, cursor end)
{
    lw__rune first = rune_at(p, end);
    cursor body = p + first.bytes;
    if ((first.set & WALL) != 0) {
        return wall_end(rules, p, end, first);
    }
    if ((first.set & WORD) != 0) {
        return run(body, end, WORD);
    }
    if ((first.set & SYMBOLS) != 0) {
        bool is_prefix = *p < 0x80 && body < end && is_ascii_letter(*body);
        return is_prefix ? ascii_word(body, end) : symbols_end(body, end);
    }
    lw__rune second = rune_at(body, end);
    if ((second.set & WORD) != 0 && !lw__scan_is_newline(*p)) {
        return run(body + second.bytes, end, WORD);
    }
    if (*p == ' ' && (second.set & SYMBOLS) != 0) {
        return symbols_end(body + second.bytes, end);
    }
    return first.set == LW__SET(SPACE) ? spaces_end(p, end) : gap_end(p, end);
}
