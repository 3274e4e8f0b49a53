/* SPDX-License-Identifier: Apache-2.0 */
/* Characters, escapes and bracket expressions of a regex. */
#include "tokenize/regex_parse.h"
#include "tokenize/scan.h"

typedef lw__regex_parser parser;

uint32_t lw__regex_next_code(parser *p)
{
    if (*p->at < 0x80) {
        return *p->at++;
    }
    lw__code wide = lw__scan_code(p->at, p->end);
    p->at += wide.bytes;
    return wide.code;
}

static bool is_letter(uint32_t code)
{
    return (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
}

static bool is_digit(uint32_t code)
{
    return code >= '0' && code <= '9';
}

/* ---- case ---- */

/* Whether some character of the range may have a partner of the other case; not of ASCII. */
static bool has_case(uint32_t first, uint32_t last)
{
    static const char *const names[] = {"Lu", "Ll", "Lt", "Lm", "M", "Nl", "So"};
    lw__code_set cased = {.count = 0};
    lw__code_set range = {.count = 0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)lw__code_set_put_property(
            &cased, (lw_str){.data = names[i], .bytes = names[i][1] == '\0' ? 1 : 2});
    }
    lw__code_set_put(&range, first, last);
    lw__code_set_intersect(&range, &cased);
    bool has = range.count > 0 || range.failed;
    lw__code_set_reset(&cased);
    lw__code_set_reset(&range);
    return has;
}

/* Both cases of the ASCII letters of a range, and what else folds to them. */
static void put_folded(uint32_t first, uint32_t last, lw__code_set *set)
{
    for (uint32_t code = first; code <= last && code < 0x80; code++) {
        if (!is_letter(code)) {
            continue;
        }
        lw__code_set_put(set, code ^ 0x20, code ^ 0x20);
        if ((code | 0x20) == 's') {
            lw__code_set_put(set, 0x17F, 0x17F); /* long s */
        } else if ((code | 0x20) == 'k') {
            lw__code_set_put(set, 0x212A, 0x212A); /* the sign of Kelvin */
        }
    }
}

static bool put_range(parser *p, uint32_t first, uint32_t last, lw__code_set *set)
{
    if (last < first) {
        return lw__regex_expected(p, "a regex with ranges that ascend");
    }
    lw__code_set_put(set, first, last);
    if (!p->fold) {
        return true;
    }
    if (last >= 0x80 && has_case(first < 0x80 ? 0x80 : first, last)) {
        return lw__regex_expected(p, "a regex that ignores the case of ASCII alone");
    }
    put_folded(first, last, set);
    return true;
}

bool lw__regex_put_code(parser *p, uint32_t code, lw__code_set *set)
{
    return put_range(p, code, code, set);
}

/* ---- escapes ---- */

void lw__regex_put_words(const parser *p, lw__code_set *set)
{
    lw__code_set_put_words(set);
    if (p->syntax == LW__REGEX_FANCY) {
        lw__code_set_put(set, 0x200C, 0x200D); /* what joins letters without being seen */
    } else {
        lw__code_set_put(set, 0xB2, 0xB3); /* the superscripts and fractions of Latin-1 */
        lw__code_set_put(set, 0xB9, 0xB9);
        lw__code_set_put(set, 0xBC, 0xBE);
    }
}

static int hex_value(unsigned char byte)
{
    if (is_digit(byte)) {
        return byte - '0';
    }
    return (byte | 0x20) >= 'a' && (byte | 0x20) <= 'f' ? (byte | 0x20) - 'a' + 10 : -1;
}

/* Digits of a code, up to `limit` of them; LW__STRAY when it is none. */
static uint32_t hex_code(parser *p, unsigned limit, unsigned *count)
{
    uint32_t code = 0;
    for (*count = 0; *count < limit && p->at < p->end && hex_value(*p->at) >= 0; ++*count) {
        code = code << 4 | (uint32_t)hex_value(*p->at++);
    }
    return *count == 0 || code > LW__LAST_CODE || (code >= 0xD800 && code < 0xE000) ? LW__STRAY
                                                                                    : code;
}

/* Behind \x or \u. Two digits mean a byte to one engine and a character to the other, which is the
 * same below 0x80. */
static lw__regex_unit numbered(parser *p, unsigned char kind, uint32_t *code)
{
    unsigned count = 0;
    bool braced = lw__regex_is_at(p, '{') && kind == 'x';
    if (braced) {
        p->at++;
    }
    unsigned digits = braced ? 8 : kind == 'x' ? 2 : 4;
    *code = hex_code(p, digits, &count);
    bool whole = braced ? lw__regex_is_at(p, '}') : count == digits;
    if (!whole || *code == LW__STRAY || (!braced && kind == 'x' && *code >= 0x80)) {
        (void)lw__regex_expected(p, "a regex with codes like \\x{2019} or \\u2019");
        return LW__REGEX_NOTHING;
    }
    p->at += braced;
    return LW__REGEX_CODE;
}

/* Behind \p or \P. */
static lw__regex_unit property(parser *p, bool negated, lw__code_set *set)
{
    static const char expected[] = "a regex with \\p{...} of general categories, Han, Hiragana, "
                                   "Katakana or Hangul";
    lw_str name = {.data = (const char *)p->at, .bytes = 0};
    if (lw__regex_is_at(p, '{')) {
        name.data++;
        for (p->at++; p->at < p->end && *p->at != '}'; p->at++) {
            name.bytes++;
        }
    }
    if (!lw__regex_is_at(p, '}') || name.bytes == 0) {
        (void)lw__regex_expected(p, expected);
        return LW__REGEX_NOTHING;
    }
    p->at++;
    if (name.data[0] == '^') {
        negated = !negated;
        name = (lw_str){.data = name.data + 1, .bytes = name.bytes - 1};
    }
    if (!lw__code_set_put_property(set, name)) {
        (void)lw__regex_expected(p, expected);
        return LW__REGEX_NOTHING;
    }
    if (p->fold && (name.data[0] == 'L' || name.data[0] == 'M')) {
        (void)lw__regex_expected(p, "a regex that ignores the case of ASCII alone");
        return LW__REGEX_NOTHING;
    }
    if (negated) {
        lw__code_set_negate(set);
    }
    return LW__REGEX_SOME;
}

/* \d \s \w and their negations; false for another letter. */
static bool put_named(parser *p, unsigned char letter, lw__code_set *set)
{
    static const lw_str digits = {.data = "Nd", .bytes = 2};
    switch (letter | 0x20) {
    case 'd':
        (void)lw__code_set_put_property(set, digits);
        break;
    case 's':
        lw__code_set_put_spaces(set);
        break;
    case 'w':
        if (p->fold) {
            return lw__regex_expected(p, "a regex that ignores the case of ASCII alone");
        }
        lw__regex_put_words(p, set);
        break;
    default:
        return false;
    }
    if ((letter & 0x20) == 0) {
        lw__code_set_negate(set);
    }
    return true;
}

static bool is_control(const parser *p, unsigned char letter, uint32_t *code)
{
    static const char letters[] = "tnrfva";
    static const uint32_t codes[] = {'\t', '\n', '\r', '\f', '\v', '\a'};
    for (size_t i = 0; i + 1 < sizeof letters; i++) {
        if (letters[i] == letter) {
            *code = codes[i];
            return true;
        }
    }
    *code = 0x1B;
    return letter == 'e' && p->syntax == LW__REGEX_ONIGURUMA;
}

/* The set is empty when this is called; what is put into it is the escape's alone. */
static lw__regex_unit escape(parser *p, uint32_t *code, lw__code_set *set)
{
    if (p->at == p->end) {
        (void)lw__regex_expected(p, "a regex with something behind its last backslash");
        return LW__REGEX_NOTHING;
    }
    *code = lw__regex_next_code(p);
    if (*code >= 0x80 || (!is_letter(*code) && !is_digit(*code))) {
        return LW__REGEX_CODE;
    }
    unsigned char letter = (unsigned char)*code;
    if (letter == 'x' || letter == 'u') {
        return numbered(p, letter, code);
    }
    if (letter == 'p' || letter == 'P') {
        return property(p, letter == 'P', set);
    }
    if (is_control(p, letter, code)) {
        return LW__REGEX_CODE;
    }
    if (put_named(p, letter, set)) {
        return LW__REGEX_SOME;
    }
    (void)lw__regex_expected(p, "a regex with no escapes but those of characters and classes");
    return LW__REGEX_NOTHING;
}

lw__regex_unit lw__regex_escape(parser *p, uint32_t *code, lw__code_set *set)
{
    lw__code_set own = {.count = 0};
    lw__regex_unit unit = escape(p, code, &own);
    lw__code_set_put_all(set, &own);
    lw__code_set_reset(&own);
    return unit;
}

/* ---- brackets ---- */

static bool starts_with(const parser *p, const char *two)
{
    return p->end - p->at >= 2 && p->at[0] == (unsigned char)two[0] &&
           p->at[1] == (unsigned char)two[1];
}

/* A hyphen is itself where it can be nothing else: as the first or the last of its bracket. */
static bool is_plain_hyphen(const parser *p, bool is_first)
{
    return is_first ? !starts_with(p, "--") : starts_with(p, "-]");
}

/* One character of a bracket, or the escape of a set, which is put there. */
static lw__regex_unit bracket_unit(parser *p, bool is_first, uint32_t *code, lw__code_set *set)
{
    if (lw__regex_is_at(p, '\\')) {
        p->at++;
        return lw__regex_escape(p, code, set);
    }
    if (lw__regex_is_at(p, '-') && !is_plain_hyphen(p, is_first)) {
        (void)lw__regex_expected(p, "a regex whose hyphens are escaped inside of brackets");
        return LW__REGEX_NOTHING;
    }
    *code = lw__regex_next_code(p);
    return LW__REGEX_CODE;
}

static bool put_unit(parser *p, bool is_first, lw__code_set *set)
{
    uint32_t first = 0;
    lw__regex_unit unit = bracket_unit(p, is_first, &first, set);
    if (unit != LW__REGEX_CODE) {
        return unit == LW__REGEX_SOME;
    }
    if (!lw__regex_is_at(p, '-') || starts_with(p, "-]")) {
        return lw__regex_put_code(p, first, set);
    }
    p->at++;
    if (p->at == p->end || lw__regex_is_at(p, '[') || lw__regex_is_at(p, '-')) {
        return lw__regex_expected(p, "a regex with ranges of characters");
    }
    uint32_t last = 0;
    if (bracket_unit(p, false, &last, set) != LW__REGEX_CODE) {
        return lw__regex_expected(p, "a regex with ranges of characters");
    }
    return put_range(p, first, last, set);
}

/* An operand of "&&" ends: *left is kept beside what follows. */
static void take_operand(lw__code_set *left, bool *has_left, lw__code_set *set)
{
    if (*has_left) {
        lw__code_set_intersect(left, set);
    } else {
        lw__code_set_put_all(left, set);
    }
    *has_left = true;
    set->count = 0;
}

static bool put_nested(parser *p, lw__code_set *set)
{
    lw__code_set inner = {.count = 0};
    p->at++;
    bool good = lw__regex_bracket(p, &inner);
    lw__code_set_put_all(set, &inner);
    lw__code_set_reset(&inner);
    return good;
}

/* What means something to one engine alone, or in places alone. */
static bool is_plain_set(parser *p)
{
    if (starts_with(p, "[:") ||
        (p->syntax == LW__REGEX_FANCY && (starts_with(p, "--") || starts_with(p, "~~")))) {
        return lw__regex_expected(p, "a regex with brackets of characters, ranges and escapes");
    }
    return true;
}

static bool put_operands(parser *p, lw__code_set *left, lw__code_set *set)
{
    bool has_left = false;
    for (bool is_first = true; !lw__regex_is_at(p, ']') || is_first; is_first = false) {
        if (p->at == p->end || lw__regex_is_at(p, ']')) {
            return lw__regex_expected(p, "a regex with brackets that hold something");
        }
        if (!is_plain_set(p)) {
            return false;
        }
        if (starts_with(p, "&&")) {
            p->at += 2;
            take_operand(left, &has_left, set);
            if (is_first || lw__regex_is_at(p, ']') || lw__regex_is_at(p, '&')) {
                return lw__regex_expected(p, "a regex with something on each side of &&");
            }
        } else if (lw__regex_is_at(p, '[') ? !put_nested(p, set) : !put_unit(p, is_first, set)) {
            return false;
        }
    }
    p->at++;
    if (has_left) {
        lw__code_set_intersect(set, left);
    }
    return true;
}

bool lw__regex_bracket(parser *p, lw__code_set *set)
{
    if (p->depth == LW__REGEX_DEPTH) {
        return lw__regex_expected(p, "a regex that is not nested so deep");
    }
    p->depth++;
    bool negated = lw__regex_is_at(p, '^');
    p->at += negated;
    lw__code_set left = {.count = 0};
    bool good = put_operands(p, &left, set);
    set->failed = set->failed || left.failed;
    lw__code_set_reset(&left);
    if (negated) {
        lw__code_set_negate(set);
    }
    p->depth--;
    return good;
}
