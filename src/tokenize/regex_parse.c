/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups, branches, repeats and anchors. Whether a group is remembered makes no difference here, as
 * what refers to one is refused; so none is.
 */
#include "tokenize/regex_parse.h"

#include <string.h>

#include "base/alloc.h"

#define MOST_REPEATS 1000

typedef lw__regex_parser parser;

/* What a term is, for what may stand behind it. */
typedef enum term {
    TERM_WRONG,
    TERM_REPEATABLE,
    TERM_ANCHOR,
    TERM_OPTION /* of the rest of the group */
} term;

static bool put_branches(parser *p);

void lw__regex_parts_reset(lw__regex_parts *parts)
{
    for (size_t i = 0; i < parts->set_count; i++) {
        lw__code_set_reset(&parts->sets[i]);
    }
    lw__free(parts->sets);
    lw__bytes_reset(&parts->text);
    *parts = (lw__regex_parts){.set_count = 0};
}

static void put(parser *p, const char *text)
{
    lw__bytes_put(&p->parts->text, text, strlen(text));
}

static bool is_same(const lw__code_set *a, const lw__code_set *b)
{
    return a->count == b->count &&
           (a->count == 0 || memcmp(a->ranges, b->ranges, a->count * sizeof *a->ranges) == 0);
}

static size_t number_of(const lw__regex_parts *parts, const lw__code_set *set)
{
    size_t number = 0;
    while (number < parts->set_count && !is_same(&parts->sets[number], set)) {
        number++;
    }
    return number;
}

/* Takes the set, which is empty then. */
static bool put_set(parser *p, lw__code_set *set)
{
    lw__regex_parts *parts = p->parts;
    lw__code_set_order(set);
    parts->text.failed = parts->text.failed || set->failed;
    size_t number = number_of(parts, set);
    if (number == LW__REGEX_SETS) {
        lw__code_set_reset(set);
        return lw__regex_expected(p, "a regex with fewer sets of characters");
    }
    if (number == parts->set_count) {
        parts->sets[parts->set_count++] = *set;
        *set = (lw__code_set){.count = 0};
    }
    lw__code_set_reset(set);
    lw__bytes_put_u8(&parts->text, LW__REGEX_SET_MARK);
    lw__bytes_put_u32le(&parts->text, (uint32_t)number);
    return true;
}

static bool put_range(parser *p, uint32_t first, uint32_t last)
{
    lw__code_set set = {.count = 0};
    lw__code_set_put(&set, first, last);
    return put_set(p, &set);
}

static bool put_but_newline(parser *p)
{
    lw__code_set set = {.count = 0};
    lw__code_set_put(&set, '\n', '\n');
    lw__code_set_negate(&set);
    return put_set(p, &set);
}

static bool put_word(parser *p)
{
    lw__code_set set = {.count = 0};
    lw__regex_put_words(p, &set);
    return put_set(p, &set);
}

/* ---- anchors ---- */

/* A line starts behind a line end, unless the text ends there. */
static bool put_start(parser *p)
{
    if (p->syntax == LW__REGEX_FANCY) {
        put(p, "\\A");
        return true;
    }
    put(p, "(?:\\A|(?<=");
    bool good = put_range(p, '\n', '\n');
    put(p, ")(?=");
    good = good && put_range(p, 0, LW__LAST_CODE);
    put(p, "))");
    return good;
}

static bool put_end(parser *p)
{
    if (p->syntax == LW__REGEX_FANCY) {
        put(p, "\\z");
        return true;
    }
    put(p, "(?!");
    bool good = put_but_newline(p);
    put(p, ")");
    return good;
}

static bool put_last_end(parser *p)
{
    put(p, "(?=");
    bool good = put_range(p, '\n', '\n');
    put(p, "?\\z)");
    return good;
}

/* Whether a word is behind, and whether one is ahead: differently at a boundary, else alike. */
static bool put_boundary(parser *p, bool differently)
{
    static const char *const ahead[] = {"(?!", "(?="};
    put(p, "(?:(?<=");
    bool good = put_word(p);
    put(p, ")");
    put(p, ahead[!differently]);
    good = good && put_word(p);
    put(p, ")|(?<!");
    good = good && put_word(p);
    put(p, ")");
    put(p, ahead[differently]);
    good = good && put_word(p);
    put(p, "))");
    return good;
}

/* The anchor that an escape is; false when it is none. */
static bool put_anchor(parser *p, unsigned char letter, bool *good)
{
    switch (letter) {
    case 'b':
    case 'B':
        *good = put_boundary(p, letter == 'b');
        return true;
    case 'A':
    case 'z':
        put(p, letter == 'A' ? "\\A" : "\\z");
        *good = true;
        return true;
    case 'Z':
        *good = p->syntax == LW__REGEX_ONIGURUMA
                    ? put_last_end(p)
                    : lw__regex_expected(p, "a regex with \\z in place of \\Z");
        return true;
    default:
        return false;
    }
}

/* ---- groups ---- */

/* Behind "(?<" or "(?P<", up to and with ">". */
static bool pass_name(parser *p)
{
    while (p->at < p->end && *p->at != '>') {
        p->at++;
    }
    if (p->at == p->end) {
        return lw__regex_expected(p, "a regex with closed groups");
    }
    p->at++;
    return true;
}

static bool is_text(parser *p, const char *text)
{
    size_t bytes = strlen(text);
    if ((size_t)(p->end - p->at) < bytes || memcmp(p->at, text, bytes) != 0) {
        return false;
    }
    p->at += bytes;
    return true;
}

/* Behind "(?": the options i and -i, up to ":" or ")"; false when it is something else. */
static bool pass_options(parser *p, bool *is_group)
{
    const unsigned char *at = p->at;
    bool on = true;
    bool fold = p->fold;
    for (; at < p->end && (*at == 'i' || *at == '-'); at++) {
        if (*at == 'i') {
            fold = on;
        } else {
            on = false;
        }
    }
    if (at == p->at || at == p->end || (*at != ':' && *at != ')')) {
        return false;
    }
    *is_group = *at == ':';
    p->at = at + 1;
    p->fold = fold;
    return true;
}

/* What a group is put as, and what it is; the place is behind its first parenthesis. */
static term open_group(parser *p, const char **opening)
{
    static const char *const openings[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>"};
    bool is_group = true;
    *opening = "(?:";
    if (!lw__regex_is_at(p, '?')) {
        return TERM_REPEATABLE;
    }
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        if (is_text(p, openings[i] + 1)) {
            *opening = openings[i];
            return i == 0 || i == 5 ? TERM_REPEATABLE : TERM_ANCHOR;
        }
    }
    if (is_text(p, "?<") || (p->syntax == LW__REGEX_FANCY && is_text(p, "?P<"))) {
        return pass_name(p) ? TERM_REPEATABLE : TERM_WRONG;
    }
    p->at++;
    if (pass_options(p, &is_group)) {
        return is_group ? TERM_REPEATABLE : TERM_OPTION;
    }
    (void)lw__regex_expected(p, "a regex with groups that match, look, or ignore case (?i)");
    return TERM_WRONG;
}

static term put_group(parser *p, bool is_first)
{
    bool fold = p->fold;
    const char *opening = NULL;
    term kind = open_group(p, &opening);
    if (kind == TERM_OPTION && !is_first) {
        (void)lw__regex_expected(p, "a regex with (?i) at the start of a group");
        return TERM_WRONG;
    }
    if (kind == TERM_WRONG || kind == TERM_OPTION) {
        return kind;
    }
    if (p->depth == LW__REGEX_DEPTH) {
        (void)lw__regex_expected(p, "a regex that is not nested so deep");
        return TERM_WRONG;
    }
    p->depth++;
    p->folded = 0;
    put(p, opening);
    bool good = put_branches(p);
    put(p, ")");
    if (good && !lw__regex_is_at(p, ')')) {
        good = lw__regex_expected(p, "a regex with closed groups");
    }
    p->at += good;
    p->fold = fold;
    p->folded = 0;
    p->depth--;
    return good ? kind : TERM_WRONG;
}

/* ---- repeats ---- */

static bool read_number(parser *p, unsigned *number)
{
    const unsigned char *start = p->at;
    *number = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '9' && *number <= MOST_REPEATS; p->at++) {
        *number = *number * 10 + (unsigned)(*p->at - '0');
    }
    return p->at > start && *number <= MOST_REPEATS;
}

/* "{n}", "{n,}" or "{n,m}", whose text is put as it stands; *is_fixed: one number. */
static bool put_interval(parser *p, bool *is_fixed)
{
    const unsigned char *start = p->at++;
    unsigned least = 0;
    unsigned most = MOST_REPEATS;
    bool good = read_number(p, &least);
    *is_fixed = !lw__regex_is_at(p, ',');
    if (good && !*is_fixed) {
        p->at++;
        good = lw__regex_is_at(p, '}') || read_number(p, &most);
    }
    if (!good || !lw__regex_is_at(p, '}') || most < least) {
        return lw__regex_expected(p, "a regex with intervals like {1,3}, of up to 1000");
    }
    p->at++;
    lw__bytes_put(&p->parts->text, start, (size_t)(p->at - start));
    return true;
}

/* Puts "(?:" before what was put from `start` on. */
static void wrap(parser *p, size_t start)
{
    lw__bytes *text = &p->parts->text;
    size_t count = text->count - start;
    put(p, "(?:");
    if (!text->failed) {
        memmove(text->data + start + 3, text->data + start, count);
        memcpy(text->data + start, "(?:", 3);
    }
}

static bool is_repeat(const parser *p)
{
    return p->at < p->end && memchr("*+?{", *p->at, 4) != NULL;
}

/* Behind an interval that repeats what was put from `start` on. With a plus behind it Oniguruma
 * repeats the whole, where others make it possessive. */
static bool put_interval_end(parser *p, size_t start, bool is_fixed)
{
    if (p->syntax == LW__REGEX_ONIGURUMA && lw__regex_is_at(p, '+')) {
        p->at++;
        wrap(p, start);
        put(p, ")+");
        return !is_repeat(p);
    }
    return p->syntax == LW__REGEX_FANCY || !is_fixed || !lw__regex_is_at(p, '?');
}

/* What repeats the term that was put from `start` on, if anything does. */
static bool put_repeat(parser *p, size_t start)
{
    if (!is_repeat(p)) {
        return true;
    }
    bool is_fixed = false;
    bool good = true;
    p->folded = 0;
    if (*p->at == '{') {
        good = put_interval(p, &is_fixed) && put_interval_end(p, start, is_fixed);
    } else {
        lw__bytes_put(&p->parts->text, p->at++, 1);
    }
    if (lw__regex_is_at(p, '?') || lw__regex_is_at(p, '+')) {
        lw__bytes_put(&p->parts->text, p->at++, 1);
    }
    return (good && !is_repeat(p)) || lw__regex_expected(p, "a regex that repeats no repeats");
}

/* ---- terms ---- */

/* Two letters that one character may fold to, such as the sharp s, are found by Oniguruma. */
static bool is_fold_of_one(const parser *p, uint32_t code)
{
    static const char pairs[] = "fffiflssst";
    for (size_t i = 0; i + 1 < sizeof pairs; i += 2) {
        if (p->folded == (unsigned char)pairs[i] && (code | 0x20) == (unsigned char)pairs[i + 1]) {
            return p->syntax == LW__REGEX_ONIGURUMA;
        }
    }
    return false;
}

static bool put_code(parser *p, uint32_t code)
{
    lw__code_set set = {.count = 0};
    if (is_fold_of_one(p, code)) {
        return lw__regex_expected(p, "a regex that does not ignore the case of ff, fi, fl, ss, st");
    }
    p->folded = (unsigned char)(p->fold && code < 0x80 ? code | 0x20 : 0);
    bool good = lw__regex_put_code(p, code, &set) && put_set(p, &set);
    lw__code_set_reset(&set);
    return good;
}

static term put_escape(parser *p)
{
    bool good = false;
    if (p->at < p->end && put_anchor(p, *p->at, &good)) {
        p->at++;
        p->folded = 0;
        return good ? TERM_ANCHOR : TERM_WRONG;
    }
    uint32_t code = 0;
    lw__code_set set = {.count = 0};
    lw__regex_unit unit = lw__regex_escape(p, &code, &set);
    if (unit == LW__REGEX_CODE) {
        good = put_code(p, code);
    } else {
        p->folded = 0;
        good = unit == LW__REGEX_SOME && put_set(p, &set);
    }
    lw__code_set_reset(&set);
    return good ? TERM_REPEATABLE : TERM_WRONG;
}

static term put_bracket(parser *p)
{
    lw__code_set set = {.count = 0};
    p->folded = 0;
    bool good = lw__regex_bracket(p, &set) && put_set(p, &set);
    lw__code_set_reset(&set);
    return good ? TERM_REPEATABLE : TERM_WRONG;
}

static term put_term(parser *p, bool is_first)
{
    unsigned char byte = *p->at;
    if (is_repeat(p)) {
        (void)lw__regex_expected(p, "a regex with something to repeat, and braces escaped");
        return TERM_WRONG;
    }
    if (byte == '^' || byte == '$') {
        p->at++;
        p->folded = 0;
        return (byte == '^' ? put_start(p) : put_end(p)) ? TERM_ANCHOR : TERM_WRONG;
    }
    if (byte == '(') {
        p->at++;
        return put_group(p, is_first);
    }
    if (byte == '[') {
        p->at++;
        return put_bracket(p);
    }
    if (byte == '\\') {
        p->at++;
        return put_escape(p);
    }
    if (byte == '.') {
        p->at++;
        p->folded = 0;
        return put_but_newline(p) ? TERM_REPEATABLE : TERM_WRONG;
    }
    return put_code(p, lw__regex_next_code(p)) ? TERM_REPEATABLE : TERM_WRONG;
}

/* Up to the end, or the parenthesis that closes the group. */
static bool put_branches(parser *p)
{
    bool is_first = true;
    while (p->at < p->end && *p->at != ')') {
        if (*p->at == '|') {
            p->at++;
            p->folded = 0;
            put(p, "|");
            is_first = false;
            continue;
        }
        size_t start = p->parts->text.count;
        term kind = put_term(p, is_first);
        is_first = is_first && kind == TERM_OPTION;
        if (kind == TERM_WRONG || (kind == TERM_REPEATABLE && !put_repeat(p, start))) {
            return false;
        }
    }
    return true;
}

bool lw__regex_parse(lw_str pattern, lw__regex_syntax syntax, lw__regex_parts *out,
                     const char **wrong)
{
    *out = (lw__regex_parts){.set_count = 0};
    *wrong = NULL;
    if (pattern.bytes == 0 || pattern.bytes > LW__REGEX_MAX_BYTES) {
        *wrong = "a regex of 1 to 16384 bytes";
        return false;
    }
    parser p = {.at = (const unsigned char *)pattern.data,
                .end = (const unsigned char *)pattern.data + pattern.bytes,
                .syntax = syntax,
                .parts = out};
    out->sets = lw__alloc_zero(LW__REGEX_SETS, sizeof *out->sets);
    if (out->sets == NULL) {
        return false;
    }
    bool good = put_branches(&p);
    if (good && p.at < p.end) {
        good = lw__regex_expected(&p, "a regex with closed groups");
    }
    *wrong = p.wrong;
    return good && !out->text.failed;
}
