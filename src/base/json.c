/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON reader but for its strings: structure, numbers, words, and passing over values. The kind
 * of each open container is one bit, so depth costs no stack. No byte from `end` on is read.
 */
#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_string.h"

/* The longest number that is converted (not only passed over), in bytes. */
enum { NUMBER_BYTES = 512 };

static void pass_space(lw__json *json)
{
    unsigned char *p = json->at;
    while (p < json->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
        p++;
    }
    json->at = p;
}

/* The byte at json->at after space; -1 at the end and after a fault. */
static int next_byte(lw__json *json)
{
    if (json->fault != NULL) {
        return -1;
    }
    pass_space(json);
    return json->at < json->end ? *json->at : -1;
}

static bool in_object(const lw__json *json)
{
    uint32_t level = json->depth - 1;
    return (json->is_object[level / 64] >> level % 64 & 1) != 0;
}

static bool pass_colon(lw__json *json)
{
    if (next_byte(json) != ':') {
        lw__json_fail(json, json->at, "a key without a value, expected ':'");
        return false;
    }
    json->at++;
    return true;
}

void lw__json_open(lw__json *json, void *bytes, size_t count)
{
    static unsigned char nothing[1];
    *json = (lw__json){.begin = bytes == NULL ? nothing : bytes};
    json->at = json->begin;
    json->end = json->begin + (bytes == NULL ? 0 : count);
}

/* By the first byte of a value; LW__JSON_NONE for one that starts none. */
static const unsigned char types[256] = {
    ['n'] = LW__JSON_NULL,   ['f'] = LW__JSON_FALSE,  ['t'] = LW__JSON_TRUE,
    ['"'] = LW__JSON_STRING, ['['] = LW__JSON_ARRAY,  ['{'] = LW__JSON_OBJECT,
    ['-'] = LW__JSON_NUMBER, ['0'] = LW__JSON_NUMBER, ['1'] = LW__JSON_NUMBER,
    ['2'] = LW__JSON_NUMBER, ['3'] = LW__JSON_NUMBER, ['4'] = LW__JSON_NUMBER,
    ['5'] = LW__JSON_NUMBER, ['6'] = LW__JSON_NUMBER, ['7'] = LW__JSON_NUMBER,
    ['8'] = LW__JSON_NUMBER, ['9'] = LW__JSON_NUMBER,
};

static inline lw__json_type peek(lw__json *json)
{
    int c = next_byte(json);
    if (c < 0) {
        return LW__JSON_NONE;
    }
    if (types[c] == LW__JSON_NONE) {
        lw__json_fail(json, json->at, "a byte that starts no value, expected a value");
    }
    return (lw__json_type)types[c];
}

lw__json_type lw__json_peek(lw__json *json)
{
    return peek(json);
}

/* Faults unless the next value is of the type. */
static inline bool demand(lw__json *json, lw__json_type type, const char *fault)
{
    if (peek(json) == type) {
        return true;
    }
    lw__json_fail(json, json->at,
                  json->at == json->end ? "the text ends, expected a value" : fault);
    return false;
}

bool lw__json_enter(lw__json *json, char open)
{
    bool object = open == '{';
    if (!demand(json, object ? LW__JSON_OBJECT : LW__JSON_ARRAY,
                object ? "another value, expected an object" : "another value, expected a list")) {
        return false;
    }
    if (json->depth == LW__JSON_DEPTH) {
        lw__json_fail(json, json->at, "more than 256 levels, expected at most 256");
        return false;
    }
    uint64_t bit = UINT64_C(1) << json->depth % 64;
    uint64_t *word = &json->is_object[json->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    json->depth++;
    json->at++;
    json->first = true;
    return true;
}

static bool leave(lw__json *json)
{
    json->at++;
    json->depth--;
    json->first = false;
    return false;
}

bool lw__json_next(lw__json *json)
{
    if (json->fault != NULL || json->depth == 0) {
        return false;
    }
    bool object = in_object(json);
    int c = next_byte(json);
    if (c == (object ? '}' : ']')) {
        return leave(json);
    }
    if (!json->first) {
        if (c != ',') {
            lw__json_fail(json, json->at,
                          object ? "no end of the member, expected ',' or '}'"
                                 : "no end of the element, expected ',' or ']'");
            return false;
        }
        json->at++;
        c = next_byte(json);
    }
    json->first = false;
    if (object && c != '"') {
        lw__json_fail(json, json->at, "no key, expected '\"'");
        return false;
    }
    if (!object && c < 0) {
        lw__json_fail(json, json->at, "the text ends in a list, expected a value");
        return false;
    }
    return true;
}

lw_str lw__json_key(lw__json *json)
{
    if (json->fault != NULL) {
        return (lw_str){"", 0};
    }
    lw_str key = lw__json_decode_string(json, json->at + 1); /* next stopped at its quote */
    return json->fault == NULL && pass_colon(json) ? key : (lw_str){"", 0};
}

lw_str lw__json_string(lw__json *json)
{
    return lw__json_string_down(json, NULL);
}

lw_str lw__json_string_down(lw__json *json, unsigned char *to)
{
    if (!demand(json, LW__JSON_STRING, "another value, expected a string")) {
        return (lw_str){"", 0};
    }
    return lw__json_decode_string(json, to != NULL ? to : json->at + 1);
}

static unsigned char *pass_digits(unsigned char *p, const unsigned char *end)
{
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    return p;
}

/* Passes the number at json->at by the grammar; returns its end, NULL on a fault. */
static unsigned char *pass_number(lw__json *json, bool *is_int)
{
    unsigned char *end = json->end;
    unsigned char *p = json->at + (*json->at == '-');
    unsigned char *digits = p;
    p = p < end && *p == '0' ? p + 1 : pass_digits(p, end);
    bool fine = p > digits;
    *is_int = true;
    if (fine && p < end && *p == '.') {
        digits = ++p;
        p = pass_digits(p, end);
        fine = p > digits;
        *is_int = false;
    }
    if (fine && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        p += p < end && (*p == '+' || *p == '-');
        digits = p;
        p = pass_digits(p, end);
        fine = p > digits;
        *is_int = false;
    }
    return fine ? p : lw__json_fail(json, p, "a number cut short, expected a digit");
}

static bool pass_word(lw__json *json, const char *word)
{
    size_t count = strlen(word);
    if ((size_t)(json->end - json->at) < count || memcmp(json->at, word, count) != 0) {
        lw__json_fail(json, json->at, "an unknown word, expected null, true or false");
        return false;
    }
    json->at += count;
    return true;
}

int64_t lw__json_int(lw__json *json)
{
    if (!demand(json, LW__JSON_NUMBER, "another value, expected an integer")) {
        return 0;
    }
    bool is_int = false;
    unsigned char *begin = json->at;
    unsigned char *end = pass_number(json, &is_int);
    if (end == NULL) {
        return 0;
    }
    if (!is_int) {
        lw__json_fail(json, begin, "a number with a fraction or exponent, expected an integer");
        return 0;
    }
    bool negative = *begin == '-';
    int64_t value = 0;
    for (unsigned char *p = begin + negative; p < end; p++) {
        int64_t digit = *p - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value)) {
            lw__json_fail(json, begin, "an integer out of range, expected one of 64 bits");
            return 0;
        }
    }
    json->at = end;
    return value;
}

/* strtod whatever locale the host program has set. */
static double to_double(const char *text)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0) {
        return NAN;
    }
    double value = strtod_l(text, NULL, plain);
    freelocale(plain);
    return value;
}

double lw__json_number(lw__json *json)
{
    if (!demand(json, LW__JSON_NUMBER, "another value, expected a number")) {
        return 0;
    }
    bool is_int = false;
    unsigned char *begin = json->at;
    unsigned char *end = pass_number(json, &is_int);
    if (end == NULL) {
        return 0;
    }
    size_t count = (size_t)(end - begin);
    char text[NUMBER_BYTES + 1];
    if (count > NUMBER_BYTES) {
        lw__json_fail(json, begin, "a number of more than 512 bytes, expected a shorter one");
        return 0;
    }
    memcpy(text, begin, count);
    text[count] = '\0';
    double value = to_double(text);
    if (!isfinite(value)) {
        lw__json_fail(json, begin, "a number out of range, expected one that a double holds");
        return 0;
    }
    json->at = end;
    return value;
}

bool lw__json_bool(lw__json *json)
{
    lw__json_type type = lw__json_peek(json);
    if (type == LW__JSON_TRUE) {
        return pass_word(json, "true");
    }
    if (demand(json, LW__JSON_FALSE, "another value, expected true or false")) {
        pass_word(json, "false");
    }
    return false;
}

/* Passes a scalar, or enters a container. */
static void pass_value(lw__json *json)
{
    bool is_int = false;
    unsigned char *end = NULL;
    switch (lw__json_peek(json)) {
    case LW__JSON_STRING:
        lw__json_pass_string(json);
        break;
    case LW__JSON_NUMBER:
        end = pass_number(json, &is_int);
        json->at = end != NULL ? end : json->at;
        break;
    case LW__JSON_OBJECT:
        lw__json_enter(json, '{');
        break;
    case LW__JSON_ARRAY:
        lw__json_enter(json, '[');
        break;
    case LW__JSON_NULL:
        pass_word(json, "null");
        break;
    case LW__JSON_TRUE:
        pass_word(json, "true");
        break;
    case LW__JSON_FALSE:
        pass_word(json, "false");
        break;
    default:
        lw__json_fail(json, json->at, "the text ends, expected a value");
        break;
    }
}

void lw__json_skip(lw__json *json)
{
    uint32_t floor = json->depth;
    pass_value(json);
    while (json->fault == NULL && json->depth > floor) {
        if (!lw__json_next(json)) {
            continue;
        }
        if (in_object(json)) {
            lw__json_pass_string(json);
            if (!pass_colon(json)) {
                return;
            }
        }
        pass_value(json);
    }
}

void lw__json_finish(lw__json *json)
{
    if (next_byte(json) >= 0) {
        lw__json_fail(json, json->at, "more after the value, expected nothing");
    }
}
