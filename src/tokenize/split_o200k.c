/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The o200k splitter, and that of tekken, which differs in two places.
 *
 * o200k:   [not CR LF L N]? U* O+ contraction? | [not CR LF L N]? U+ O* contraction? | N{1,3} |
 *          ?X+ and the CR, LF and "/" behind it | white space as in cl100k.
 * tekken:  the same without contractions.
 *
 * U is an upper-case or caseless letter or a mark, O a lower-case or caseless letter or a mark: caseless
 * letters and marks are both. X is what is no letter, number or space; marks are X too.
 */
#include "tokenize/contraction.h"
#include "tokenize/split_parts.h"

#define BOTH       (LW__SET(CASELESS) | LW__SET(MARK))
#define WORD_UPPER (LW__SET(UPPER) | BOTH)
#define WORD_LOWER (LW__SET(LOWER) | BOTH)
#define SYMBOLS    (LW__SET(MARK) | LW__SET(PUNCTUATION) | LW__SET(SYMBOL) | LW__SET(OTHER))

typedef lw__cursor cursor;

/*
 * The word at p. U* takes all it can, then gives back as little as O+ needs; so with a lower-case
 * letter behind the run of U the word goes on, else it ends at the last character that is both.
 * *capitals says that there is none of either, and the word matches U+ O* alone.
 */
static cursor word_at(cursor p, cursor end, bool *capitals)
{
    cursor after_both = p;
    while (p < end) {
        lw__rune next = lw__split_rune(p, end);
        if ((next.set & LW__SET(LOWER)) != 0) {
            *capitals = false;
            return lw__split_run(p, end, WORD_LOWER);
        }
        if ((next.set & WORD_UPPER) == 0) {
            break;
        }
        p += next.bytes;
        after_both = (next.set & BOTH) != 0 ? p : after_both;
        *capitals = (next.set & BOTH) == 0 && *capitals;
    }
    return *capitals ? p : after_both;
}

/*
 * The end of the first alternative of a word that matches; NULL when none does. The order is: U* O+
 * behind the character, U* O+ from it on, U+ O* behind it, U+ O* from it on.
 */
static cursor word_end(cursor p, lw__rune first, cursor end)
{
    bool capitals = true;
    if ((first.set & LW__SET_LETTERS) != 0) {
        return word_at(p, end, &capitals);
    }
    cursor body = p + first.bytes;
    if (body == end || lw__scan_is_newline(*p)) {
        return (first.set & LW__SET(MARK)) != 0 ? body : NULL;
    }
    cursor word = word_at(body, end, &capitals);
    if (word > body && !capitals) {
        return word;
    }
    if ((first.set & LW__SET(MARK)) != 0) {
        return body;
    }
    return word > body ? word : NULL;
}

static cursor symbols_end(cursor p, cursor end)
{
    p = lw__split_run(p, end, SYMBOLS);
    while (p < end && (lw__scan_is_newline(*p) || *p == '/')) {
        p++;
    }
    return p;
}

static inline cursor next_piece(const lw__split_rules *rules, cursor p, cursor end, bool suffix)
{
    lw__rune first = lw__split_rune(p, end);
    if (first.set == LW__SET(NUMBER)) {
        return lw__split_number(p, end, rules->digits);
    }
    cursor word = word_end(p, first, end);
    if (word != NULL) {
        cursor whole =
            suffix && word < end && *word == '\'' ? lw__contraction_any_case(word, end) : NULL;
        return whole != NULL ? whole : word;
    }
    if ((first.set & SYMBOLS) != 0) {
        return symbols_end(p + first.bytes, end);
    }
    if (*p == ' ' && p + 1 < end && (lw__split_rune(p + 1, end).set & SYMBOLS) != 0) {
        return symbols_end(p + 1, end);
    }
    return lw__split_spaces(rules, p, end);
}

cursor lw__split_next_o200k(const lw__split_rules *rules, cursor p, cursor end)
{
    return next_piece(rules, p, end, true);
}

cursor lw__split_next_tekken(const lw__split_rules *rules, cursor p, cursor end)
{
    return next_piece(rules, p, end, false);
}
