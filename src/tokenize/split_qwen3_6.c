/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitter of Qwen 3.5 and 3.6: that of cl100k, where marks are of the words.
 *
 * Contractions in any case | [not CR LF L N]?[L M]+ | N | ?X+ and the CR LF behind it | white space as in
 * cl100k. X is what is no letter, mark, number or space.
 */
#include "tokenize/contraction.h"
#include "tokenize/split_parts.h"

#define WORD    (LW__SET_LETTERS | LW__SET(MARK))
#define SYMBOLS (LW__SET(PUNCTUATION) | LW__SET(SYMBOL) | LW__SET(OTHER))

typedef lw__cursor cursor;

static cursor symbols_end(cursor p, cursor end)
{
    return lw__split_newlines(lw__split_run(p, end, SYMBOLS), end);
}

cursor lw__split_next_qwen3_6(const lw__split_rules *rules, cursor p, cursor end)
{
    lw__rune first = lw__split_rune(p, end);
    cursor body = p + first.bytes;
    if ((first.set & WORD) != 0) {
        return lw__split_run(body, end, WORD);
    }
    if (first.set == LW__SET(NUMBER)) {
        return lw__split_number(p, end, rules->digits);
    }
    cursor cut = *p == '\'' ? lw__contraction_any_case(p, end) : NULL;
    if (cut != NULL) {
        return cut;
    }
    if (body < end && !lw__scan_is_newline(*p)) {
        lw__rune second = lw__split_rune(body, end);
        if ((second.set & WORD) != 0) {
            return lw__split_run(body + second.bytes, end, WORD);
        }
        if (*p == ' ' && (second.set & SYMBOLS) != 0) {
            return symbols_end(body + second.bytes, end);
        }
    }
    return (first.set & SYMBOLS) != 0 ? symbols_end(body, end) : lw__split_spaces(rules, p, end);
}
