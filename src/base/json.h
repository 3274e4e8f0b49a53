/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pull reader for JSON (RFC 8259) over a buffer that it may change: strings are decoded in
 * place, so nothing is allocated and a string's bytes are a span of the buffer.
 *
 * The caller asks for values in document order: peek at the type, then read, enter or skip it.
 *
 *     lw__json_open(&json, bytes, count);
 *     if (lw__json_enter(&json, '{')) {
 *         while (lw__json_next(&json)) {          // false at the end of the container and on a fault
 *             lw_str key = lw__json_key(&json);
 *             if (key is "x") value = lw__json_string(&json); else lw__json_skip(&json);
 *         }
 *     }
 *     lw__json_finish(&json);                     // only whitespace may follow
 *     if (json.fault) ...
 *
 * The first fault sticks: `fault` says what was found and expected, `at` stays on the byte, and
 * every later call does nothing. Depth is limited (LW__JSON_DEPTH), not the stack. Input must be
 * UTF-8 for the output to be; the reader passes bytes >= 0x80 through and does not check them.
 */
#ifndef LW__BASE_JSON_H
#define LW__BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <laneway/error.h>

#define LW__JSON_DEPTH 256

typedef enum lw__json_type {
    LW__JSON_NONE, /* a fault, or nothing left */
    LW__JSON_NULL,
    LW__JSON_FALSE,
    LW__JSON_TRUE,
    LW__JSON_NUMBER,
    LW__JSON_STRING,
    LW__JSON_ARRAY,
    LW__JSON_OBJECT
} lw__json_type;

typedef struct lw__json {
    unsigned char *begin;
    unsigned char *at;
    unsigned char *end;
    const char *fault;          /* NULL, or a static text: "<found>, expected <what>" */
    bool replace_surrogates;    /* a lone \uD8xx becomes U+FFFD instead of a fault */
    unsigned char *replaced_at; /* NULL, or the last such escape that was replaced */
    bool first;                 /* the container just entered has given no member yet */
    uint32_t depth;
    uint64_t is_object[LW__JSON_DEPTH / 64]; /* one bit a level */
} lw__json;

void lw__json_open(lw__json *json, void *bytes, size_t count);
lw__json_type lw__json_peek(lw__json *json);
/* Passes the opening '{' or '['; false (and a fault) when another value stands there. */
bool lw__json_enter(lw__json *json, char open);
/* Moves to the next member or element; at the end passes the closing bracket and returns false. */
bool lw__json_next(lw__json *json);
/* The key of the present member, and its colon. */
lw_str lw__json_key(lw__json *json);
lw_str lw__json_string(lw__json *json);
/*
 * Decodes to `to`, which is anywhere before the string (NULL: in place): a string with escapes is
 * moved fastest when it moves by more than a vector.
 */
lw_str lw__json_string_down(lw__json *json, unsigned char *to);
/* An integer that fits; anything else is a fault. */
int64_t lw__json_int(lw__json *json);
double lw__json_number(lw__json *json);
bool lw__json_bool(lw__json *json);
/* Passes one value of any type, checking its syntax. */
void lw__json_skip(lw__json *json);
/* Only whitespace may be left. */
void lw__json_finish(lw__json *json);

#endif
